package face

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// Exchange is one HTTP request: a sequence of the engine for each choice.
type Exchange struct {
	// ID names the answer.
	ID string
	// Created is the arrival in Unix seconds.
	Created int64
	// Choices are the answers: those to prompt i at i·n to (i+1)·n − 1.
	Choices []Choice

	service   *Service
	ask       *Ask
	requestID string // the client's X-Request-Id
	arrived   int64
	entered   bool          // holds a place among the requests allowed
	notify    chan struct{} // something happened to a choice

	out *outflow // nil: the answer is written whole

	mu    sync.Mutex // guards each choice's news
	live  int        // choices not finished
	told  bool       // that there are news
	since int64      // moment of the oldest token in them

	written []int64 // unix ns before the write of each token, where asked for
	first   int64   // unix ns before the write of the first token
	last    int64
}

// prepare checks lengths and sets up the choices.
func (x *Exchange) prepare(ask *Ask, l *Language) *Problem {
	x.ask = ask
	n := len(ask.Prompts) * ask.answers()
	if n > MaxChoices {
		return Bad("n", "%d prompts with n = %d are more than %d sequences", len(ask.Prompts), ask.answers(), MaxChoices)
	}
	if n == 0 {
		return Bad("prompt", "there is no prompt")
	}
	for _, ids := range ask.Prompts {
		if problem := x.checkLength(int64(len(ids))); problem != nil {
			return problem
		}
	}
	x.name()
	x.Choices = make([]Choice, n)
	x.live = n
	for i := range x.Choices {
		x.choose(i, l)
	}
	return nil
}

func (x *Exchange) checkLength(prompt int64) *Problem {
	limit := x.service.Engine.MaxModelLen
	switch {
	case prompt == 0:
		return Bad("prompt", "the prompt has no tokens")
	case prompt >= limit || prompt+x.ask.MaxTokens > limit:
		return &Problem{Kind: TooLong, Param: "input_tokens", Prompt: prompt, Asked: x.ask.MaxTokens, Limit: limit,
			Message: fmt.Sprintf("the prompt has %d tokens and %d are asked for, the model's limit is %d", prompt, x.ask.MaxTokens, limit)}
	}
	return nil
}

func (x *Exchange) name() {
	n := x.service.number.Add(1)
	if x.ID = x.ask.ID; x.ID == "" {
		x.ID = fmt.Sprintf("%016x%016x", core.Mix(x.service.Seed, n), n)
	}
	x.ID = x.ask.Prefix + x.ID
	x.Created = x.service.epoch.Add(time.Duration(x.arrived)).Unix()
}

// submit hands the sequences to the engine.
func (x *Exchange) submit() {
	x.service.loop.Post(func() {
		for i := range x.Choices {
			c := &x.Choices[i]
			if err := x.service.engine.Submit(&c.request); err != nil {
				(*listener)(c).Finished(core.Abort, core.Usage{}, x.service.loop.Now())
			}
		}
	})
}

// abort ends what is still running.
func (x *Exchange) abort() {
	x.service.loop.Post(func() {
		for i := range x.Choices {
			x.service.engine.Abort(&x.Choices[i].request)
		}
	})
}

func (x *Exchange) wake() {
	select {
	case x.notify <- struct{}{}:
	default:
	}
}

// tell says that there are news, to whom they concern.
func (x *Exchange) tell() {
	if x.out != nil && x.out.line != nil {
		x.service.Emitter.add(x)
		return
	}
	x.wake()
}

// heard forgets that news were told, so that the next ones are told again.
func (x *Exchange) heard() {
	x.mu.Lock()
	x.told = false
	x.mu.Unlock()
}

// news tells whether there is something to write.
func (x *Exchange) news() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.Choices {
		if c := &x.Choices[i]; c.news.tokens > 0 || c.news.finish != c.taken.finish {
			return true
		}
	}
	return false
}

// take hands all choices' news since the last call to the writer, at one
// moment so that their order is the engine's, and tells the moment of the
// oldest token in them and whether they are the last.
func (x *Exchange) take() (since int64, last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	since, x.since, x.told = x.since, 0, false
	for i := range x.Choices {
		c := &x.Choices[i]
		c.taken = c.news
		c.news.tokens = 0
	}
	return since, x.live == 0
}

// answer writes the response; it returns why it could not be finished.
func (x *Exchange) answer(ctx context.Context, w http.ResponseWriter) error {
	if x.out != nil {
		return x.out.run(ctx)
	}
	for !x.finished() {
		if err := x.wait(ctx); err != nil {
			return err
		}
	}
	x.take()
	for i := range x.Choices {
		c := &x.Choices[i]
		c.Finish = c.taken.finish
	}
	x.first = x.unix(x.service.loop.Now())
	x.last = x.first
	if body := x.ask.Body(x, w.Header()); body != nil {
		WriteJSON(w, http.StatusOK, body)
	}
	return nil
}

func (x *Exchange) finished() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.live == 0
}

func (x *Exchange) wait(ctx context.Context) error {
	select {
	case <-x.notify:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end aborts what is left, waits until the engine has let go, and logs. The
// sequences' Stats may be read only then.
func (x *Exchange) end(err error) {
	if err != nil {
		x.abort()
		for !x.finished() {
			<-x.notify
		}
	}
	x.service.log.ended(x)
}

// Asked is the request. It is not to be changed.
func (x *Exchange) Asked() *Ask { return x.ask }

// MaxModelLen is the most tokens of prompt and answer together.
func (x *Exchange) MaxModelLen() int64 { return x.service.Engine.MaxModelLen }

// Unix is a moment of the choices' Stats in Unix ns.
func (x *Exchange) Unix(at int64) int64 { return x.unix(at) }

// Served is the model's name.
func (x *Exchange) Served() string { return x.service.Served }

// Usage sums what the choices used so far. A prompt counts once however many
// answers it gets. Cached is known when all choices have finished.
func (x *Exchange) Usage() core.Usage {
	var u core.Usage
	ended := x.finished()
	for i := range x.Choices {
		c := &x.Choices[i]
		if i%x.ask.answers() == 0 {
			u.Prompt += c.request.PromptTokens
			if ended {
				u.Cached += c.request.Stats.Cached
			}
		}
		u.Output += c.Written
	}
	return u
}

// Elapsed is the engine's time since the request arrived.
func (x *Exchange) Elapsed() time.Duration { return time.Duration(x.service.loop.Now() - x.arrived) }

// Now is the engine's time.
func (x *Exchange) Now() time.Time { return x.service.epoch.Add(time.Duration(x.service.loop.Now())) }
