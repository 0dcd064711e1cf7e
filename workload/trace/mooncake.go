package trace

import "fmt"

const (
	// mooncakeBlock is the length of blocks in Mooncake's published traces.
	mooncakeBlock = 512
	// bailianBlock is the same of Bailian's.
	bailianBlock = 16
)

// hashTraces are traces that name the blocks of their prompts.
func hashTraces() []format {
	return []format{
		{name: "mooncake", about: "Mooncake: JSON lines of timestamp (ms), input_length, output_length, hash_ids (blocks of 512); also AIPerf's mooncake_trace with texts", shape: objects, deltas: true,
			object: isMooncake,
			open:   func(o *Options) decoder { return &mooncake{options: o, size: o.BlockTokens} }},
		{name: "bailian", about: "Qwen-Bailian: JSON lines of chat_id, parent_chat_id, timestamp (s), input_length, output_length, type, turn, hash_ids (blocks of 16)", shape: objects,
			object: func(o object) bool { return o.has("chat_id", "parent_chat_id", "input_length") },
			open: func(o *Options) decoder {
				size := o.BlockTokens
				if size == 0 {
					size = bailianBlock
				}
				return &bailian{size: size}
			}},
	}
}

func isMooncake(o object) bool {
	return !o.has("chat_id") && (o.has("input_length") || o.has("text_input") ||
		o.has("payload") && o.hasAny("timestamp", "delay", "session_id", "output_length") ||
		o.has("messages") && o.hasAny("output_length", "delay"))
}

// mooncake reads Mooncake's rows, and the same with texts or bodies as AIPerf
// extends them.
type mooncake struct {
	p       objectParser
	options *Options
	size    int64 // of a block; 0: not settled
	turns   sessions
	kind    Turns // settled by the first later turn that tells
	later   bool  // a row was a later turn, of which kind is asked
}

func (d *mooncake) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	o.at(r, millis, "timestamp")
	r.ID, r.Session, r.Model = o.text("id", "request_id"), o.text("session_id"), o.text("model")
	r.Output = o.tokens("output_length")
	r.Tools = int64(len(o.list("tools")))
	d.content(o, r)
	if *o.err != nil {
		out.drop(*o.err)
		return
	}
	if err := d.turn(r); err != nil {
		out.fatal = err
	}
}

// content reads exactly one of a length, a text, messages and a body.
func (d *mooncake) content(o object, r *Row) {
	given := 0
	if o.get("input_length") != nil {
		given++
		r.Input = o.whole(1, MaxTokens, "input_length")
		d.settle(o, r)
		o.blocks(r, "hash_ids", d.size)
	}
	if o.get("text_input") != nil {
		given++
		r.Turns = []Turn{{Messages: []Message{{Role: "user", Text: o.text("text_input")}}}}
	}
	if v := o.get("messages"); v != nil {
		given++
		if o.messages(r, v); r.Tools > 0 && *o.err == nil {
			b := append(v.MarshalTo([]byte(`{"messages":`)), `,"tools":`...)
			o.keep(r, append(o.get("tools").MarshalTo(b), '}'))
			r.Open, r.Turns = true, nil
		}
	}
	if v := o.get("payload"); v != nil {
		given++
		o.body(r, v)
	}
	if given != 1 && *o.err == nil {
		o.fail("expected exactly one of input_length, text_input, messages, payload, found %d of them", given)
	}
}

// settle finds the length of blocks: the published traces' own fits the first
// row that names blocks, or was told.
func (d *mooncake) settle(o object, r *Row) {
	n := int64(len(o.list("hash_ids")))
	if d.size > 0 || n == 0 || *o.err != nil {
		return
	}
	d.size = mooncakeBlock
	if n == (r.Input+mooncakeBlock-1)/mooncakeBlock {
		return
	}
	low := (r.Input + n - 1) / n
	high := r.Input
	if n > 1 {
		high = (r.Input - 1) / (n - 1)
	}
	o.fail("%d hash_ids for %d tokens: the blocks are not of %d tokens; say of how many with --block-tokens (from %d to %d would fit)",
		n, r.Input, mooncakeBlock, low, max(low, high))
	d.size = 0
}

