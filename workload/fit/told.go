package fit

import (
	"fmt"
	"slices"
)

// sessionReport is of all clients together.
func (l *log) sessionReport() *SessionReport {
	if l.sessions.count == 0 {
		return nil
	}
	var thinks, inputs []float64
	turns := l.conversations(allRows(len(l.at)), func(before, now int32) {
		if l.timely(now) {
			thinks = append(thinks, l.think(before, now))
		}
		if l.input[now] > 0 {
			inputs = append(inputs, float64(l.input[now]))
		}
	})
	h := &l.history
	s := &SessionReport{Sessions: int64(len(turns)), FromArrival: l.took == nil && len(thinks) > 0, Told: h.sessions, Later: h.later, Anew: h.anew,
		Independent: float64(h.independent) / float64(max(h.later, 1))}
	kind, why := h.words(l.options.Turns)
	s.History, s.HistoryWhy = string(kind), why
	if h.judged > 0 {
		grown := float64(h.grown) / float64(h.judged)
		s.Grown = &grown
	}
	for how, n := range l.sessions.by {
		if s.By == "" || n > l.sessions.by[s.By] || n == l.sessions.by[s.By] && how < s.By {
			s.By = how
		}
	}
	for _, t := range turns {
		s.Turns += float64(t) / float64(len(turns))
		if t == 1 {
			s.Single += 1 / float64(len(turns))
		}
	}
	if len(thinks) == 0 {
		thinks = slices.Clone(l.thinks)
	}
	slices.Sort(thinks)
	slices.Sort(inputs)
	s.ThinkP50, s.InputP50 = quantileOf(thinks, .5), quantileOf(inputs, .5)
	l.ofClients(s)
	return s
}

// ofClients fills in the means of what the clients' sessions are modelled by.
func (l *log) ofClients(s *SessionReport) {
	jumps, jump := 0, 0.0
	starts := make([]int, len(l.clients))
	for _, r := range l.starts(allRows(len(l.at))) {
		starts[l.client[r]]++
	}
	sessions, turns := 0, 0.0
	for i := range l.clients {
		c := &l.clients[i]
		jump += c.jump * float64(c.jumps)
		jumps += c.jumps
		sessions += starts[i]
		turns += max(c.turns, 1) * float64(starts[i])
	}
	if jumps > 0 {
		jump /= float64(jumps)
		s.Jump = &jump
	}
	s.TurnsUncut = turns / float64(max(sessions, 1))
}

// unsaidShare is the share of later prompts from which on it is said that answers
// do not come back whole.
const unsaidShare = 0.25

// findSessions says where prompts of a session were taken for requests of their
// own.
func (l *log) findSessions(s *SessionReport) {
	if s == nil {
		return
	}
	if l.history.independent > 0 {
		what := "the prompts of later requests of a session"
		if s.History == mixedTurns {
			what = fmt.Sprintf("%s of %s later requests of a session", grouped(l.history.independent), grouped(s.Later))
		}
		l.say("turns without history: %s are taken as requests of their own (%s), which come at the log's rate and do not wait for the answer before", what, s.HistoryWhy)
	}
	if n, of := l.history.unsaid, s.Later-l.history.independent; float64(n) > unsaidShare*float64(of) {
		l.say("%s of %s later prompts are shorter than the prompt before with its answer, of which a part, such as reasoning, does not come back: the log does not tell how much, and the model lets answers come back whole",
			grouped(n), grouped(of))
	}
	if n := l.history.anew; n > 0 {
		l.say("%s of %s later prompts are shorter than those before in their session or do not hold their blocks: each begins another conversation", grouped(n), grouped(s.Later))
	}
}
