package triton

import (
	"context"
	"net/http"
	"net/url"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// part is what one response says: a token's text, or the whole answer.
type part struct {
	text    string
	finish  core.Finish // empty: goes on
	in, out int64       // tokens of the prompt, of this part
	last    bool
}

// reason is the finish reason as vLLM's backend writes it.
func (p *part) reason() string {
	if p.finish == "" {
		return "None"
	}
	return string(p.finish)
}

// broken says that the engine ended an answer that was under way.
const broken = "the engine ended the request before its answer was complete"

// run gives q to the engine and calls each with what it says: once where q does
// not stream, else once a token. It returns when the answer has ended; an
// error of each ends it early. Request id and trace context come from h.
func (t *server) run(ctx context.Context, h http.Header, q *query, each func(p *part) error) (problem *face.Problem) {
	out := &sink{header: http.Header{}}
	t.s.Handle(func(_ *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		a, problem := q.ask(l)
		if problem != nil {
			return nil, problem
		}
		a.Stream = func(*face.Exchange) face.Frames { return &parts{q: q, each: each, sink: out} }
		a.LateHeaders = true
		return a, nil
	}, func(_ http.ResponseWriter, p *face.Problem) { problem = p })(out, (&http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: h}).WithContext(ctx))
	return problem
}

// sink stands where a face's frames are written: they have gone another way by
// then, and what went wrong there ends the exchange.
type sink struct {
	header http.Header
	err    error
}

// Header is not sent.
func (s *sink) Header() http.Header { return s.header }

// Write writes nothing.
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader sends nothing.
func (s *sink) WriteHeader(int) {}

// FlushError tells what went wrong.
func (s *sink) FlushError() error { return s.err }

// parts hands on the tokens of an answer.
type parts struct {
	q    *query
	each func(*part) error
	sink *sink
	said []byte // so far, where the answer goes out whole
}

var _ face.Frames = (*parts)(nil)

func (p *parts) send(x *part) {
	if p.sink.err == nil {
		p.sink.err = p.each(x)
	}
}

// Token hands on one token where the request streams.
func (p *parts) Token(b []byte, c *face.Choice, w *text.Word) []byte {
	if !p.q.stream {
		p.said = append(p.said, w.Text...)
		return b
	}
	x := part{text: w.Text, in: c.PromptTokens(), out: 1}
	if c.Last() {
		x.last, x.finish = true, ending(c)
	}
	p.send(&x)
	return b
}

// ending is how a choice that has got its last token ends.
func ending(c *face.Choice) core.Finish {
	if a := c.Exchange().Asked(); c.Written >= c.Exchange().MaxModelLen()-c.PromptTokens() || a.MaxTokens > 0 && c.Written >= a.MaxTokens {
		return core.Length
	}
	return core.Stop
}

// Finish hands on the whole answer where the request does not stream, and says
// so where the engine gave up.
func (p *parts) Finish(b []byte, c *face.Choice) []byte {
	x := part{finish: c.Finish, in: c.PromptTokens(), out: c.Written, last: true}
	whole := c.Finish == core.Stop || c.Finish == core.Length
	switch {
	case whole && p.q.stream:
		return b // told with the last token
	case p.q.echo:
		x.text = p.q.prompt + string(p.said)
	default:
		x.text = string(p.said)
	}
	p.send(&x)
	return b
}

// Close has nothing left to say.
func (p *parts) Close(b []byte, _ *face.Exchange) []byte { return b }

// failed tells whether a part is the engine's giving up.
func (p *part) failed() bool {
	return p.last && p.finish != core.Stop && p.finish != core.Length
}
