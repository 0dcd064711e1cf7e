package openai

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// End reads what can only be read once everything is here, and judges the
// answer as a whole.
func (d *decoder) End(x *wire.Exchange) *engine.Answer {
	a := &d.a
	d.head(x)
	if x.Status != 0 && (x.Status < 200 || x.Status > 299) {
		d.badStatus(x)
		return a
	}
	whole := d.readWhole(x)
	d.unpack()
	d.settle()
	if x.Status != 0 && x.Cause == wire.Completed {
		d.judge(x, whole)
	}
	switch {
	case d.err != nil:
		a.Failure, a.ErrorClass = engine.ErrorEvent, classErrorEvent
		a.ErrorText = d.errorText(d.err)
	case len(a.Violations) > 0:
		a.Failure, a.ErrorClass = engine.Broken, a.Violations[0]
	}
	d.content, d.parts = nil, nil
	return a
}

// readWhole reads a body that was no event stream, and reports whether it was
// an answer.
func (d *decoder) readWhole(x *wire.Exchange) bool {
	if d.raw == nil || x.Cause != wire.Completed {
		return false
	}
	body := bytes.TrimSpace(d.raw)
	d.raw = nil
	if !d.chunk(body, d.rawAt) {
		d.violation(badJSON)
		if body[0] == '<' && d.err == nil {
			d.a.ErrorText = d.errorText(parseError(body))
		}
		return false
	}
	d.done = true
	return true
}

// settle moves what was gathered into the answer.
func (d *decoder) settle() {
	a, c := &d.a, &d.a.Chunks
	if n := len(c.At); n > 0 && d.u.high != 0 {
		d.content = d.u.flush(d.content)
		c.Bytes[n-1] += int32(utf8.RuneLen(utf8.RuneError))
		d.parts[len(d.parts)-1].End = len(d.content)
	}
	c.Tokens = d.perChunk()
	a.Content, a.Parts = d.content, d.parts
	d.think()
	setKinds(a)
	u := &d.usage
	a.Usage = engine.Usage{Prompt: u.last.prompt, Completion: u.last.completion,
		Cached: u.last.cached, Reasoning: u.last.reasoning}
	if !a.Queue.Known {
		a.Queue = u.queue
	}
	a.Prefill, a.Decode = u.prefill, u.decode
	for _, ch := range d.choices {
		if ch.index == 0 {
			a.FinishReason = ch.finish
		}
	}
	d.encoding()
}

// setKinds gives each chunk the kind of what it holds: reasoning only if it
// holds nothing else.
func setKinds(a *engine.Answer) {
	part, offset := 0, 0
	for i, size := range a.Chunks.Bytes {
		end := offset + int(size)
		for part < len(a.Parts)-1 && a.Parts[part].End <= offset {
			part++
		}
		kind := engine.Kind(0)
		for p := part; p < len(a.Parts); p++ {
			if k := a.Parts[p].Kind; kind == 0 || kind == engine.Reasoning {
				kind = k
			}
			if a.Parts[p].End >= end {
				break
			}
		}
		a.Chunks.Kind[i] = kind
		offset = end
	}
	start := 0
	for _, p := range a.Parts {
		if p.Kind == engine.Reasoning {
			a.Thinking += int64(p.End - start)
		}
		start = p.End
	}
}

// encoding judges the text as UTF-8.
func (d *decoder) encoding() {
	a := &d.a
	if d.u.split {
		d.note(splitSurrogates)
	}
	if d.u.lone {
		d.violation(badUTF8)
	} else if bytes.Contains(a.Content, []byte("\uFFFD")) {
		d.note(replacementChar)
	}
	whole := utf8.Valid(a.Content)
	if !whole && len(d.choices) > 1 {
		whole = true
		for _, ch := range d.choices {
			whole = whole && utf8.Valid(joined(a, ch.index, 0))
		}
		if whole {
			d.note(splitUTF8)
		}
	}
	if !whole {
		d.violation(badUTF8)
		return
	}
	offset := 0
	for _, size := range a.Chunks.Bytes {
		if offset < len(a.Content) && !utf8.RuneStart(a.Content[offset]) {
			d.note(splitUTF8)
			return
		}
		offset += int(size)
	}
}

