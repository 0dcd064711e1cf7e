package vllm

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// stream writes server-sent events: for each choice of a chat its role with
// its first token, then a chunk a token, then its finish reason; the usage
// where it is asked for; [DONE].
func (x *exchange) stream(ctx context.Context, w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	if err := out.Flush(); err != nil {
		return err
	}
	e := x.encoder()
	for {
		if err := x.wait(ctx); err != nil {
			return err
		}
		done := x.take()
		e.buf = e.buf[:0]
		tokens := int64(0)
		for i := range x.choices {
			tokens += e.news(i)
		}
		if done {
			e.close()
		}
		if len(e.buf) == 0 {
			continue
		}
		x.stamp(tokens)
		if _, err := w.Write(e.buf); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if done {
			return nil
		}
	}
}

// stamp notes the moment before n tokens are written.
func (x *exchange) stamp(n int64) {
	if n == 0 {
		return
	}
	x.last = time.Now().UnixNano()
	if x.first == 0 {
		x.first = x.last
	}
	if x.server.cfg.LogTokens {
		for range n {
			x.written = append(x.written, x.last)
		}
	}
}

// encoder writes the chunks of one stream. All but a token's text is ready
// before the first one.
type encoder struct {
	x      *exchange
	buf    []byte
	head   []byte // up to the choice's index
	before string // from the index to the text
	after  string // from the text to the end of the choice
	counts bool   // usage in every chunk
}

func (x *exchange) encoder() *encoder {
	e := &encoder{x: x, buf: make([]byte, 0, 512)}
	if o := x.query.StreamOptions; o != nil {
		e.counts = o.ContinuousUsage
	}
	object := "text_completion"
	e.before, e.after = `,"text":"`, `","logprobs":null,"finish_reason":null,"stop_reason":null}]`
	if x.api == chatAPI {
		object = "chat.completion.chunk"
		e.before, e.after = `,"delta":{"content":"`, `"},"logprobs":null,"finish_reason":null}]`
	}
	e.head = append(e.head, `data: {"id":`...)
	e.head = appendString(e.head, x.id)
	e.head = append(e.head, `,"object":"`+object+`","created":`...)
	e.head = strconv.AppendInt(e.head, x.created, 10)
	e.head = append(e.head, `,"model":`...)
	e.head = appendString(e.head, x.server.cfg.Served)
	return e
}

// news appends the chunks for what is new of choice i and returns its tokens.
func (e *encoder) news(i int) int64 {
	c := &e.x.choices[i]
	n := c.taken
	for range n.tokens {
		if c.tokens == 0 && e.x.api == chatAPI {
			e.open(i)
			e.buf = append(e.buf, `,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
			e.finish(c)
		}
		c.tokens++
		e.open(i)
		e.buf = append(e.buf, e.before...)
		e.buf = append(e.buf, c.answer.Next().JSON...)
		e.buf = append(e.buf, e.after...)
		e.finish(c)
	}
	if n.finish != "" && c.finish == "" {
		c.finish = n.finish
		e.open(i)
		e.buf = append(e.buf, e.before...)
		e.buf = append(e.buf, `"`...)
		if e.x.api == chatAPI {
			e.buf = append(e.buf, `}`...)
		}
		e.buf = append(e.buf, `,"logprobs":null,"finish_reason":"`...)
		e.buf = append(e.buf, n.finish...)
		e.buf = append(e.buf, `","stop_reason":null}]`...)
		e.finish(c)
	}
	return n.tokens
}

func (e *encoder) open(i int) {
	e.buf = append(e.buf, e.head...)
	e.buf = append(e.buf, `,"choices":[{"index":`...)
	e.buf = strconv.AppendInt(e.buf, int64(i), 10)
}

// finish ends a chunk, where asked with the usage of its choice so far.
func (e *encoder) finish(c *choice) {
	if e.counts {
		prompt := c.request.PromptTokens
		e.usage(usage{PromptTokens: prompt, CompletionTokens: c.tokens, TotalTokens: prompt + c.tokens})
	}
	e.buf = append(e.buf, "}\n\n"...)
}

func (e *encoder) usage(u usage) {
	e.buf = append(e.buf, `,"usage":{"prompt_tokens":`...)
	e.buf = strconv.AppendInt(e.buf, u.PromptTokens, 10)
	e.buf = append(e.buf, `,"total_tokens":`...)
	e.buf = strconv.AppendInt(e.buf, u.TotalTokens, 10)
	e.buf = append(e.buf, `,"completion_tokens":`...)
	e.buf = strconv.AppendInt(e.buf, u.CompletionTokens, 10)
	if u.Details != nil {
		e.buf = append(e.buf, `,"prompt_tokens_details":{"cached_tokens":`...)
		e.buf = strconv.AppendInt(e.buf, u.Details.Cached, 10)
		e.buf = append(e.buf, '}')
	}
	e.buf = append(e.buf, '}')
}

// close appends the usage and the terminator.
func (e *encoder) close() {
	if o := e.x.query.StreamOptions; o != nil && o.IncludeUsage {
		e.buf = append(e.buf, e.head...)
		e.buf = append(e.buf, `,"choices":[]`...)
		u := e.x.usage()
		u.Details = &details{e.x.cached()}
		e.usage(u)
		e.buf = append(e.buf, "}\n\n"...)
	}
	e.buf = append(e.buf, "data: [DONE]\n\n"...)
}
