package openai

import (
	"bytes"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// template is what surrounds the text of a usual chunk: one choice that brings
// one string and nothing else. The chunks of a stream mostly differ in that
// string alone, so that what equals the template around a good string has the
// template's structure and needs no second reading.
type template struct {
	before, after []byte // of the string's inside
	kind          engine.Kind
	choice        int32
	call          int32 // whose arguments the string is a part of; -1: of none
}

// learn takes the chunk just read as the template, if it is a usual one.
func (d *decoder) learn(data []byte, rows int) {
	if d.rows != rows+1 || len(d.pieces) != 1 || !d.usual {
		return
	}
	t := &d.template
	t.before = append(t.before[:0], data[:d.textFrom]...)
	t.after = append(t.after[:0], data[d.textTo:]...)
	t.kind, t.choice, t.call = d.pieces[0].Kind, d.rowChoice, -1
	if len(d.spans) > 0 {
		t.call = d.spans[0].call
	}
}

// match reads a chunk by the template, and reports whether it could.
func (d *decoder) match(data []byte, e wire.Event) bool {
	t := &d.template
	n := len(data) - len(t.before) - len(t.after)
	if n <= 0 || len(t.before) == 0 || d.u.high != 0 ||
		!bytes.HasPrefix(data, t.before) || !bytes.HasSuffix(data, t.after) {
		return false
	}
	raw := data[len(t.before) : len(t.before)+n]
	for _, c := range raw {
		if c == '"' || c == '\\' || c < ' ' {
			return false
		}
	}
	if len(d.content)+n > maxContent || d.rows >= maxRows {
		return false
	}
	c := d.state(int64(t.choice))
	if c == nil {
		return false
	}
	start := len(d.content)
	d.content = append(d.content, raw...)
	d.pieces = append(d.pieces[:0], engine.Part{End: len(d.content), Kind: t.kind})
	d.spans = d.spans[:0]
	if t.call >= 0 {
		d.spans = append(d.spans, span{call: t.call, from: start, to: len(d.content)})
	}
	d.commit(e, start, c)
	return true
}
