package openai

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// What is kept of one answer at most, so that no server exhausts the client.
const (
	maxContent = 16 << 20 // bytes of content
	maxRows    = 1 << 20  // content chunks
	maxChoices = 128      // highest choice index, where no more were asked for
	maxRaw     = 32 << 20 // bytes of a body that is no event stream
	maxWords   = 32       // violations or notes
)

// decoder reads one response. While a stream runs it keeps chunks packed,
// about seven bytes each; End lays them out.
type decoder struct {
	d *Driver
	c *engine.Call
	a engine.Answer

	rows    int
	packed  []byte // At (varint difference), bytes, flags, choice
	last    int64  // At of the last packed row
	perRow  []int64
	parts   []engine.Part
	content []byte
	u       surrogates

	choices []choice
	usage   usageSeen
	err     *apiError // error object in an event
	raw     []byte    // a body that is no event stream
	rawAt   wire.Event
	began   bool // an event was seen
	sse     bool // an event had SSE form
	done    bool // [DONE] or a whole body
	tail    bool // the last event had no blank line after it
	tailBad bool // and was no JSON

	arguments []span // of tool calls, in order of arrival

	pieces []engine.Part // of the choice being read
	spans  []span        // the same of its calls' arguments
	// Of the chunk being read: where its last string stood, the choice of its
	// last row, and whether it may serve as a template.
	textFrom, textTo int
	rowChoice        int32
	usual            bool
	role, emptyText  bool // the choice being read has a role; its text is there and empty
	template         template
}

// choice is what is known of one of the answers.
type choice struct {
	index  int32
	finish string
}

// Decoder returns a decoder for one response to c.
func (d *Driver) Decoder(c *engine.Call) engine.Decoder {
	return &decoder{d: d, c: c, a: engine.Answer{FirstEvent: wire.NotReached, UsageAt: wire.NotReached}}
}

func (d *decoder) violation(word string) { d.a.Violations = addWord(d.a.Violations, word) }
func (d *decoder) note(word string)      { d.a.Notes = addWord(d.a.Notes, word) }

func addWord(words []string, word string) []string {
	if len(words) >= maxWords || slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}

// Full tells whether the answer has gone beyond the decoder's bounds.
func (d *decoder) Full() bool { return slices.Contains(d.a.Violations, answerTooLong) }

// Segment decodes the next events.
func (d *decoder) Segment(s *wire.Segment) {
	for _, e := range s.Events {
		d.event(s.Data[e.Start:e.End], e)
	}
}

func (d *decoder) event(b []byte, e wire.Event) {
	if !d.began {
		d.began = true
		b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	}
	if d.tailBad { // it was not the last
		d.tailBad = false
		d.violation(badJSON)
	}
	data, name, form := eventData(b)
	d.tail = form == formUnended
	switch form {
	case formOther:
		d.other(b, e)
		return
	case formOdd:
		d.note(unknownLine)
	}
	d.sse = true
	if data == nil {
		return
	}
	d.payload(data, name, e)
}

// payload reads the data of one event.
func (d *decoder) payload(data, name []byte, e wire.Event) {
	if d.a.FirstEvent == wire.NotReached {
		d.a.FirstEvent = e.At
	}
	if d.done {
		d.note(afterDone)
	}
	if data[0] == '[' && string(bytes.TrimSpace(data)) == "[DONE]" {
		d.done = true
		return
	}
	if string(name) == "error" {
		d.setError(parseError(data))
		return
	}
	if !d.chunk(data, e) {
		if d.tail {
			d.tailBad = true
			return
		}
		d.violation(badJSON)
	}
}

// other keeps a body that is no event stream until End, when the status and
// the framing are known.
func (d *decoder) other(b []byte, e wire.Event) {
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	if d.sse {
		d.violation(badFraming)
		return
	}
	if d.raw == nil {
		d.rawAt = e
		if d.a.FirstEvent == wire.NotReached {
			d.a.FirstEvent = e.At
		}
	} else {
		d.violation(badFraming)
	}
	if len(d.raw)+len(b) > maxRaw {
		d.violation(answerTooLong)
		return
	}
	d.raw = append(d.raw, b...)
}

// state returns what is known of a choice, nil if its index is out of range.
func (d *decoder) state(index int64) *choice {
	for i := range d.choices {
		if int64(d.choices[i].index) == index {
			return &d.choices[i]
		}
	}
	if index < 0 || index >= int64(max(maxChoices, d.d.n)) {
		return nil
	}
	d.choices = append(d.choices, choice{index: int32(index)})
	return &d.choices[len(d.choices)-1]
}

// addRow packs a content chunk that ends at the end of content.
func (d *decoder) addRow(e wire.Event, size int, index int32) {
	if d.packed == nil {
		n := min(max(d.c.MaxTokens, 16), 1024)
		d.packed = make([]byte, 0, 7*n)
	}
	d.packed = binary.AppendVarint(d.packed, e.At-d.last)
	d.packed = binary.AppendUvarint(d.packed, uint64(size))
	d.packed = append(d.packed, e.Flags)
	d.packed = binary.AppendUvarint(d.packed, uint64(index))
	d.last = e.At
	d.rows++
}

// unpack lays the rows out as lists.
func (d *decoder) unpack() {
	n := d.rows
	if n == 0 {
		return
	}
	c := &d.a.Chunks
	c.At, c.Bytes, c.Flags = make([]int64, n), make([]int32, n), make([]uint8, n)
	c.Kind, c.Choice = make([]engine.Kind, n), make([]int32, n)
	b, at := d.packed, int64(0)
	for i := range n {
		step, k := binary.Varint(b)
		size, l := binary.Uvarint(b[k:])
		b = b[k+l:]
		index, m := binary.Uvarint(b[1:])
		at += step
		c.At[i], c.Bytes[i], c.Flags[i], c.Choice[i] = at, int32(size), b[0], int32(index)
		b = b[1+m:]
	}
	d.packed = nil
}
