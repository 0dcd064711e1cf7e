package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// By hand: of 100 sessions 40 go on after 10 s each, 20 are seen for 5 s more and
// 40 for long. A gap is seen within 5 s with ½, so that the likelihood 40 ln p +
// 20 ln(1 − p/2) + 40 ln(1 − p) is greatest where 50p² − 110p + 40 = 0.
func TestUncutByHand(t *testing.T) {
	s := &seen{n: [][]float64{{100}, {40}}, went: [][]float64{{40}, {0}}, gaps: slices.Repeat([]float64{10}, 40)}
	for range 20 {
		s.ended = append(s.ended, ended{0, 0, 5})
	}
	for range 40 {
		s.ended = append(s.ended, ended{0, 0, 50}, ended{1, 0, math.Inf(1)})
	}
	u := newUncut(s)
	want := (110 - math.Sqrt(110*110-4*50*40)) / 100
	if got := u.goesOn(); math.Abs(got[0]-want) > 1e-3 || got[1] != 0 {
		t.Errorf("%v, want %v and 0", got, want)
	}
	turns := u.turns(1000)
	if once := slices.Index(turns, 2); math.Abs(float64(once)-1000*(1-want)) > 2 || turns[999] != 2 {
		t.Errorf("%d of 1000 sessions have one turn, want %v", once, 1000*(1-want))
	}
	p := u.chance(0, 0)
	if got := u.likelihoods(s)[0]; math.Abs(got-40*math.Log(p)-20*math.Log(1-p/2)-40*math.Log(1-p)) > 1e-6 {
		t.Errorf("likelihood %v", got)
	}
}

// By hand: odds of a bin are those against the mean of the logarithms: of 200
// sessions 50 of 100 go on after short texts, and 10 of 100 after long ones: odds of 1
// and 1/9, which are 3 and 1/3 around 1, but for the sessions of the mean chance.
func TestRelativeOddsByHand(t *testing.T) {
	s := &seen{sides: [2]int{2, 0}, n: [][]float64{{100, 100, 0}, {60}}, went: [][]float64{{50, 10, 0}, {0}}}
	for i := range 140 {
		bin := 0
		if i >= 50 {
			bin = 1
		}
		s.ended = append(s.ended, ended{0, bin, math.Inf(1)})
	}
	u := newUncut(s)
	if got := u.relative(0); math.Abs(got[0]-3) > .15 || math.Abs(got[0]*got[1]-1) > 1e-5 {
		t.Errorf("%v, want 3 and 1/3", got)
	}
	if got := u.goesOn()[0]; math.Abs(got-.3) > .002 || u.relative(1) != nil {
		t.Errorf("chance %v, want 0.3; %v", got, u.relative(1))
	}
}

// talksOf makes the rows of sessions begun within an hour: new text and answer of
// each turn, until next says that none follows; what comes after the hour is not seen.
func talksOf(seed uint64, sessions int, think float64, next func(r *rand.Rand, turn int, text int64) (newText, answer int64, more bool)) []trace.Row {
	r := rand.New(rand.NewPCG(seed, 1))
	var rows []trace.Row
	for s := range sessions {
		at, whole, text := r.Float64()*3600, int64(0), int64(0)
		for turn := 0; ; turn++ {
			n, answer, more := next(r, turn, text)
			if !more || at > 3600 {
				break
			}
			text = n
			whole += n
			row := trace.Row{Format: "test", Timed: true, At: int64(at * 1e9), Session: fmt.Sprint(s), Input: whole, Output: answer, BlockTokens: 100}
			for k := range whole / 100 {
				row.Blocks = append(row.Blocks, uint64(s)<<20|uint64(k))
			}
			rows = append(rows, row)
			whole += answer
			at += r.ExpFloat64() * think
		}
	}
	slices.SortFunc(rows, func(a, b trace.Row) int { return int(a.At - b.At) })
	return rows
}

