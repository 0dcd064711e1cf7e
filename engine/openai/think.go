package openai

import (
	"bytes"

	"github.com/tokamak-bench/tokamak/engine"
)

var (
	thinkOpen  = []byte("<think>")
	thinkClose = []byte("</think>")
)

// think finds reasoning that came as <think>...</think> inside the text, and
// makes it parts of their own. The tags count as reasoning. It works on the
// whole text of a choice, so it does not matter how chunks cut the tags.
func (d *decoder) think() {
	a := &d.a
	if len(d.choices) < 2 && !bytes.Contains(a.Content, []byte("think>")) {
		return
	}
	for _, ch := range d.choices {
		text := joined(a, ch.index, engine.Text)
		from, to, word := thinkRange(text)
		if word == "" || word == thinkUnopened && d.reasoned(ch.index) {
			continue
		}
		d.note(word)
		a.Parts = split(a.Parts, ch.index, from, to)
	}
}

// thinkRange returns which bytes of a text are reasoning, and the note.
func thinkRange(text []byte) (from, to int, word string) {
	end := bytes.Index(text, thinkClose)
	start := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if bytes.HasPrefix(text[start:], thinkOpen) {
		if end < 0 {
			return start, len(text), thinkTags
		}
		return start, end + len(thinkClose), thinkTags
	}
	// The opening tag may be part of the prompt.
	if end >= 0 && !bytes.Contains(text[:end], thinkOpen) {
		return 0, end + len(thinkClose), thinkUnopened
	}
	return 0, 0, ""
}

func (d *decoder) reasoned(choice int32) bool {
	for _, p := range d.a.Parts {
		if p.Choice == choice && p.Kind == engine.Reasoning {
			return true
		}
	}
	return false
}

// split makes the bytes from..to of a choice's text reasoning.
func split(parts []engine.Part, choice int32, from, to int) []engine.Part {
	var out []engine.Part
	add := func(p engine.Part) {
		if n := len(out); n > 0 && out[n-1].Kind == p.Kind && out[n-1].Choice == p.Choice {
			out[n-1].End = p.End
			return
		}
		out = append(out, p)
	}
	start, seen := 0, 0 // offset in the content; bytes of the choice's text before it
	for _, p := range parts {
		if p.Choice != choice || p.Kind != engine.Text {
			add(p)
			start = p.End
			continue
		}
		size := p.End - start
		lo, hi := min(max(from-seen, 0), size), min(max(to-seen, 0), size)
		if lo > 0 {
			add(engine.Part{End: start + lo, Kind: engine.Text, Choice: choice})
		}
		if hi > lo {
			add(engine.Part{End: start + hi, Kind: engine.Reasoning, Choice: choice})
		}
		if size > hi {
			add(engine.Part{End: p.End, Kind: engine.Text, Choice: choice})
		}
		start, seen = p.End, seen+size
	}
	return out
}
