package conformance

import (
	"context"
	"net/http"
	"strings"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// errors asks what must be refused.
func (b *battery) errors(ctx context.Context) {
	r := b.send(ctx, &question{name: "no JSON", bad: true}, []byte(`{"model":`))
	b.refuses(errorJSON, r, 400)

	r = b.ask(ctx, &question{name: "unknown model", prompt: story, max: 1, bad: true, fields: map[string]any{"model": "no-such-model-b1c5"}})
	if r.ok() {
		b.say(errorModel, Note, "any model's name is taken")
	} else {
		b.refuses(errorModel, r, 404, 400)
	}

	lacks := map[string]any{"messages": nil, "prompt": nil}
	r = b.ask(ctx, &question{name: "nothing to answer", max: 1, bad: true, fields: lacks})
	b.refuses(errorMessages, r, 400, 422)

	r = b.ask(ctx, &question{name: "max_tokens of the wrong type", prompt: story, stream: true, bad: true, leave: length, fields: map[string]any{b.maxTokens: "many"}})
	b.refuses(errorType, r, 400, 422)

	r = b.ask(ctx, &question{name: "bad stream", prompt: story, stream: true, bad: true, leave: length, fields: map[string]any{b.maxTokens: -5}})
	if r.sse && r.ok() || r.sse && r.x.Cause == wire.Cancelled {
		b.say(errorStream, Fail, "status %d and a stream", r.x.Status)
	} else {
		b.refuses(errorStream, r, 400, 422)
	}
}

// refuses judges the status of a question that must be refused.
func (b *battery) refuses(rule string, r *reply, statuses ...int) {
	s := r.x.Status
	for _, want := range statuses {
		if s == want {
			b.say(rule, Pass, "%s", short(r.lost(), 120))
			return
		}
	}
	switch {
	case s == 0:
		b.say(rule, Fail, "%s", r.lost())
	case s >= 200 && s <= 299 && r.answer.Failure == engine.ErrorEvent:
		b.say(rule, Fail, "an error under status %d: %s", s, short(r.answer.ErrorText, 120))
	case s >= 200 && s <= 299:
		b.say(rule, Fail, "answered with %d", s)
	case s >= 400 && s <= 499:
		b.say(rule, Note, "%s", r.lost())
	default:
		b.say(rule, Fail, "%s", r.lost())
	}
}

// longest is the longest context that is tested: a longer prompt would be dear
// where it is not refused.
const longest = 200_000

// long asks with a prompt that does not fit.
func (b *battery) long(ctx context.Context) {
	m := b.listed()
	switch {
	case m == nil || m.Context == 0:
		b.say(errorLong, NA, "the list of models does not say how long the context is")
		return
	case m.Context > longest:
		b.say(errorLong, NA, "a context of %d tokens is too long to try", m.Context)
		return
	}
	r := b.ask(ctx, &question{name: "prompt beyond the context", max: 1, bad: true, prompt: strings.TrimSpace(strings.Repeat("river ", int(m.Context)+64))})
	u := r.answer.Usage.Prompt
	switch {
	case r.ok() && u.Known && u.N < m.Context:
		b.say(errorLong, Fail, "answered: %d tokens of the prompt are left, the rest was dropped without a word", u.N)
	case r.ok():
		b.say(errorLong, Fail, "answered with %d, though the context has %d tokens", r.x.Status, m.Context)
	case r.refused() && r.x.Status != 429 && r.answer.ErrorClass != "context_length":
		b.refuses(errorLong, r, 400, 413, 422)
		b.say(errorLong, Note, "the error does not say that the context is too short: %s", r.lost())
	default:
		b.refuses(errorLong, r, 400, 413, 422)
	}
}

// method asks in a way that the endpoint does not have.
func (b *battery) method(ctx context.Context) {
	req := b.driver.Get(b.driver.URL())
	d := b.driver.Decoder(&engine.Call{})
	r := read(&question{name: "GET of the endpoint", bad: true}, check.Send(ctx, b.Transport, req, d, 0))
	b.report.Requests++
	switch s := r.x.Status; {
	case s == http.StatusMethodNotAllowed && r.x.HeaderValue("Allow") == "":
		b.say(httpMethod, Note, "405 without Allow")
	case s == http.StatusMethodNotAllowed:
		b.say(httpMethod, Pass, "405, Allow: %s", short(r.x.HeaderValue("Allow"), 40))
	case s == http.StatusNotFound:
		b.say(httpMethod, Pass, "404")
	case s == 0:
		b.say(httpMethod, Fail, "%s", r.lost())
	case s >= 400 && s <= 499:
		b.say(httpMethod, Note, "status %d", s)
	default:
		b.say(httpMethod, Fail, "status %d", s)
	}
}

// auth asks without the credential.
func (b *battery) auth(ctx context.Context) {
	if b.driver.Credential() == "" {
		b.say(httpAuth, NA, "no credential was given")
		return
	}
	r := b.ask(ctx, &question{name: "no credential", prompt: story, max: 1, bad: true, bare: true})
	switch s := r.x.Status; {
	case s == http.StatusUnauthorized:
		b.say(httpAuth, Pass, "401")
	case s == http.StatusForbidden:
		b.say(httpAuth, Note, "403")
	case r.ok():
		b.say(httpAuth, Note, "answered all the same")
	default:
		b.say(httpAuth, Fail, "%s", r.lost())
	}
}
