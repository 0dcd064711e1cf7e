package fit

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// fiveSessions are 11 requests of 5 sessions, whole prompts and answers of 10:
//
//	a   0 s  100      5 s  150     14 s  250    new text of 40 and 90
//	b  20 s   50
//	c  30 s   60     37 s  not told
//	d  50 s  not told  52 s  2
//	e  60 s  500     80 s  100    another conversation
//	f  90 s   10                  without a session
func fiveSessions(t *testing.T, took time.Duration) *log {
	t.Helper()
	l := newLog(Options{Turns: trace.CumulativeTurns})
	for i, r := range []trace.Row{{Session: "a", At: 0, Input: 100}, {Session: "a", At: 5, Input: 150}, {Session: "a", At: 14, Input: 250}, {Session: "b", At: 20, Input: 50},
		{Session: "c", At: 30, Input: 60}, {Session: "c", At: 37}, {Session: "d", At: 50}, {Session: "d", At: 52, Input: 2}, {Session: "e", At: 60, Input: 500},
		{Session: "e", At: 80, Input: 100}, {At: 90, Input: 10}} {
		r.Timed, r.At, r.Output, r.Duration = true, r.At*1e9+int64(i*i), 10, took // of no clock of whole seconds
		if err := l.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	l.finish()
	return l
}

// By hand: 7 conversations of 3, 1, 2, 2, 1, 1 and 1 turns; waits of 5, 9, 7 and
// 2 s; new text of 40, 90 and 2 tokens; 5 later requests, of which 3 can be judged and 2 grow.
func TestSessionReportByHand(t *testing.T) {
	l := fiveSessions(t, 0)
	l.clients[0].jump, l.clients[0].jumps, l.clients[0].turns = .5, 2, 3 // as a fit leaves them
	s := l.sessionReport()
	if s.Sessions != 7 || !about(s.Turns, 11./7) || !about(s.Single, 4./7) {
		t.Errorf("%d conversations of %v turns, %v of one", s.Sessions, s.Turns, s.Single)
	}
	if s.Told != 5 || s.Later != 5 || s.Anew != 1 || *s.Grown != 2./3 || s.Independent != 0 || s.History != string(trace.CumulativeTurns) || s.HistoryWhy != "as asked" {
		t.Errorf("%+v, %v grow", s, *s.Grown)
	}
	if !about(*s.ThinkP50, 5) || *s.InputP50 != 40 || *s.Jump != .5 || s.TurnsUncut != 3 || !s.FromArrival {
		t.Errorf("waits of %v s, new text of %v, jump %v: %+v", *s.ThinkP50, *s.InputP50, *s.Jump, s)
	}
	// Answers that took 2 s are no part of the wait before the next request.
	if s = fiveSessions(t, 2*time.Second).sessionReport(); !about(*s.ThinkP50, 3) || s.FromArrival {
		t.Errorf("waits of %v s after the answers: %+v", *s.ThinkP50, s)
	}
	// Half of the later requests that hold no history are 2 of 4, whatever could be judged.
	l.history = history{later: 4, judged: 3, independent: 2}
	l.sessions.by = map[string]int64{"z": 3, "c": 7, "b": 7, "d": 7, "a": 1}
	for range 20 { // in any order of the map
		if s = l.sessionReport(); s.By != "b" || s.Independent != .5 {
			t.Fatalf("by %s, %v independent", s.By, s.Independent)
		}
	}
}

// about is to six digits.
func about(x, want float64) bool { return math.Abs(x-want) < 1e-6*want }

// What a report finds of sessions, at its limits and beyond.
func TestFindingsOfSessions(t *testing.T) {
	const unsaid = " later prompts are shorter than the prompt before with its answer"
	for _, c := range []struct {
		history history
		kind    trace.Turns
		want    []string
	}{
		{history{}, trace.CumulativeTurns, nil},
		{history{unsaid: 25}, trace.CumulativeTurns, nil},
		{history{unsaid: 26}, trace.CumulativeTurns, []string{"26 of 100" + unsaid}},
		{history{unsaid: 1}, trace.CumulativeTurns, nil},
		{history{unsaid: 21, independent: 20}, mixedTurns, []string{"turns without history: 20 of 100 later requests of a session are taken as requests of their own (why)", "21 of 80" + unsaid}},
		{history{independent: 100}, IndependentTurns, []string{"turns without history: the prompts of later requests of a session are taken as requests of their own (why)"}},
		{history{anew: 1}, trace.CumulativeTurns, []string{"1 of 100 later prompts are shorter than those before"}},
	} {
		l := newLog(Options{})
		l.history = c.history
		l.findSessions(&SessionReport{Later: 100, History: string(c.kind), HistoryWhy: "why"})
		ok := len(l.findings) == len(c.want)
		for i, w := range c.want {
			ok = ok && strings.HasPrefix(l.findings[i], w)
		}
		if !ok {
			t.Errorf("%+v: %q, want %q", c.history, l.findings, c.want)
		}
	}
}
