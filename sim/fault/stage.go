package fault

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// newStage returns what a fault does to an answer; nil: nothing.
func newStage(s *Set, a *answer, h *Hit) stage {
	switch h.Definition.Name {
	case "usage_wrong":
		return each(func(e event) event { e.data = recount(e.data, int64(h.value("by"))); return e })
	case "usage_missing":
		return each(func(e event) event { e.data = splice(e.data, []byte("null"), "usage"); return e })
	case "garbage":
		return each(func(e event) event { return e.say("!!!") })
	case "chunk_missing", "chunk_duplicate", "chunk_reorder":
		return &shuffle{what: h.Definition.Name, at: int(h.value("chunk"))}
	case "no_end":
		return &endless{}
	case "split_utf8":
		return &splitter{at: int(h.value("chunk"))}
	case "error_after_200", "cut":
		return &breaker{answer: a, after: int(h.value("after")), cut: h.Definition.Name == "cut"}
	case "cache_poison":
		return s.poisoner()
	}
	return nil
}

// each changes every event by itself.
type each func(event) event

func (f each) event(e event) []event { return []event{f(e)} }
func (f each) end() []event          { return nil }

// textKeys are the names under which the APIs keep an answer's text.
var textKeys = []string{"content", "text", "text_output", "response", "delta", "generated_text"}

// text returns the text of an event; ok tells whether it is a content chunk.
func (e *event) text() (text string, ok bool) {
	start, end := locate(e.data, textKeys...)
	if start < 0 || json.Unmarshal(e.data[start:end], &text) != nil {
		return "", false
	}
	return text, text != ""
}

// say returns the event with another text, where it has one.
func (e event) say(text string) event {
	if _, ok := e.text(); ok {
		if q, err := json.Marshal(text); err == nil {
			e.data = splice(e.data, q, textKeys...)
		}
	}
	return e
}

// shuffle loses, doubles or delays the content chunk of a number.
type shuffle struct {
	what    string
	at, n   int
	delayed []event
}

func (s *shuffle) event(e event) []event {
	if _, ok := e.text(); !ok {
		return []event{e}
	}
	s.n++
	switch {
	case s.delayed != nil:
		out := append([]event{e}, s.delayed...)
		s.delayed = nil
		return out
	case s.n != s.at:
		return []event{e}
	case s.what == "chunk_missing":
		return nil
	case s.what == "chunk_duplicate":
		return []event{e, e}
	}
	s.delayed = []event{e}
	return nil
}

func (s *shuffle) end() []event { return s.delayed }

// endless keeps the last event back.
type endless struct{ last []event }

func (s *endless) event(e event) []event {
	out := s.last
	s.last = []event{e}
	return out
}

func (s *endless) end() []event { return nil }

// splitter adds é to the text, the first of its bytes at the end of one chunk
// and the second at the beginning of the next.
type splitter struct{ at, n int }

func (s *splitter) event(e event) []event {
	start, end := locate(e.data, textKeys...)
	if _, ok := e.text(); !ok {
		return []event{e}
	}
	s.n++
	var q []byte
	switch s.n {
	case s.at:
		q = append(bytes.Clone(e.data[start:end-1]), "\xc3\""...)
	case s.at + 1:
		q = append([]byte("\"\xa9"), e.data[start+1:end]...)
	default:
		return []event{e}
	}
	e.data = splice(e.data, q, textKeys...)
	return []event{e}
}

func (s *splitter) end() []event { return nil }

// breaker ends an answer early: by an error object, or by closing the connection.
type breaker struct {
	answer   *answer
	after, n int
	cut      bool
}

func (s *breaker) event(e event) []event {
	if s.answer.broken != nil {
		return nil
	}
	if _, ok := e.text(); !ok || s.n < s.after {
		if ok {
			s.n++
		}
		return []event{e}
	}
	s.answer.broken, s.answer.abort = errCut, s.cut
	switch {
	case s.cut:
		return nil
	case s.answer.framing == jsonLines:
		return []event{{data: []byte(`{"error":"` + failed + "\"}\n")}}
	case !s.answer.marked:
		return []event{{data: []byte(`data: {"error":"` + failed + "\",\"error_type\":\"incomplete_generation\"}\n\n")}}
	}
	return []event{{data: []byte(`data: {"error":{"message":"` + failed + `","type":"InternalServerError","param":null,"code":500}}` + "\n\n")},
		{data: []byte("data: [DONE]\n\n")}}
}

// failed is what an engine says that fails on purpose.
const failed = "the engine failed on purpose"

func (s *breaker) end() []event { return nil }

// maxPoison bounds the text kept of an earlier answer, in chunks.
const maxPoison = 4096

// poisoned puts the text of an earlier session's answer in the place of this
// one's, and keeps this one's own for a later one.
type poisoned struct {
	set      *Set
	old, own []string
}

func (s *Set) poisoner() stage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &poisoned{set: s, old: s.poison}
}

func (p *poisoned) event(e event) []event {
	text, ok := e.text()
	if !ok {
		return []event{e}
	}
	if n := len(p.own); n < maxPoison {
		p.own = append(p.own, text)
		if len(p.old) > 0 {
			e = e.say(p.old[n%len(p.old)])
		}
	}
	return []event{e}
}

func (p *poisoned) end() []event {
	p.set.mu.Lock()
	defer p.set.mu.Unlock()
	p.set.poison = p.own
	return nil
}

// countKeys are the names under which the APIs count the answer's tokens.
var countKeys = []string{"completion_tokens", "output_tokens", "generated_tokens", "eval_count", "tokens_predicted"}

// recount adds to the count of output tokens, and to the sum where it is told.
func recount(data []byte, by int64) []byte {
	for _, key := range append(countKeys[:len(countKeys):len(countKeys)], "total_tokens") {
		start, end := locate(data, key)
		if start < 0 {
			continue
		}
		n, err := strconv.ParseInt(string(data[start:end]), 10, 64)
		if err == nil {
			data = splice(data, strconv.AppendInt(nil, max(n+by, 0), 10), key)
		}
	}
	return data
}

func splice(data, value []byte, keys ...string) []byte {
	start, end := locate(data, keys...)
	if start < 0 {
		return data
	}
	out := make([]byte, 0, len(data)+len(value))
	out = append(out, data[:start]...)
	out = append(out, value...)
	return append(out, data[end:]...)
}
