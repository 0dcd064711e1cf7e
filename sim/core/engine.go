package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tokamak-bench/tokamak/clock"
)

// Engine is the core. All its methods belong to the loop.
type Engine struct {
	loop      clock.Loop
	cfg       Config
	policy    policy
	pool      *blockPool
	waiting   queue
	running   []*Request
	plan      plan
	hits      []int32
	busy      bool
	last      int64 // nominal end of the last step
	start     int64 // arrival of the first request
	counts    Counts
	submitted uint64
	inside    int64 // requests that have not ended
	release   releaser
	emit      func()

	replicas []*Engine // where it is their front
	routed   uint64
	trouble  Trouble // of the step under way
	withheld []int32 // blocks out of use
	dead     bool
}

// Counts are totals since the engine's start.
type Counts struct {
	Steps, Preemptions         int64
	PrefixQueries, PrefixHits  int64 // tokens
	PromptTokens, OutputTokens int64
	// Speculative decoding: steps of a sequence with drafts, drafted tokens and
	// those accepted.
	Drafts, DraftTokens, Accepted int64
}

// State is the engine's load at one moment.
type State struct {
	Running, Waiting int
	KVUsage          float64 // share of blocks in use
	Counts           Counts
}

// New returns an engine on a loop.
func New(cfg Config, loop clock.Loop) (*Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p, err := newPolicy(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Replicas.N > 1 {
		e := &Engine{loop: loop, cfg: cfg}
		return e, e.newReplicas()
	}
	e := &Engine{loop: loop, cfg: cfg, policy: p, pool: newBlockPool(cfg.Blocks, cfg.BlockSize, cfg.PrefixCache && cfg.Policy != Slots), start: -1}
	e.release, _ = p.(releaser)
	e.emit = e.finishStep
	return e, nil
}

// State returns the engine's load now.
func (e *Engine) State() State {
	if e.replicas != nil {
		return e.sum()
	}
	return State{Running: len(e.running), Waiting: e.waiting.len(), KVUsage: e.pool.usage(), Counts: e.counts}
}

// Submit hands over a request. The listener hears of it only in later callbacks.
// A prompt that leaves no room for an answer is an error and nothing follows.
func (e *Engine) Submit(r *Request) error {
	if r.Content == nil {
		r.PromptTokens = 0
		for _, s := range r.Prompt {
			r.PromptTokens += s.Tokens
		}
		r.Content = &spans{list: r.Prompt, output: r.Output}
	}
	if e.dead {
		return ErrDead
	}
	if err := e.Check(r.PromptTokens, r.MaxTokens); err != nil {
		return err
	}
	if e.replicas != nil {
		return e.forward(r)
	}
	if e.cfg.MaxRequests > 0 && e.inside >= e.cfg.MaxRequests {
		return ErrOverloaded
	}
	e.inside++
	e.submitted++
	r.seq.number = e.submitted
	now := e.loop.Now()
	if r.Arrived == 0 {
		r.Arrived = now
	}
	if e.start < 0 {
		e.start = r.Arrived
		if e.cfg.Disturbance != nil {
			e.cfg.Disturbance.Begin(e.start)
		}
	}
	r.seq.total = r.PromptTokens
	r.seq.limit = e.cfg.MaxModelLen - r.PromptTokens
	if r.MaxTokens > 0 {
		r.seq.limit = min(r.seq.limit, r.MaxTokens)
	}
	r.Stats = Stats{Arrived: r.Arrived, Prompt: r.PromptTokens}
	r.state = delayed
	if e.cfg.Observer != nil {
		e.cfg.Observer.Submitted(r)
	}
	e.loop.At(r.Arrived+e.cfg.APIDelay, func() { e.enqueue(r) })
	return nil
}

// ErrOverloaded says that as many requests as allowed are waiting or running.
var ErrOverloaded = errors.New("the engine is overloaded")

// TooLongError says that a prompt leaves no room for an answer.
type TooLongError struct{ Prompt, Output, Limit int64 }

// Error names the lengths.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the prompt has %d tokens and %d are asked for, the model's limit is %d", e.Prompt, e.Output, e.Limit)
}

// Check tells whether a request of these lengths can be served: a prompt must
// not be empty, and it must leave room for one token or, where a number is
// asked for, for as many. It may be called from any goroutine.
func (e *Engine) Check(prompt, output int64) error {
	if prompt < 1 {
		return errors.New("the prompt is empty")
	}
	if prompt+max(output, 1) > e.cfg.MaxModelLen {
		return &TooLongError{prompt, output, e.cfg.MaxModelLen}
	}
	return nil
}

func (e *Engine) enqueue(r *Request) {
	if r.state == ended {
		return
	}
	if e.dead {
		r.die(e.loop.Now())
		return
	}
	r.state = waiting
	// Nominal, not loop time: arrivals stay where they were on a late loop.
	r.Stats.Queued = r.Arrived + e.cfg.APIDelay
	if e.cfg.Policy == Priority {
		e.waiting.insert(r, before)
	} else {
		e.waiting.push(r)
	}
	if !e.busy {
		e.busy = true
		// After what else arrives at this moment.
		e.loop.At(max(r.Stats.Queued, e.last), e.resume)
	}
}