func fitRows(t *testing.T, rows []trace.Row) (*traffic.Model, *Report) {
	t.Helper()
	m, r, err := Fit(t.Context(), &listed{rows}, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// Sessions of 2.485 turns in the mean, 600 s apart, of which an hour shows 2: the
// model has them as they are, think times too, and samples as many requests as the log.
func TestSessionsThatTheLogCuts(t *testing.T) {
	m, r := fitRows(t, talksOf(1, 4000, 600, func(r *rand.Rand, turn int, _ int64) (int64, int64, bool) {
		return lengthOf(r, 300), lengthOf(r, 100), turn == 0 || turn < 10 && r.Float64() < .6
	}))
	want := (1 - math.Pow(.6, 10)) / .4
	if got := r.Sessions.TurnsUncut; r.Sessions.Turns > .9*want || math.Abs(got/want-1) > .05 {
		t.Errorf("%.3f turns, %.3f uncut, want %.3f", r.Sessions.Turns, got, want)
	}
	if p50 := m.Clients[0].Sessions.Think.Quantile(.5); math.Abs(p50/(600*math.Ln2)-1) > .08 {
		t.Errorf("think p50 %v, want %v", p50, 600*math.Ln2)
	}
	for what, k := range map[string]*Total{"requests": &r.Totals.Requests, "input": &r.Totals.Input, "output": &r.Totals.Output} {
		if math.Abs(*k.Off) > .04 {
			t.Errorf("%s: %+.3f", what, *k.Off)
		}
	}
	// What is independent is left so.
	if s := m.Clients[0].Sessions; s.GoesOn != nil || s.GoesOnFirst != nil || s.InputAlike > .03 || s.OutputAlike > .03 || s.Jump < .97 {
		t.Errorf("%+v", s)
	}
}

// Sessions that a long text ends, long first prompts among them, and whose answers
// are alike: the model says so, and samples have the log's tokens, of which models
// without have clearly more.
func TestLongTextsEndSessions(t *testing.T) {
	level := 0.0
	rows := talksOf(2, 3000, 30, func(r *rand.Rand, turn int, text int64) (int64, int64, bool) {
		if turn == 0 {
			level = math.Exp(r.NormFloat64())
		}
		n := lengthOf(r, 200)
		if r.Float64() < .25 {
			n = 5000 + lengthOf(r, 500)
		}
		return n, int64(100*level*math.Exp(.5*r.NormFloat64())) + 1, turn == 0 || r.Float64() < .05 || text < 5000 && r.Float64() < .8
	})
	m, r := fitRows(t, rows)
	s := m.Clients[0].Sessions
	if n := len(s.GoesOn); n == 0 || len(s.GoesOnFirst) == 0 || s.GoesOn[n-1]*4 > s.GoesOn[0] || s.GoesOnFirst[len(s.GoesOnFirst)-1]*4 > s.GoesOnFirst[0] {
		t.Errorf("%+v", s)
	}
	if math.Abs(s.OutputAlike-.8) > .05 || s.InputAlike > .1 {
		t.Errorf("answers alike %v, want 0.8; texts %v, want 0", s.OutputAlike, s.InputAlike)
	}
	if k := r.Clients[0].Together; k.FirstBins != len(s.GoesOnFirst) || k.LaterBins != len(s.GoesOn) || k.OutputAlike != s.OutputAlike || k.InputAlike != s.InputAlike {
		t.Errorf("%+v", k)
	}
	if off := *r.Totals.Input.Off; math.Abs(off) > .05 {
		t.Errorf("input tokens %+.3f", off)
	}
	apart := *s
	apart.GoesOn, apart.GoesOnFirst, apart.InputAlike, apart.OutputAlike = nil, nil, 0, 0
	m.Clients[0].Sessions = &apart
	l := readOf(t, rows)
	if without, err := l.totals(m); err != nil || *without.Input.Off < .15 {
		t.Errorf("without: %+v %v", without.Input, err)
	}
}

// Sessions of two kinds, of which the one has long texts more often, and long texts
// end sessions: among those that go on there are fewer of that kind. Samples have the
// texts that the log shows.
func TestLengthsAreThoseSeen(t *testing.T) {
	often := 0.0
	rows := talksOf(5, 4000, 300, func(r *rand.Rand, turn int, text int64) (int64, int64, bool) {
		if turn == 0 {
			often = []float64{.02, .7}[r.IntN(2)]
			return 200, 50, true
		}
		n := lengthOf(r, 200)
		if r.Float64() < often {
			n = 5000 + lengthOf(r, 500)
		}
		return n, 50, text < 5000 && r.Float64() < .85 || r.Float64() < .02
	})
	m, _ := fitRows(t, rows)
	l := readOf(t, rows)
	seen, n := 0.0, 0.0
	for i, f := range l.flags {
		if f&flagLater != 0 {
			seen, n = seen+float64(l.input[i]), n+1
		}
	}
	l.clients[0].ends, l.placed = true, []int{0}
	sum, turns := 0.0, 0.0
	for seed := range uint64(5) {
		s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for d, ok := s.Next(); ok; d, ok = s.Next() {
			for _, x := range l.before(m, &d, s.Turns(&d, nil))[1:] {
				sum, turns = sum+float64(x.Input), turns+1
			}
		}
	}
	if m.Clients[0].Sessions.GoesOn == nil || m.Clients[0].Sessions.InputAlike < .1 {
		t.Errorf("%+v", m.Clients[0].Sessions)
	}
	if got, want := sum/turns, seen/n; math.Abs(got/want-1) > .05 || math.Abs(turns/5/n-1) > .05 {
		t.Errorf("%.0f tokens in %.0f later turns, want %.0f in %.0f", got, turns/5, want, n)
	}
}

// By hand: a second request at 40 s of 100 that took 2 s leaves 58 s, and came 8 s
// after the first answer; of a row that holds a conversation the log shows no end.
func TestWhatTheLogLeaves(t *testing.T) {
	l := newLog(Options{})
	l.at, l.took, l.span = []int64{30e9, 40e9, 50e9, 50e9}, []float32{2, 2, 2, 2}, 100
	l.session, l.flags = []int32{0, 0, 1, 1}, []uint8{0, 0, 0, flagNoTime}
	l.sessions.count = 2
	chats := l.chats([]int32{0, 1, 2, 3}, 2)
	for _, c := range chats {
		c.input = []float64{math.NaN(), math.NaN()}
	}
	s := l.seenOf(chats, [2]int{})
	if d := cmp.Diff([]float64{8}, s.gaps); d != "" {
		t.Error(d)
	}
	if len(s.ended) != 2 || s.ended[0].left != 58 || !math.IsInf(s.ended[1].left, 1) {
		t.Errorf("%+v", s.ended)
	}
}

// readOf is the log of rows before anything is fitted.
func readOf(t *testing.T, rows []trace.Row) *log {
	t.Helper()
	l := newLog(Options{})
	if err := l.readAll(t.Context(), &listed{rows}); err != nil {
		t.Fatal(err)
	}
	l.finish()
	l.clients[0].place = 1
	return l
}

// By hand: two scores of 1 are by 0.477174 nats likelier with a correlation of ½ than
// with none; 1 and −1 less likely by 0.856159.
func TestAlikenessByHand(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{{1, 1, -(math.Log(.75) + 4./3 - 2) / 2}, {1, -1, -(math.Log(.75) + 4 - 2) / 2}} {
		var s scores
		s.add(c.a)
		s.add(c.b)
		if got := likelihood([]scores{s}, .5); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Sessions whose scores have half of their variance in common, and such that have
// none, of which a few values are not known.
func TestAlikenessIsRecovered(t *testing.T) {
	for _, want := range []float64{.5, 0, .9} {
		r := rand.New(rand.NewPCG(4, 2))
		var chats []*chat
		for i := range 2000 {
			c, common := &chat{odd: i%2 == 1}, r.NormFloat64()
			for range 1 + r.IntN(4) {
				share := stat.Normal{SD: 1}.Share(math.Sqrt(want)*common + math.Sqrt(1-want)*r.NormFloat64())
				if r.IntN(10) == 0 {
					share = math.NaN()
				}
				c.rows, c.input = append(c.rows, 0), append(c.input, share)
			}
			chats = append(chats, c)
		}
		if got := alikeness(chats, 0, func(c *chat, i int) float64 { return c.input[i] }); math.Abs(got-want) > .03 {
			t.Errorf("%v, want %v", got, want)
		}
		if got := alikeness(chats[:2*leastAlike], 0, func(c *chat, i int) float64 { return c.input[i] }); got != 0 {
			t.Errorf("of few sessions %v", got)
		}
	}
}

// By hand, the sampler's way back: of the row ⅜, ⅛ the lower half of the other ranks is ¾.
func TestShareGivenByHand(t *testing.T) {
	g := [][]float64{{.25, .25}, {.375, .125}}
	for _, c := range []struct{ rank, other, want float64 }{{.6, .25, .375}, {.6, .75, .875}, {.4, .25, .25}} {
		if got := shareGiven(g, c.rank, c.other); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := shareGiven(g, math.NaN(), .5); !math.IsNaN(got) {
		t.Errorf("of a rank that is not known %v", got)
	}
	if got := shareGiven(nil, math.NaN(), .5); got != .5 {
		t.Errorf("of independent ones %v", got)
	}
}

// By hand: where three of four ranks that samples end up with are below 0.3, what is
// drawn at 0.125 has to be what one of four is shorter than.
func TestUnselectedByHand(t *testing.T) {
	if d := cmp.Diff([]int32{20, 40, 40, 40}, unselected([]int32{40, 10, 30, 20}, []float64{.1, .2, .3, .8})); d != "" {
		t.Error(d)
	}
}

// Lengths that are alike in a session are near each other more often than by chance,
// and do not stay for that.
func TestAlikeIsNoStay(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var list [][2]int32
	for range 5000 {
		common := r.NormFloat64()
		one := func() int32 {
			return int32(1000 * math.Exp(.3*(math.Sqrt(.9)*common+math.Sqrt(.1)*r.NormFloat64())))
		}
		list = append(list, [2]int32{one(), one()})
	}
	if with, without := jump(list, .9), jump(list, 0); with < .97 || without > .9 {
		t.Errorf("%v, %v where they were independent", with, without)
	}
}

// By hand: turns at 3590, 3595 and 3601.2 s of an hour, the service taking 1 s each: the
// third comes too late. What the log shows no moments of is whole.
func TestTurnsBehindTheEnd(t *testing.T) {
	l := &log{clients: []client{{}, {ends: true, took: 1}}, placed: []int{1, 0}}
	m := &traffic.Model{Duration: time.Hour}
	turns := []traffic.Turn{{Input: 1}, {Input: 2, Think: 4 * time.Second}, {Input: 3, Think: 5200 * time.Millisecond}, {Input: 4}}
	if got := l.before(m, &traffic.Draw{At: int64(3590 * time.Second)}, turns); len(got) != 2 {
		t.Errorf("%d turns, want 2", len(got))
	}
	if got := l.before(m, &traffic.Draw{At: int64(3590 * time.Second), Client: 1}, turns); len(got) != 4 {
		t.Errorf("%d turns, want all", len(got))
	}
}

// Ranks are as a sampler draws them: of first prompts and answers among those of the
// lengths in force when the session began, of later texts among all.
func TestRanksOfTurns(t *testing.T) {
	l := newLog(Options{})
	l.at = []int64{0, 1, 2, 10e9, 11e9, 12e9}
	l.session = []int32{0, 0, 1, 2, 2, 1}
	l.input = []int32{10, 300, 20, 5, 100, 0}
	l.output = []int32{1, 2, 3, 70, 60, 9}
	l.front = make([]int32, 6)
	l.sessions.count, l.span = 3, 100
	chats := l.chats([]int32{0, 1, 2, 3, 4, 5}, 3)
	l.rankTurns([]traffic.Lengths{{}, {From: 5 * time.Second}}, chats)
	nan := math.NaN()
	want := [][][]float64{{{.25, .75}, {.125, .375}}, {{.75, nan}, {.625, .875}}, {{.5, .25}, {.75, .25}}}
	for i, c := range chats {
		if d := cmp.Diff(want[i], [][]float64{c.input, c.output}, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Errorf("session %d: %s", i, d)
		}
	}
}