// turn counts the turns of a session and finds out whether they hold their
// new text or the whole prompt: a whole prompt begins with the blocks of the
// turn before.
func (d *mooncake) turn(r *Row) error {
	if r.Session == "" {
		return nil
	}
	before, later := d.turns.next(r)
	if !later {
		return nil
	}
	r.Turn, d.later = before.turn+1, true
	if len(r.Turns) > 0 || r.Body != nil {
		r.Delta = len(r.Turns) > 0 && d.options.Turns != CumulativeTurns
		return nil
	}
	if d.kind == "" {
		d.kind = d.options.Turns
	}
	if d.kind == "" {
		d.kind = before.tells(r)
	}
	if d.kind == "" {
		return fmt.Errorf("the second row of a session may hold its new text or the whole prompt: say which (run --dataset-turns, elsewhere --turns: %s or %s)", DeltaTurns, CumulativeTurns)
	}
	r.Delta = d.kind == DeltaTurns
	return nil
}

// turnBefore is what is kept of a session's last row.
type turnBefore struct {
	turn          int64
	input, output int64
	full          int    // blocks that are not cut short
	front         uint64 // hash of those
	alone         bool   // the row was taken for one of no session
}

// tells finds out what a later row holds; empty where it may be either.
func (b *turnBefore) tells(r *Row) Turns {
	switch {
	case r.Input < b.input:
		return DeltaTurns // a whole prompt does not shrink
	case b.full > 0 && len(r.Blocks) >= b.full && frontOf(r, b.full) == b.front:
		return CumulativeTurns
	case b.full > 0 && len(r.Blocks) > 0:
		return DeltaTurns
	}
	return ""
}

func frontOf(r *Row, n int) uint64 {
	h := uint64(14695981039346656037)
	for _, id := range r.Blocks[:n] {
		h = (h ^ id) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// sessions keep the last turn of the sessions seen lately, in two generations
// so that their number is bounded.
type sessions struct {
	young, old map[string]turnBefore
	late       int64 // rows whose turn before was taken for one of no session
}

// mostSessions is how many sessions a generation holds.
const mostSessions = 1 << 17

// next returns the turn before of a row's session, if there was one, and keeps
// the row in its place.
func (s *sessions) next(r *Row) (before turnBefore, later bool) {
	if before, later = s.young[r.Session]; !later {
		before, later = s.old[r.Session]
	}
	if later && before.alone { // too late: a session begins here
		s.late++
		before, later = turnBefore{}, false
	}
	now := turnBefore{input: r.Input, output: r.Output}
	if later {
		now.turn = before.turn + 1
	}
	if r.BlockTokens > 0 {
		now.full = int(min(int64(len(r.Blocks)), r.Input/r.BlockTokens))
		now.front = frontOf(r, now.full)
	}
	if len(s.young) >= mostSessions || s.young == nil {
		s.old, s.young = s.young, map[string]turnBefore{}
	}
	s.young[r.Session] = now
	return before, later
}

// alone says that the last row of a session was taken for one of none.
func (s *sessions) alone(session string) {
	for _, m := range []map[string]turnBefore{s.young, s.old} {
		if b, ok := m[session]; ok {
			b.alone = true
			m[session] = b
			return
		}
	}
}

// bailian reads Qwen-Bailian's rows: each turn's blocks are of its whole
// prompt.
type bailian struct {
	p    objectParser
	size int64
}

func (d *bailian) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	o.at(r, seconds, "timestamp")
	r.ID, r.Parent = o.text("chat_id"), o.text("parent_chat_id")
	if r.Parent == "-1" {
		r.Parent = ""
	}
	r.Class = o.text("type")
	r.Input = o.whole(1, MaxTokens, "input_length")
	r.Output = o.tokens("output_length")
	r.Turn = max(o.whole(0, 1e9, "turn")-1, 0) // counted from 1
	o.blocks(r, "hash_ids", d.size)
	if r.ID == "" {
		o.fail("expected chat_id")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}
