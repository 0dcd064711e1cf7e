package fit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// By hand: of n prompts that have nothing to do with each other a half is longer
// than the one before, within 2.5 · 1/2√n, which of 100 is .125, of many .1 and of
// few .25.
func TestAloneByHand(t *testing.T) {
	for _, c := range []struct {
		judged, grown int32
		alone         bool
	}{{4, 2, true}, {4, 3, false}, {100, 62, true}, {100, 63, false}, {10_000, 5999, true}, {10_000, 6000, false}, {0, 0, true}, {1, 1, false}} {
		if got := (turnsOf{c.judged, c.grown}).alone(); got != c.alone {
			t.Errorf("%d of %d: %v", c.grown, c.judged, got)
		}
	}
}

// Among sessions of a history one is judged by its own where fewer than half of
// three or more of its later prompts grow; among sessions without, where all of
// five or more do and there are clearly more of those than chance makes, which makes
// one in 720 of those with five.
func TestSessionsByTheirOwn(t *testing.T) {
	log := func(kinds ...string) *log {
		l := newLog(Options{})
		n := int64(0)
		for s, kind := range kinds {
			input := int64(10_000)
			for i := range len(kind) + 1 {
				if i > 0 {
					switch kind[i-1] {
					case '+':
						input += 100
					case '-':
						input -= 100
					case '=', '?', '!':
					}
				}
				r := trace.Row{Timed: true, At: n*1e9 + n*n%97, Session: fmt.Sprint(s), Input: input, Output: 1}
				switch {
				case i > 0 && kind[i-1] == '?':
					r.Input = 0
				case i > 0 && kind[i-1] == '!': // fails, and is longer than any
					r.Failed, r.Input = true, 20_000
				}
				if err := l.add(&r); err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
		return l
	}
	many := func(n int, kind string) []string { return slices.Repeat([]string{kind}, n) }
	growing, mixed := many(100, "+++++"), many(100, "+-+-+-")
	for _, c := range []struct {
		among []string
		kind  string
		alone bool
	}{
		{growing, "--", false}, {growing, "+--", true}, {growing, "++-", false}, {growing, "+-+-", false}, {growing, "+---", true},
		{growing, "?--", false}, {growing, "+!-", false}, {growing, "!+!-!-", true}, {growing, "!+!+!-", false}, {growing, "+=-", true}, {growing, "===", true},
		{slices.Concat(mixed, many(8, "+++++")), "+++++", false}, {slices.Concat(mixed, many(8, "+++++")), "++++", true},
		{slices.Concat(mixed, many(8, "+++++")), "+++++-", true}, {slices.Concat(mixed, many(2, "+++++")), "+++++", true}, {mixed, "+++++", true},
		{slices.Concat(many(600, "+-+--"), many(8, "+++++")), "+++++", false}, {slices.Concat(many(600, "+-+--"), many(4, "+++++")), "+++++", true},
	} {
		l := log(append(slices.Clone(c.among), c.kind)...)
		alone := l.independent(nil)
		if got := alone[len(alone)-1]; got != c.alone {
			t.Errorf("%s among %d of %s …: %v, want %v", c.kind, len(c.among), c.among[0], got, c.alone)
		}
	}
}

// Blocks tell whether a prompt goes on with the one before, else its length does.
func TestGrowsByBlocksOrLength(t *testing.T) {
	l := newLog(Options{})
	l.input = []int32{50, 40, 50, 51, 60}
	l.flags = slices.Repeat([]uint8{0}, 5)
	if l.flags[1], l.flags[4] = flagExtends, flagApart; l.grows(0, 1) != true || l.grows(0, 4) != false {
		t.Error("blocks do not tell")
	}
	if l.grows(0, 2) || !l.grows(0, 3) {
		t.Error("of equal prompts none grows, and one more token is growth")
	}
}

// How turns are said to be taken, and by which rule.
func TestWordsOfTurns(t *testing.T) {
	const share = "60 % of them are longer than the prompt before"
	for _, c := range []struct {
		history history
		asked   trace.Turns
		kind    trace.Turns
		why     string
	}{
		{history{}, "", "", ""},
		{history{later: 10, judged: 10, grown: 6}, "", trace.CumulativeTurns, share},
		{history{later: 10, delta: 5, judged: 5, grown: 3}, "", trace.CumulativeTurns, share},
		{history{later: 10, delta: 6, judged: 4, grown: 3}, "", trace.DeltaTurns, "6 of the log's rows hold the new text of a turn alone"},
		{history{later: 10, delta: 10}, "", trace.DeltaTurns, "the log's rows hold the new text of a turn alone"},
		{history{later: 10, independent: 10, judged: 10, grown: 6}, "", IndependentTurns, share + ", which is no more than chance makes"},
		{history{later: 10, delta: 4, independent: 6, judged: 5, grown: 3}, "", IndependentTurns, share + ", which is no more than chance makes"},
		{history{later: 10, independent: 6, judged: 10, grown: 6}, "", mixedTurns, share + ", in some sessions more than chance makes, in others not"},
		{history{later: 10}, "", trace.CumulativeTurns, "the log tells no two prompt lengths of a session to judge by"},
		{history{later: 10, judged: 10, grown: 1}, trace.CumulativeTurns, trace.CumulativeTurns, "as asked"},
		{history{later: 10, judged: 10, grown: 6}, trace.DeltaTurns, trace.CumulativeTurns, "told by blocks, which hold what came before, although delta was asked for"},
		{history{later: 10, delta: 10}, trace.CumulativeTurns, trace.DeltaTurns, "some of the log's rows hold the new text of a turn alone, although cumulative was asked for"},
	} {
		if kind, why := c.history.words(c.asked); kind != c.kind || why != c.why {
			t.Errorf("%+v, asked %q: %s, %s; want %s, %s", c.history, c.asked, kind, why, c.kind, c.why)
		}
	}
}

// By hand, at the limits: after 100 and an answer of 10 a prompt of 110 holds both
// and has no new text but the one token that each has, and 109 lacks a token of the
// answer; the same prompt again goes on with its conversation; and an answer of 3
// tokens with 2 of reasoning comes back as 1.
func TestHistoryAtItsLimits(t *testing.T) {
	unfolded := func(rows ...trace.Row) *log {
		l := newLog(Options{Turns: trace.CumulativeTurns})
		for i, r := range rows {
			if r.Timed, r.At, r.Session = true, int64(i)*1e9+int64(i*i), "s"; r.Output == 0 {
				r.Output = 10
			}
			if err := l.add(&r); err != nil {
				t.Fatal(err)
			}
		}
		l.finish()
		return l
	}
	for k, c := range []struct {
		rows         []trace.Row
		input        []int32
		unsaid, anew int64
	}{
		{[]trace.Row{{Input: 100}, {Input: 110}}, []int32{100, 1}, 0, 0},
		{[]trace.Row{{Input: 100}, {Input: 109}}, []int32{100, 1}, 1, 0},
		{[]trace.Row{{Input: 100}, {Input: 130}, {Input: 130}}, []int32{100, 20, 1}, 1, 0},
		{[]trace.Row{{Input: 100, Output: 3, Reasoning: 2}, {Input: 110}}, []int32{100, 9}, 0, 0},
		// A failed turn has no answer: the next goes on with what was before it.
		{[]trace.Row{{Input: 100}, {Input: 150, Failed: true}, {Input: 120}}, []int32{100, 40, 10}, 0, 0},
		// 105 holds 60 and its answer, but 100 without all of its own; 70 goes on with
		// neither, and 300 with the longest.
		{[]trace.Row{{Input: 100}, {Input: 60}, {Input: 105}, {Input: 70}, {Input: 300}}, []int32{100, 60, 35, 70, 185}, 0, 2},
		{[]trace.Row{{Input: 100}, {Input: 60}, {Input: 60}}, []int32{100, 60, 1}, 1, 1},
		// 1000 and its answer of 500 may be all of 1500, but 1499 goes on with 900.
		{[]trace.Row{{Input: 1000, Output: 500}, {Input: 900}, {Input: 1500}}, []int32{1000, 900, 1}, 0, 1},
		{[]trace.Row{{Input: 1000, Output: 500}, {Input: 900}, {Input: 1499}}, []int32{1000, 900, 589}, 0, 1},
	} {
		if l := unfolded(c.rows...); !slices.Equal(l.input, c.input) || l.history.unsaid != c.unsaid || l.history.anew != c.anew {
			t.Errorf("case %d: new text %v, %d unsaid, %d anew; want %v, %d, %d", k, l.input, l.history.unsaid, l.history.anew, c.input, c.unsaid, c.anew)
		}
	}
}

// A client is divided where there are a hundred of both kinds.
func TestFewStayTogether(t *testing.T) {
	for _, c := range []struct{ talks, alone, clients int }{{100, 100, 2}, {99, 150, 1}, {150, 99, 1}} {
		r := rand.New(rand.NewPCG(3, 4))
		alone := senderOf(func(r *rand.Rand, _, _ int64) int64 { return lengthOf(r, 3000) }).rows(c.alone)[:c.alone]
		for i := range alone {
			alone[i].Session, alone[i].Output = "", lengthOf(r, 20)
		}
		l := newLog(Options{By: ByNone})
		rows := sorted(senderOf(growing).rows(c.talks), alone)
		for i := range rows {
			if err := l.add(&rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		l.finish()
		if len(l.clients) != c.clients {
			t.Errorf("%d conversations and %d requests alone are %d clients, want %d", c.talks, c.alone, len(l.clients), c.clients)
		}
	}
}

// Rows of new text alone tell nothing of whether prompts grow.
func TestDeltasAreNotJudged(t *testing.T) {
	l := newLog(Options{})
	for i, n := range []int64{100, 30, 50} {
		if err := l.add(&trace.Row{Timed: true, At: int64(i*i) * 1e9, Session: "s", Input: n, Output: 10, Delta: i > 0}); err != nil {
			t.Fatal(err)
		}
	}
	if l.independent(nil); l.history.judged != 0 || l.history.grown != 0 {
		t.Errorf("%d of %d grow", l.history.grown, l.history.judged)
	}
}
