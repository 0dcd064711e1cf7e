package vllm

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// exchange is one HTTP request: a sequence of the engine for each choice.
type exchange struct {
	server    *Server
	api       api
	query     *query
	requestID string // the client's X-Request-Id
	arrived   int64
	id        string
	created   int64
	prompts   [][]uint32
	choices   []choice
	notify    chan struct{} // something happened to a choice

	mu   sync.Mutex // guards each choice's news
	live int        // choices not finished

	written []int64 // unix ns before the write of each token, where asked for
	first   int64   // unix ns before the write of the first token
	last    int64
}

// choice is one sequence and its place in the answer.
type choice struct {
	x       *exchange
	request core.Request
	content content

	news news // under x.mu

	// The writer's.
	taken  news
	answer text.Answer
	tokens int64
	finish core.Finish
}

// news is what the loop tells the writer.
type news struct {
	tokens int64
	finish core.Finish
}

// prepare tokenises the prompts and checks lengths.
func (x *exchange) prepare() *apiError {
	l, err := x.server.language()
	if err != nil {
		return internal(err)
	}
	prompts, problem := l.prompts(x.query, x.api)
	if problem != nil {
		return problem
	}
	x.prompts = prompts
	if len(prompts)*x.query.choices() > maxChoices {
		return badRequest("n", "%d prompts with n = %d are more than %d sequences", len(prompts), x.query.choices(), maxChoices)
	}
	for _, ids := range prompts {
		if problem := x.checkLength(int64(len(ids))); problem != nil {
			return problem
		}
	}
	x.name()
	x.choices = make([]choice, len(prompts)*x.query.choices())
	x.live = len(x.choices)
	for i := range x.choices {
		x.choose(i, l)
	}
	return nil
}

func (x *exchange) checkLength(prompt int64) *apiError {
	limit := x.server.cfg.Engine.MaxModelLen
	asked := int64(0)
	if x.query.MaxTokens != nil {
		asked = *x.query.MaxTokens
	}
	switch {
	case prompt == 0:
		return badRequest("prompt", "the prompt has no tokens")
	case prompt >= limit:
		return badRequest("input_tokens", "This model's maximum context length is %d tokens; the prompt has %d and leaves no room for an answer.", limit, prompt)
	case prompt+asked > limit:
		return badRequest("input_tokens", "This model's maximum context length is %d tokens; the prompt has %d and %d more are asked for.", limit, prompt, asked)
	}
	return nil
}

func (x *exchange) name() {
	n := x.server.number.Add(1)
	prefix := "cmpl-"
	if x.api == chatAPI {
		prefix = "chatcmpl-"
	}
	if x.id = x.requestID; x.id == "" {
		x.id = fmt.Sprintf("%016x%016x", core.Mix(x.server.cfg.Seed, n), n)
	}
	x.id = prefix + x.id
	x.created = x.server.epoch.Add(time.Duration(x.arrived)).Unix()
}

// choose sets up choice i. What it says, and where it ends when left to
// itself, follows from prompt, seed and number alone.
func (x *exchange) choose(i int, l *language) {
	q, n := x.query, x.query.choices()
	ids := x.prompts[i/n]
	seed := x.server.cfg.Seed
	if q.Seed != nil {
		seed = core.Mix(seed, uint64(*q.Seed))
	}
	seed = core.Mix(core.Mix(seed, fingerprint(ids)), uint64(i%n))
	c := &x.choices[i]
	c.x = x
	c.answer = l.answers.Start(seed)
	c.content = content{ids: ids, answer: c.answer}
	c.request = core.Request{ID: x.id, PromptTokens: int64(len(ids)), Content: &c.content, Arrived: x.arrived, Listener: c}
	if q.CacheSalt != "" {
		c.request.CacheKey = saltKey(q.CacheSalt)
	}
	if q.MaxTokens != nil {
		c.request.MaxTokens = *q.MaxTokens
	}
	if !q.IgnoreEOS {
		c.request.StopAfter = max(text.Length(seed, x.server.cfg.MeanOutput), q.MinTokens)
	}
}

func saltKey(salt string) uint64 {
	h := uint64(1)
	for i := range len(salt) {
		h = core.Mix(h, uint64(salt[i]))
	}
	return h
}

// submit hands the sequences to the engine.
func (x *exchange) submit() {
	x.server.loop.Post(func() {
		for i := range x.choices {
			c := &x.choices[i]
			if err := x.server.engine.Submit(&c.request); err != nil {
				c.Finished(core.Abort, core.Usage{}, x.server.loop.Now())
			}
		}
	})
}

// abort ends what is still running.
func (x *exchange) abort() {
	x.server.loop.Post(func() {
		for i := range x.choices {
			x.server.engine.Abort(&x.choices[i].request)
		}
	})
}

// Tokens is called on the loop.
func (c *choice) Tokens(n, _ int64) {
	c.x.mu.Lock()
	c.news.tokens += n
	c.x.mu.Unlock()
	c.x.wake()
}

// Finished is called on the loop.
func (c *choice) Finished(why core.Finish, _ core.Usage, _ int64) {
	c.x.mu.Lock()
	c.news.finish = why
	c.x.live--
	c.x.mu.Unlock()
	c.x.wake()
}

func (x *exchange) wake() {
	select {
	case x.notify <- struct{}{}:
	default:
	}
}

// take hands all choices' news since the last call to the writer, at one
// moment so that their order is the engine's, and tells whether they are the last.
func (x *exchange) take() (last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.choices {
		c := &x.choices[i]
		c.taken = c.news
		c.news.tokens = 0
	}
	return x.live == 0
}

// answer writes the response; it returns why it could not be finished.
func (x *exchange) answer(ctx context.Context, w http.ResponseWriter) error {
	if x.query.Stream {
		return x.stream(ctx, w)
	}
	for !x.finished() {
		if err := x.wait(ctx); err != nil {
			return err
		}
	}
	return x.whole(w)
}

func (x *exchange) finished() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.live == 0
}

func (x *exchange) wait(ctx context.Context) error {
	select {
	case <-x.notify:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end aborts what is left, waits until the engine has let go, and logs. The
// sequences' Stats may be read only then.
func (x *exchange) end(err error) {
	if err != nil {
		x.abort()
		for !x.finished() {
			<-x.notify
		}
	}
	x.server.log.ended(x)
}

// usage sums what the choices used. A prompt counts once however many answers
// it gets; each has finished, or is counted as far as it got.
func (x *exchange) usage() usage {
	var u usage
	for i := range x.choices {
		c := &x.choices[i]
		if i%x.query.choices() == 0 {
			u.PromptTokens += c.request.PromptTokens
		}
		u.CompletionTokens += c.tokens
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// cached is the number of prompt tokens found in the cache. Only once all choices have finished.
func (x *exchange) cached() int64 {
	n := int64(0)
	for i := range x.choices {
		if i%x.query.choices() == 0 {
			n += x.choices[i].request.Stats.Cached
		}
	}
	return n
}
