package timeline

import (
	"strings"

	"github.com/tokamak-bench/tokamak/record"
)

// request [at=T] [send=T] [conn=T] [end=HOW] [ended=T] [asked=N] [counted=N] [in=N] [cached=N] [times=N every=T]
func (p *parser) request(words []word) error {
	d := &draft{times: 1, tokens: true}
	d.a.Attempt, d.a.Outcome, d.a.StampSource = 1, record.OK, record.SourceKernel
	d.a.HTTPStatus = record.Some(200)
	send, conn := int64(0), int64(-1)
	for _, w := range words[1:] {
		key, text, ok := strings.Cut(w.text, "=")
		if !ok {
			return p.fail(w, "expected NAME=VALUE, got %q", w.text)
		}
		v := word{text, w.column + len(key) + 1}
		var err error
		switch key {
		case "at":
			d.base, err = p.moment(v)
		case "send":
			send, err = p.moment(v)
		case "conn":
			conn, err = p.moment(v)
		case "ended":
			d.last, err = p.moment(v)
			d.ended = true
		case "every":
			d.every, err = p.moment(v)
		case "times":
			var n int64
			n, err = p.whole(v)
			d.times = int(n)
		case "asked", "counted", "in", "cached":
			err = p.count(&d.a, key, v)
		case "end":
			err = p.ending(&d.a, v)
		default:
			return p.fail(w, "expected at, send, conn, ended, end, asked, counted, in, cached, times or every, got %q", key)
		}
		if err != nil {
			return err
		}
	}
	if d.times < 1 || len(p.run.Attempts)+d.times > maxRequests {
		return p.fail(words[0], "expected 1 to %d requests in all", maxRequests)
	}
	m := &d.a.Moments
	m.Intended, m.WriteStart, m.Sent, m.Dispatched = record.Some(0), record.Some(send), record.Some(send), record.Some(0)
	m.ConnReused = true
	if conn >= 0 {
		m.ConnStart, m.ConnReady, m.ConnReused = record.Some(conn), record.Some(send), false
	}
	p.open = d
	return nil
}

func (p *parser) count(a *record.Attempt, key string, v word) error {
	n, err := p.whole(v)
	if err != nil {
		return err
	}
	switch key {
	case "asked":
		a.OutputAsked = record.Some(n)
	case "counted":
		a.OutputCounted = record.Some(n)
	case "cached":
		a.CachedUsage = record.Some(n)
	case "in":
		a.PromptUsage, a.PromptCounted, a.PromptAsked = record.Some(n), record.Some(n), record.Some(n)
	}
	return nil
}

func (p *parser) ending(a *record.Attempt, v word) error {
	switch v.text {
	case "ok":
	case "error":
		a.Outcome, a.ErrorClass = record.StreamError, "error_event"
	case "cut": // the stream closed early, cleanly as HTTP sees it
		a.Outcome, a.ErrorClass, a.Violations = record.StreamBroken, "no_terminator", []string{"no_terminator"}
	case "garbled":
		a.Outcome, a.ErrorClass, a.Violations = record.StreamBroken, "bad_json", []string{"bad_json"}
	case "severed":
		a.Outcome, a.ErrorClass = record.StreamBroken, "reset_in_response"
	case "429":
		a.Outcome, a.HTTPStatus = record.Rejected, record.Some(429)
	case "500":
		a.Outcome, a.HTTPStatus = record.HTTPError, record.Some(500)
	case "unheard":
		a.Outcome, a.HTTPStatus = record.TransportError, record.Int{}
	case "stopped":
		a.Outcome = record.Cut
	default:
		return p.fail(v, "expected ok, error, cut, garbled, severed, 429, 500, unheard or stopped, got %q", v.text)
	}
	return nil
}

