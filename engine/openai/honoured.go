package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tokamak-bench/tokamak/engine"
)

// maxCalls bounds the index of a tool call.
const maxCalls = 1 << 16

// span is a part of the arguments of a tool call: content[from:to].
type span struct {
	choice, call int32
	from, to     int
}

// addArguments keeps where arguments stand; mostly they follow each other.
func (d *decoder) addArguments(s span) {
	if n := len(d.arguments); n > 0 {
		if l := &d.arguments[n-1]; l.choice == s.choice && l.call == s.call && l.to == s.from {
			l.to = s.to
			return
		}
	}
	d.arguments = append(d.arguments, s)
}

// toolJSON notes arguments of a call that are no JSON, unless the length cut
// them.
func (d *decoder) toolJSON() {
	if len(d.arguments) == 0 {
		return
	}
	type call struct{ choice, call int32 }
	texts := map[call][]byte{}
	for _, s := range d.arguments {
		k := call{s.choice, s.call}
		texts[k] = append(texts[k], d.a.Content[s.from:s.to]...)
	}
	for k, text := range texts {
		s := scanner{b: text}
		s.skip()
		if !s.end() && d.finishOf(k.choice) != "length" {
			d.note(badToolJSON)
			return
		}
	}
}

func (d *decoder) finishOf(index int32) string {
	for _, ch := range d.choices {
		if ch.index == index {
			return ch.finish
		}
	}
	return ""
}

// reasons notes finish reasons that cannot be.
func (d *decoder) reasons() {
	a, u := &d.a, &d.a.Usage
	for _, ch := range d.choices {
		switch ch.finish {
		case "stop", "content_filter":
		case "length":
			if limit, sure := d.lengthAsked(); sure && len(d.choices) == 1 && u.Completion.Known && u.Completion.N < limit {
				d.note(lengthUnreached)
			}
		case "tool_calls", "function_call":
			if !slices.ContainsFunc(a.Parts, func(p engine.Part) bool { return p.Kind == engine.Tool && p.Choice == ch.index }) {
				d.note(noToolCall)
			}
		default:
			d.note(finishUnknown)
		}
	}
}

// asked returns a field of the request as it was sent, nil where it had none
// and this driver does not write it by itself.
func (d *decoder) asked(name string) json.RawMessage {
	if v, ok := d.d.extra[name]; ok {
		return v
	}
	if !bytes.Contains(d.c.Body, []byte(`"`+name+`"`)) { // cheaper than reading a long prompt
		return nil
	}
	fields, _ := topFields(d.c.Body)
	for _, f := range fields {
		if string(f.name) == name {
			return f.value
		}
	}
	return nil
}

// lengthAsked is the most tokens that a choice may have, 0 for no limit; sure
// tells whether the request said so. A whole body that does not has the length
// that its author expects.
func (d *decoder) lengthAsked() (tokens int64, sure bool) {
	for _, name := range []string{fieldMaxCompletion, fieldMaxTokens} {
		if s := (scanner{b: d.asked(name)}); len(s.b) > 0 {
			if n, ok := s.integer(); ok && n > 0 {
				return n, true
			}
		}
	}
	return d.c.MaxTokens, len(d.c.Body) == 0 || d.c.Open
}

// choicesAsked is how many choices the answer ought to have, 0 where that
// hangs on more than one field.
func (d *decoder) choicesAsked() int {
	switch {
	case len(d.c.Body) == 0:
		return d.d.n
	case d.d.api == APICompletions && !bytes.HasPrefix(d.asked("prompt"), []byte(`"`)):
		return 0 // times the prompts of a list
	}
	var n int
	if json.Unmarshal(d.asked("n"), &n) == nil && n > 0 {
		return n
	}
	return 1
}

// stops notes text that has a stop string in it which was not asked to stay.
func (d *decoder) stops() {
	words := stopStrings(d.asked("stop"))
	if len(words) == 0 || string(d.asked("include_stop_str_in_output")) == "true" {
		return
	}
	for _, ch := range d.choices {
		text := d.a.Text(ch.index)
		if slices.ContainsFunc(words, func(w string) bool { return w != "" && bytes.Contains(text, []byte(w)) }) {
			d.note(stopIgnored)
			return
		}
	}
}

// stopStrings reads a string, a list of strings, or nothing.
func stopStrings(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(raw, &many) // anything else is the server's to refuse
	return many
}

// The tolerance of [UnlikeCount]: the token that ends a text is counted but
// has no text, and texts can be cut into tokens in more than one way.
const (
	countSlack = 3
	countShare = 0.05
)

// UnlikeCount returns the note of an answer whose usage differs from counted,
// the tokens of its content by the model's own tokenizer, by more than 3 tokens
// and 5 % of the usage; empty if it does not, or if there is nothing to compare: a call's
// frame and hidden reasoning are tokens that no text shows.
func UnlikeCount(a *engine.Answer, counted int64) string {
	u := a.Usage
	if !u.Completion.Known || a.Failure != engine.Whole || u.Reasoning.N > 0 && a.Thinking == 0 ||
		slices.ContainsFunc(a.Parts, func(p engine.Part) bool { return p.Kind == engine.Tool }) {
		return ""
	}
	off := max(u.Completion.N-counted, counted-u.Completion.N)
	if off <= countSlack || float64(off) <= countShare*float64(u.Completion.N) {
		return ""
	}
	return usageUnlikeCount
}
