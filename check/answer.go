package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
)

func (c *checker) streaming(r *reply) {
	a := r.answer
	n := len(a.Chunks.At)
	switch {
	case len(a.Violations) > 0:
		c.r.add(lineStreaming, Fail, "each such answer counts as a failure", "the answer breaks the API: %s", strings.Join(a.Violations, ", "))
	case c.OpenAI.NoStream:
		c.r.add(lineStreaming, OK, "", "not asked for; a whole answer came")
	case slices.Contains(a.Notes, "not_streamed"):
		c.r.add(lineStreaming, Warn, "TTFT and ITL cannot be measured; does a gateway collect the answer?", "a whole answer came where a stream was asked for")
	case n == 0:
		c.r.add(lineStreaming, Warn, "", "a stream without content: %s", strings.Join(a.Notes, ", "))
	default:
		c.r.add(lineStreaming, OK, "", "%s, first token after %s, finish reason %s", perChunk(a), short(a.Chunks.At[0]-r.x.Sent), cmp.Or(a.FinishReason, "none"))
	}
}

// perChunk says how the tokens came.
func perChunk(a *engine.Answer) string {
	n := len(a.Chunks.At)
	u := a.Usage.Completion
	switch {
	case a.Chunks.Tokens != nil:
		return fmt.Sprintf("%d chunks that say how many tokens they hold", n)
	case !u.Known:
		return fmt.Sprintf("%d content chunks", n)
	case u.N-int64(n) <= 1 && int64(n)-u.N <= 1:
		return fmt.Sprintf("%d content chunks, one a token", n)
	}
	return fmt.Sprintf("%d content chunks for %d tokens", n, u.N)
}

func (c *checker) usage(r *reply) {
	u := r.answer.Usage
	switch {
	case u.Prompt.Known && u.Completion.Known:
		c.r.add(lineUsage, OK, "", "%d tokens in, %d out", u.Prompt.N, u.Completion.N)
	case slices.Contains(r.answer.Notes, "usage_zero"):
		c.r.add(lineUsage, Warn, "tokens will be counted by --tokenizer", "zeros")
	default:
		c.r.add(lineUsage, Warn, "tokens will be counted by --tokenizer", "none in the answer")
	}
}

func (c *checker) fields(adapted []string) {
	if len(adapted) == 0 {
		text := "stream_options, max_tokens"
		if c.OpenAI.OutputMode != openai.Cap {
			text += ", ignore_eos, min_tokens"
		}
		c.r.add(lineFields, OK, "", "accepted: %s", text)
		return
	}
	c.r.add(lineFields, Warn, "a run adapts by itself", "refused: %s", strings.Join(adapted, ", "))
}

// length says whether the output has the length asked for.
func (c *checker) length(r *reply) {
	a := r.answer
	n, ok := a.Usage.Completion.N, a.Usage.Completion.Known
	if !ok {
		n = int64(len(a.Chunks.At))
	}
	switch {
	case n == outputTokens:
		c.r.add(lineLength, OK, "", "%d tokens as asked", n)
	case n > outputTokens:
		c.r.add(lineLength, Fail, "the limit does not hold: a load test would run away", "%d tokens asked, %d came", outputTokens, n)
	case c.OpenAI.OutputMode == openai.Cap:
		c.r.add(lineLength, OK, "", "%d tokens, at most %d asked", n, outputTokens)
	default:
		c.r.add(lineLength, Warn, "the model decides when to stop: lengths are a cap", "%d tokens asked, %d came, finish reason %s", outputTokens, n, a.FinishReason)
	}
}

// buffering looks whether chunks come one by one.
func (c *checker) buffering(r *reply) {
	at := r.answer.Chunks.At
	n := len(at)
	if n < 3 || c.OpenAI.NoStream {
		c.r.add(lineBuffering, Unknown, "", "too few chunks to tell")
		return
	}
	spread, wait := at[n-1]-at[0], at[0]-r.x.Sent
	distinct := 1
	for i := 1; i < n; i++ {
		if at[i] != at[i-1] {
			distinct++
		}
	}
	const hint = "a proxy may collect the stream (nginx: proxy_buffering off); TTFT and ITL would be the proxy's"
	switch {
	case distinct <= 2 || float64(spread) < burstShare*float64(wait):
		c.r.add(lineBuffering, Warn, hint, "%d chunks came within %s, %s after the request", n, short(spread), short(wait))
	case distinct < n/2:
		c.r.add(lineBuffering, Warn, hint, "%d chunks came in %d batches", n, distinct)
	default:
		c.r.add(lineBuffering, OK, "", "none: %d chunks over %s", n, short(spread))
	}
}

// cached sends the same request again: now its prompt can be in the cache.
func (c *checker) cached(ctx context.Context, q *engine.Call, first *reply) {
	c.r.Requests++
	c.Asking("the same again, for its cached tokens")
	r, err := call(ctx, c.Transport, c.driver, q, mostEvents)
	if err != nil || !r.ok() {
		c.r.add(lineCached, Unknown, "", "the request sent again failed")
		return
	}
	u := r.answer.Usage
	faster := ""
	if a, b := first.answer.Chunks.At, r.answer.Chunks.At; len(a) > 0 && len(b) > 0 {
		faster = fmt.Sprintf("; first token after %s, then %s", short(a[0]-first.x.Sent), short(b[0]-r.x.Sent))
	}
	switch {
	case !u.Cached.Known:
		c.r.add(lineCached, Warn, "vLLM: --enable-prompt-tokens-details", "the usage does not say%s", faster)
	case u.Cached.N > 0:
		c.r.add(lineCached, OK, "", "%d of %d prompt tokens on the second sending%s", u.Cached.N, u.Prompt.N, faster)
	default:
		c.r.add(lineCached, Warn, "prefix caching may be off, or need a longer prompt", "0 of %d prompt tokens on the second sending%s", u.Prompt.N, faster)
	}
}

// lengthField tries the other name of the length field, and adds to the line of
// fields. A server that does not know the name would go on: it is cut off.
func (c *checker) lengthField(ctx context.Context) {
	line := c.line(lineFields)
	if line == nil || c.API != openai.APIChat || c.OpenAI.MaxTokens == "max_completion_tokens" || strings.Contains(line.Text, "max_completion_tokens") {
		return
	}
	o := c.OpenAI
	o.MaxTokens, o.OutputMode = "max_completion_tokens", openai.Cap
	d, err := openai.New(c.API, o)
	if err != nil {
		return
	}
	c.r.Requests++
	c.Asking("an answer limited by max_completion_tokens")
	r, err := call(ctx, c.Transport, d, &engine.Call{MaxTokens: cappedTokens,
		Messages: []engine.Message{{Role: "user", Content: "Count to one hundred."}}}, cappedEvents)
	switch {
	case err != nil:
	case r.x.Cause == wire.Cancelled, r.answer.Usage.Completion.N > cappedTokens:
		line.Text += "; max_completion_tokens is ignored"
	case r.ok() && r.answer.Failure == engine.Whole:
		line.Text += "; max_completion_tokens too"
	case r.answer.RefusedField != "":
		line.Text += "; max_completion_tokens is refused"
	}
}

func (c *checker) line(name string) *Line {
	for i := range c.r.Lines {
		if c.r.Lines[i].Name == name {
			return &c.r.Lines[i]
		}
	}
	return nil
}