// event reads TIME KIND [TOKENS], the time from the request's.
func (p *parser) event(words []word) error {
	d := p.open
	if p.events++; p.events > maxEvents {
		return p.fail(words[0], "more than %d events", maxEvents)
	}
	at, err := p.moment(words[0])
	if err != nil {
		return err
	}
	if len(words) < 2 || len(words) > 3 {
		return p.fail(words[0], "expected TIME KIND [TOKENS]")
	}
	tokens := int64(1)
	if len(words) == 3 && words[2].text == "?" {
		d.tokens = false
	} else if len(words) == 3 {
		if tokens, err = p.whole(words[2]); err != nil {
			return err
		}
	}
	if !d.ended {
		d.last = max(d.last, at)
	}
	m := &d.a.Moments
	if !m.FirstByte.Valid() {
		m.FirstByte, m.FirstChunk = record.Some(at), record.Some(at)
	}
	switch words[1].text {
	case "text":
		d.content(at, record.TextChunk, tokens)
	case "reasoning":
		d.content(at, record.ReasoningChunk, tokens)
	case "tool":
		d.content(at, record.ToolChunk, tokens)
	case "role":
		d.blank(at, record.RoleBlank)
	case "empty":
		d.blank(at, record.EmptyBlank)
	case "finish":
		d.blank(at, record.BareBlank)
	case "usage":
		if len(words) != 3 {
			return p.fail(words[1], "expected usage TOKENS")
		}
		d.a.OutputUsage, m.UsageAt = record.Some(tokens), record.Some(at)
	case "done":
	default:
		return p.fail(words[1], "expected text, reasoning, tool, role, empty, finish, usage or done, got %q", words[1].text)
	}
	return nil
}

func (d *draft) content(at int64, kind record.ChunkKind, tokens int64) {
	c := &d.a.Chunks
	c.At, c.Kind, c.Tokens = append(c.At, at), append(c.Kind, kind), append(c.Tokens, int32(tokens))
	c.Bytes, c.Choice, c.Flags = append(c.Bytes, 1), append(c.Choice, 0), append(c.Flags, 0)
	m := &d.a.Moments
	if !m.FirstToken.Valid() {
		m.FirstToken = record.Some(at)
	}
	if kind != record.ReasoningChunk && !m.FirstAnswer.Valid() {
		m.FirstAnswer = record.Some(at)
	}
	m.LastToken = record.Some(at)
}

func (d *draft) blank(at int64, kind record.BlankKind) {
	d.a.Blanks.At, d.a.Blanks.Kind = append(d.a.Blanks.At, at), append(d.a.Blanks.Kind, kind)
}

// close adds the request that was being read, as often as it asks.
func (p *parser) close() error {
	d := p.open
	if d == nil {
		return nil
	}
	p.open = nil
	if p.events += (d.times - 1) * (len(d.a.Chunks.At) + 1); p.events > maxEvents {
		return &Error{p.line, 1, "more events than a file may have"}
	}
	if !d.tokens {
		d.a.Chunks.Tokens = nil
	}
	d.a.Ended = record.Some(d.last)
	for i := range d.times {
		a := d.a.Clone()
		a.RequestID = int64(len(p.run.Attempts))
		shift(a, d.base+int64(i)*d.every)
		p.run.Attempts = append(p.run.Attempts, *a)
	}
	return nil
}

// shift moves every moment of a row.
func shift(a *record.Attempt, by int64) {
	m := &a.Moments
	for _, t := range []*record.Int{&m.Intended, &m.Dispatched, &m.ConnStart, &m.ConnReady, &m.WriteStart, &m.Sent, &m.FirstByte,
		&m.FirstChunk, &m.FirstToken, &m.FirstAnswer, &m.LastToken, &m.UsageAt, &m.Ended} {
		if v, ok := t.Get(); ok {
			*t = record.Some(v + by)
		}
	}
	for _, list := range [][]int64{a.Chunks.At, a.Blanks.At} {
		for i := range list {
			list[i] += by
		}
	}
}