func (e *Engine) step(now int64) {
	p := &e.plan
	p.reset(e.cfg.MaxTokens, now)
	e.disturb(now)
	e.policy.fill(e, p)
	if len(p.shares) == 0 {
		e.idle(now)
		return
	}
	p.step.End = e.stretch(now, max(e.cfg.Timer.StepTime(&p.step), 1))
	e.loop.At(p.step.End, e.emit)
}

// idle ends a turn in which nothing was scheduled.
func (e *Engine) idle(now int64) {
	if e.busy = e.waiting.len()+len(e.running) > 0; !e.busy {
		return
	}
	if e.waiting.len() > 0 && len(e.running) == 0 {
		if next := e.waiting.front().Stats.Queued; next > now {
			e.loop.At(next, e.resume)
			return
		}
	}
	e.stuck(now)
}

// resume plans a step after a time without one.
func (e *Engine) resume() {
	if e.dead {
		return
	}
	start := e.last
	switch {
	case e.waiting.len() > 0 && len(e.running) == 0:
		start = max(start, e.waiting.front().Stats.Queued)
	case len(e.running) == 0:
		e.busy = false
		return
	}
	e.step(start)
}

// admitted makes a waiting request a running one: of its tokens cached are
// computed and told as found in the prefix cache.
func (e *Engine) admitted(r *Request, cached, told, now int64) {
	if r.Stats.Preempted == 0 {
		r.Stats.Scheduled, r.Stats.Cached = now, told
		e.counts.PrefixQueries += r.seq.total
		e.counts.PrefixHits += told
	}
	r.seq.computed = cached
	r.state = running
	e.running = append(e.running, r)
}

// preempt sends a running request back to the front of the queue without its blocks.
func (e *Engine) preempt(r *Request) {
	e.drop(r)
	e.running = slices.DeleteFunc(e.running, func(x *Request) bool { return x == r })
	r.state = preempted
	r.Stats.Preempted++
	e.counts.Preemptions++
	if e.cfg.Policy == Priority {
		e.waiting.insert(r, before)
	} else {
		e.waiting.pushFront(r)
	}
}

// finishStep gives out the tokens of the step that ends now and plans the next.
func (e *Engine) finishStep() {
	if e.dead {
		return
	}
	p := &e.plan
	e.last = p.step.End
	e.counts.Steps++
	finished := false
	for _, s := range p.shares {
		q := &s.r.seq
		if s.r.state != running || q.computed-s.drafts != q.total {
			continue
		}
		n := int64(1)
		if s.drafts > 0 {
			n += e.accept(s.r, s.drafts)
			q.computed = q.total + n - 1
		}
		if e.token(s.r, n, p.step.End) {
			finished = true
		}
	}
	if finished {
		e.running = slices.DeleteFunc(e.running, func(r *Request) bool { return r.state == ended })
	}
	if e.cfg.Observer != nil {
		e.cfg.Observer.Step(&p.step)
	}
	e.step(p.step.End)
}

// token gives a request its next n tokens, as far as it goes on, and tells
// whether they were the last.
func (e *Engine) token(r *Request, n, at int64) bool {
	st := &r.Stats
	if n > 1 {
		n = min(n, r.seq.limit-st.Output)
		if r.StopAfter > st.Output {
			n = min(n, r.StopAfter-st.Output)
		}
	}
	gap := int64(-1)
	if st.Output == 0 {
		st.FirstToken = at
		e.counts.PromptTokens += st.Prompt
	} else {
		gap = at - st.LastToken
	}
	st.LastToken = at
	for range n {
		st.Output++
		if e.cfg.Observer != nil {
			e.observe(r, gap)
		}
		gap = 0
	}
	r.seq.total += n
	e.counts.OutputTokens += n
	r.Listener.Tokens(n, at)
	switch {
	case r.state == ended: // aborted by its listener
		return true
	case r.StopAfter > 0 && st.Output >= r.StopAfter && st.Output <= r.seq.limit:
		e.end(r, Stop, at)
	case st.Output >= r.seq.limit:
		e.end(r, Length, at)
	default:
		return false
	}
	return true
}

// observe tells the observer of a token.
func (e *Engine) observe(r *Request, gap int64) {
	if arrived := r.Stats.Arrived; gap < 0 && e.trouble.HideQueue {
		r.Stats.Arrived = r.Stats.Scheduled
		defer func() { r.Stats.Arrived = arrived }()
	}
	e.cfg.Observer.Token(r, gap)
}

// Abort ends a request early: Finished(Abort) is called at once and its blocks
// are free. Aborting one that has ended does nothing.
func (e *Engine) Abort(r *Request) {
	if e.replicas != nil {
		if r.home != nil {
			r.home.Abort(r)
		}
		return
	}
	switch r.state {
	case fresh, ended:
		return
	case waiting, preempted:
		e.waiting.remove(r)
	case running:
		e.running = slices.DeleteFunc(e.running, func(x *Request) bool { return x == r })
	}
	e.end(r, Abort, e.loop.Now())
}

func (e *Engine) end(r *Request, why Finish, at int64) {
	if e.release != nil {
		e.release.released(e, r)
	}
	e.inside--
	e.drop(r)
	r.state = ended
	r.Stats.Ended, r.Stats.Finish = at, why
	if e.cfg.Observer != nil {
		e.cfg.Observer.Ended(r)
	}
	r.Listener.Finished(why, Usage{Prompt: r.Stats.Prompt, Cached: r.Stats.Cached, Output: r.Stats.Output}, at)
	r.seq.blocks, r.seq.keys = nil, nil
}
