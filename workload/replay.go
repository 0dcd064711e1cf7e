package workload

import (
	"fmt"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// sendable tells whether a row has content, or the length of one.
func sendable(w *trace.Row) bool { return w.Input > 0 || len(w.Turns) > 0 || w.Body != nil }

// replay is a recorded session under way.
type replay struct {
	*recorded
	row     *trace.Row
	turns   []trace.Turn
	request Request
	index   uint64
	turn    int64
	history []Message
	lengths bool  // turns are lengths, without texts
	tokens  int64 // of history, of a session of lengths
	reused  int64 // of them, those that the turn under way can reuse
}

// replay makes a session of a row.
func (r *recorded) replay(w *trace.Row, index uint64) Session {
	w = w.Clone()
	s := &replay{row: w, request: Request{Class: w.Class, Tenant: r.names.tenant(w.Tenant), SessionID: r.names.session(w.Session), SourceID: w.ID, Turn: w.Turn,
		OutputTokens: w.Asked(), Text: r.class.Text, Body: w.Body, Open: w.Open, Held: w.Held}, turns: w.Turns, recorded: r, index: index}
	if s.request.Class == "" {
		s.request.Class = r.class.Name
	}
	if s.request.Tenant == "" {
		s.request.Tenant = r.class.Tenant
	}
	switch {
	case lengths(w):
		s.lengths = true
	case len(w.Turns) > 1 && !r.Dataset.Conversations:
		s.turns = w.Turns[:1]
	}
	r.odd.count(w, r.Dataset)
	if len(w.Held) > 0 {
		s.request.Lost = r.Dataset.image(w, stat.Key(s.salted(), "lost", index))
	}
	if len(w.Turns) == 1 || w.Body != nil {
		s.request.InputTokens = w.Input // as the log says
	}
	s.remember()
	return s
}

// remember puts in front of a row of new text what its session said before,
// and keeps the row for those that follow. What was answered is not in a
// trace: text of the recorded length, less what was reasoned, stands for it.
func (s *replay) remember() {
	w := s.row
	if w.Session == "" || w.Body != nil || len(w.Turns) > 1 || !s.rows.Deltas() {
		if (len(w.Turns) == 0 || s.lengths) && w.Body == nil {
			s.history = []Message{s.fromLengths(&s.request)}
		}
		return
	}
	if w.Delta {
		s.history = slices.Clone(s.past.of(w.Session))
		s.request.InputTokens = 0 // the log's is of the new text alone
	}
	before := len(s.history)
	if len(w.Turns) == 0 {
		m := s.fromLengths(&s.request)
		s.history = append(s.history, m)
	} else {
		s.history = append(s.history, s.said(&w.Turns[0])...)
	}
	answer := Message{Role: "assistant", Blocks: []Block{{ID: stat.Key(s.salted(), "answer", s.index), Tokens: w.Output - w.Reasoning}}}
	if w.Output <= w.Reasoning {
		answer.Blocks = nil
	}
	kept := append(slices.Clone(s.history), answer)
	if answer.Blocks == nil {
		kept = kept[:len(kept)-1]
	}
	s.past.keep(w.Session, kept)
	if len(w.Turns) > 0 {
		s.history = s.history[:before] // Next adds the turn
	}
}

// said are the messages of a turn.
func (s *replay) said(t *trace.Turn) []Message {
	list := make([]Message, len(t.Messages))
	for i, m := range t.Messages {
		list[i] = Message{Role: m.Role, Text: m.Text}
		s.show(&list[i], &t.Messages[i], s.index<<24|uint64(s.turn)<<10|uint64(i))
	}
	if w := s.row; s.turn == 0 && len(list) > 0 && !referred(w) {
		s.attach(&list[len(list)-1], w.Images, w.Audios, w.Videos, "shown", s.index)
	}
	return list
}

// Next returns the session's next turn.
func (s *replay) Next(answer *Answer) (*Request, bool) {
	turns := int64(max(len(s.turns), 1))
	if s.turn > 0 && (answer == nil || s.turn >= turns) {
		return nil, false
	}
	if s.turn > 0 {
		said, reused := answer.said()
		s.history = append(s.history, said.message())
		s.reused = s.tokens + reused
		s.tokens += said.Tokens
	}
	r := s.request
	r.Turn += s.turn
	if turns > 1 && r.SessionID == "" {
		r.SessionID = fmt.Sprint(s.index)
	}
	r.Reasons, r.Reasoning = s.reasoning()
	switch {
	case s.lengths:
		s.written(&r, &s.turns[s.turn])
	case len(s.turns) > 0:
		s.text(&r, &s.turns[s.turn])
	}
	if r.Body == nil {
		r.Messages = slices.Clone(s.history)
	}
	if r.OutputTokens == 0 && s.recorded.class.Output != nil {
		r.OutputTokens = whole(s.recorded.class.Output.Sample(stat.Random(s.seed, "output", s.index<<20|uint64(s.turn))), MaxTokens)
	}
	if d := s.recorded.class.Patience; d != nil {
		r.Patience = max(seconds(d.Sample(stat.Random(s.seed, "patience", s.index<<20|uint64(s.turn)))), leastPatience)
	}
	s.turn++
	return &r, true
}

// reasoning tells whether it is known of the turn's answer if it had reasoning,
// and of how many tokens. A row's own is of its first turn.
func (s *replay) reasoning() (told bool, tokens int64) {
	switch {
	case s.lengths && s.turn > 0:
		t := &s.turns[s.turn]
		told, tokens = t.ReasoningTold, t.Reasoning
	case s.turn == 0:
		told, tokens = tells(s.row), s.row.Reasoning
	}
	if !told {
		return false, 0
	}
	return true, tokens
}

// text puts a recorded turn at the end.
func (s *replay) text(r *Request, t *trace.Turn) {
	said := len(s.history)
	s.history = append(s.history, s.said(t)...)
	if s.turn == 0 && s.Dataset.Salt {
		s.history[said].Text = fmt.Sprintf("%016x\n", stat.Key(s.salted(), "salt", s.index)) + s.history[said].Text
	}
	if s.turn > 0 {
		r.Think = t.Think
		r.OutputTokens = 0 // the row's is of its first turn
	}
	if t.Output > 0 {
		r.OutputTokens = t.Output
	}
	if r.OutputTokens == 0 && t.Answer != "" {
		r.OutputTokens = s.length(t.Answer)
	}
}

// written puts a turn of a recorded length at the end. The first stands there
// already.
func (s *replay) written(r *Request, t *trace.Turn) {
	if s.turn == 0 {
		s.tokens = r.InputTokens
		return
	}
	r.SharedTokens = s.reused
	b := Block{ID: stat.Key(s.salted(), "turn", s.index<<14|uint64(s.turn)), Tokens: t.Input}
	m := Message{Role: "user", Blocks: []Block{b}}
	s.attach(&m, t.Images, 0, 0, "turn", s.index<<14|uint64(s.turn))
	s.history = append(s.history, m)
	s.tokens += b.Tokens
	r.InputTokens, r.OutputTokens, r.Think = s.tokens, t.Output, t.Think
}

// salted is the seed of this run's texts.
func (s *replay) salted() uint64 { return s.seed ^ stat.Key(s.Salt, "salt", 0) }

// fromLengths makes a prompt of the recorded length: of named blocks where the
// trace has them, else of text of its own. What was said before counts into
// the request's lengths.
func (s *replay) fromLengths(r *Request) Message {
	leading := true
	for _, m := range s.history {
		for _, b := range m.Blocks {
			s.sends(r, b, b.Tokens, &leading)
		}
	}
	m := Message{Role: "user"}
	left := s.row.Input
	for _, id := range s.row.Blocks {
		b := Block{ID: stat.Key(s.salted(), "hash", id), Tokens: min(left, s.row.BlockTokens)}
		s.sends(r, b, s.row.BlockTokens, &leading)
		m.Blocks = append(m.Blocks, b)
		left -= b.Tokens
	}
	if left > 0 {
		b := Block{ID: stat.Key(s.salted(), "trace", s.index), Tokens: left}
		if s.row.Session != "" && s.rows.Deltas() {
			s.sends(r, b, left, &leading)
		} else {
			r.InputTokens += left
		}
		m.Blocks = append(m.Blocks, b)
	}
	s.attach(&m, s.row.Images, s.row.Audios, s.row.Videos, "shown", s.index)
	return m
}

// sends counts a block into a request: what of it was sent before behind the
// same front can be reused. A block shorter than full ends what is shared.
func (s *replay) sends(r *Request, b Block, full int64, leading *bool) {
	before := min(s.hashes[b.ID], b.Tokens)
	r.InputTokens += b.Tokens
	if *leading {
		r.SharedTokens += before
	}
	*leading = *leading && before == full
	s.hashes[b.ID] = max(s.hashes[b.ID], b.Tokens)
}

// length counts a recorded answer: a fourth of its bytes where nothing counts.
func (s *replay) length(answer string) int64 {
	if s.Dataset.Count != nil {
		if n, err := s.Dataset.Count.Count(answer); err == nil {
			return int64(max(n, 1))
		}
	}
	return int64(max(len(answer)/4, 1))
}
