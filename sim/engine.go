package sim

import "github.com/tokamak-bench/tokamak/clock"

// Span is prompt content identified by ID: equal spans in equal places are
// equal tokens, which the prefix cache can share.
type Span struct {
	ID     uint64
	Tokens int64
}

// Request is what the core needs to know of a request.
type Request struct {
	ID           string
	Prompt       []Span
	MaxTokens    int64
	StopAfter    int64 // tokens after which the model ends by itself; 0: never before MaxTokens
	Listener     Listener
	promptTokens int64
	done         int64
}

// Finish says why a request ended.
type Finish string

// The finish reasons.
const (
	Stop   Finish = "stop"
	Length Finish = "length"
	Abort  Finish = "abort"
)

// Usage is what a finished request used.
type Usage struct{ Prompt, Cached, Output int64 }

// Listener hears of one request, on the engine's loop.
type Listener interface {
	// Tokens brings n output tokens at the moment at.
	Tokens(n int64, at int64)
	// Finished is the last call.
	Finished(why Finish, u Usage, at int64)
}

// Engine is the core. All its methods belong to the loop.
type Engine struct {
	loop    clock.Loop
	cfg     Config
	waiting []*Request
	running []*Request
	busy    bool
}

// Config describes the engine and what it runs on.
type Config struct {
	MaxSeqs   int     // sequences in a step
	MaxTokens int64   // token budget of a step
	StepNS    float64 // fixed time of a step
	TokenNS   float64 // time of each token in a step
}

// New returns an engine on a loop.
func New(cfg Config, loop clock.Loop) *Engine { return &Engine{loop: loop, cfg: cfg} }

// Submit queues a request. Call it on the loop.
func (e *Engine) Submit(r *Request) {
	for _, s := range r.Prompt {
		r.promptTokens += s.Tokens
	}
	e.waiting = append(e.waiting, r)
	if !e.busy {
		e.busy = true
		e.loop.Post(e.step)
	}
}

func (e *Engine) step() {
	tokens := int64(len(e.running))
	for len(e.waiting) > 0 && len(e.running) < e.cfg.MaxSeqs && (tokens == 0 || tokens+e.waiting[0].promptTokens <= e.cfg.MaxTokens) {
		tokens += e.waiting[0].promptTokens
		e.running = append(e.running, e.waiting[0])
		e.waiting = e.waiting[1:]
	}
	if len(e.running) == 0 {
		e.busy = false
		return
	}
	e.loop.At(e.loop.Now()+int64(e.cfg.StepNS+e.cfg.TokenNS*float64(tokens)), e.emit)
}

func (e *Engine) emit() {
	now := e.loop.Now()
	still := e.running[:0]
	for _, r := range e.running {
		r.done++
		r.Listener.Tokens(1, now)
		if r.done >= r.MaxTokens {
			r.Listener.Finished(Length, Usage{Prompt: r.promptTokens, Output: r.done}, now)
			continue
		}
		still = append(still, r)
	}
	e.running = still
	e.step()
}