// joined returns the content of one choice and kind; kind 0: of all kinds.
func joined(a *engine.Answer, choice int32, kind engine.Kind) []byte {
	var out []byte
	start := 0
	for _, p := range a.Parts {
		if p.Choice == choice && (kind == 0 || p.Kind == kind) {
			out = append(out, a.Content[start:p.End]...)
		}
		start = p.End
	}
	return out
}

// judge says what the whole answer did against its API, and what is odd.
func (d *decoder) judge(x *wire.Exchange, whole bool) {
	a := &d.a
	if !d.began || !d.sse && !whole && len(a.Violations) == 0 {
		d.violation(emptyBody)
		return
	}
	d.form(x, whole)
	if d.err != nil || !d.sse && !whole {
		return
	}
	if d.tail {
		if d.tailBad {
			d.violation(badJSON)
		} else {
			d.note(unendedEvent)
		}
	}
	if !d.done {
		d.violation(noTerminator)
	}
	ended := 0
	for _, ch := range d.choices {
		if ch.finish != "" {
			ended++
		}
	}
	if ended < len(d.choices) || ended == 0 {
		d.violation(noFinishReason)
	}
	if len(a.Violations) > 0 {
		return // what is odd besides follows from them
	}
	switch n := d.choicesAsked(); {
	case n == 0:
	case len(d.choices) < n:
		d.note(missingChoices)
	case len(d.choices) > n:
		d.note(extraChoices)
	}
	d.counts()
	d.emptiness()
	d.reasons()
	d.toolJSON()
	d.stops()
	if engine.Buffered(x.Sent, a.Chunks.At) {
		d.note(buffered)
	}
}

// form notes where the form of the body is not what was asked for or said.
func (d *decoder) form(x *wire.Exchange, whole bool) {
	ct := strings.ToLower(x.HeaderValue("Content-Type"))
	want := "text/event-stream"
	if !d.sse {
		want = "json"
	}
	if !strings.Contains(ct, want) {
		d.note(wrongContentType)
	}
	asked := x.Request != nil && x.Request.Framing == wire.SSE
	switch {
	case whole && asked:
		d.note(notStreamed)
	case d.sse && !asked:
		d.note(streamedUnasked)
	}
}

func (d *decoder) counts() {
	a, u := &d.a, &d.a.Usage
	switch {
	case u.Completion.Known || u.Prompt.Known || d.usage.absurd:
	case d.usage.came:
		d.note(usageZero)
	default:
		d.note(usageMissing)
	}
	if d.usage.implausible() {
		d.note(usageImplausible)
	}
	limit, _ := d.lengthAsked()
	if limit *= int64(d.choicesAsked()); limit > 0 {
		exact := len(d.c.Body) == 0 && d.d.plan.Load().ignoreEOS
		switch {
		case u.Completion.N > limit, !u.Completion.Known && int64(len(a.Chunks.At)) > limit:
			d.note(overMaxTokens)
		case exact && u.Completion.Known && u.Completion.N < limit:
			d.note(underMaxTokens)
		}
	}
	// Some servers count reasoning beside the output, not in it; the name of a
	// called tool may be no token of its own.
	if u.Completion.Known && len(d.arguments) == 0 && int64(len(a.Chunks.At)) > u.Completion.N+u.Reasoning.N {
		d.note(usageBelowChunks)
	}
	if u.Reasoning.N > 0 && a.Thinking == 0 {
		d.note(hiddenReasoning)
	}
}

func (d *decoder) emptiness() {
	a := &d.a
	answer := slices.ContainsFunc(a.Parts, func(p engine.Part) bool { return p.Kind != engine.Reasoning })
	switch {
	case answer:
	case a.FinishReason == "length":
		d.note(emptyLength)
	case len(a.Content) == 0:
		d.note(emptyAnswer)
	}
}
