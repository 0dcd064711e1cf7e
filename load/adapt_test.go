package load

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

func TestParseAdapt(t *testing.T) {
	for text, want := range map[string]Adapt{
		"e2e.p95/50ms": {"e2e", 0.95, 50 * time.Millisecond, 0, 10 * time.Second, 1},
		"ttft.p99.9/100ms,above=200ms,window=5s,floor=2": {"ttft", 0.999, 100 * time.Millisecond, 200 * time.Millisecond, 5 * time.Second, 2},
		"tpot.p100/1s,floor=3":                           {"tpot", 1, time.Second, 0, 10 * time.Second, 3},
	} {
		got, err := ParseAdapt(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got.String() != text {
			t.Errorf("%s is written %s", text, got)
		}
	}
}

func TestBadAdaptNamesTheColumn(t *testing.T) {
	for text, column := range map[string]int{
		"": 1, "e2e": 4, "itl.p95/50ms": 1, "e2e/50ms": 4, "e2e.p/50ms": 4, "e2e.p0/50ms": 4, "e2e.p101/50ms": 4, "e2e.pNaN/50ms": 4,
		"e2e.p95/50": 9, "e2e.p95/0s": 9, "e2e.p95/-1s": 9, "e2e.p95/50ms,": 14, "e2e.p95/50ms,floor=0": 20, "e2e.p95/50ms,roof=1": 14,
		"e2e.p95/50ms,floor=1,floor=2": 22, "e2e.p95/50ms,window=0s": 21, "e2e.p95/50ms,above=x": 20,
	} {
		_, err := ParseAdapt(text)
		var s *stat.SyntaxError
		if !errors.As(err, &s) || s.Column != column {
			t.Errorf("%q: %v, want column %d", text, err, column)
		}
	}
}

func FuzzParseAdapt(f *testing.F) {
	f.Add("ttft.p90/100ms,above=200ms,window=5s,floor=2")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAdapt(text)
		if err != nil {
			return
		}
		if err := a.check(); err != nil {
			t.Fatalf("%q is read and refused: %v", text, err)
		}
		if b, err := ParseAdapt(a.String()); err != nil || *b != *a {
			t.Fatalf("%q is written %q: %v", text, a, err)
		}
	})
}

// TestHalved holds the powers of two against the library's.
func TestHalved(t *testing.T) {
	for x, want := range map[float64]float64{-1: 1, 0: 1, 1: 0.5, 2: 0.25, 10: 1.0 / 1024, math.Inf(1): 0, 2000: 0} {
		if got := halved(x); got != want {
			t.Errorf("2^-%v is %v, want %v", x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 100).Draw(t, "x")
		if got, want := halved(x), math.Exp2(-x); math.Abs(got/want-1) > 1e-14 {
			t.Fatalf("2^-%v is %v, want %v", x, got, want)
		}
	})
}

// TestAllowed is docs/metrics.md's example.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		latency time.Duration
		want    int64
	}{{0, 64}, {50 * time.Millisecond, 32}, {75 * time.Millisecond, 22}, {300 * time.Millisecond, 1}, {time.Hour, 1}} {
		a := newAdaptation(&Adapt{Metric: "e2e", Percentile: 0.95, Step: 50 * time.Millisecond, Window: time.Second, Floor: 1})
		a.observe(0, float64(c.latency))
		if got := a.allowed(64); got != c.want {
			t.Errorf("a p95 of %v allows %d, want %d", c.latency, got, c.want)
		}
	}
	a := newAdaptation(&Adapt{Metric: "e2e", Percentile: 0.95, Step: 50 * time.Millisecond, Above: 100 * time.Millisecond, Window: time.Second, Floor: 5})
	for latency, want := range map[time.Duration]int64{100 * time.Millisecond: 64, 150 * time.Millisecond: 32, time.Second: 5} {
		a.recent = recent{}
		a.observe(0, float64(latency))
		if got := a.allowed(64); got != want {
			t.Errorf("above 100 ms, a p95 of %v allows %d, want %d", latency, got, want)
		}
	}
	if got := a.allowed(3); got != 3 {
		t.Errorf("a floor of 5 allows %d of 3 users", got)
	}
}

// TestRecent holds the moving window against sorting it each time.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const window = 100
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := newAdaptation(&Adapt{Percentile: 0.9, Step: 1, Window: window, Floor: 1})
		type ended struct {
			at    int64
			value float64
		}
		var all []ended
		at := int64(0)
		for range 200 {
			at += r.Int64N(40)
			v := float64(r.IntN(5))
			if r.IntN(10) == 0 {
				v = math.Inf(1)
			}
			all = append(all, ended{at, v})
			var in []float64
			for _, e := range all {
				if e.at > at-window {
					in = append(in, e.value)
				}
			}
			slices.Sort(in)
			if got, want := a.observe(at, v), stat.Quantile(in, 0.9); got != want {
				t.Fatalf("p90 of %v is %v, want %v", in, got, want)
			}
		}
	})
}

// adaptive plays users whose answers take long times as many are under way.
func adaptive(t *testing.T, p Plan, answer func(busy int) int64) (dues []Due, levels []int64, most int) {
	t.Helper()
	s := mustNew(t, p).(Adaptive)
	type ending struct{ at, user, took int64 }
	var busy []ending
	for {
		d, state := s.Peek()
		if len(busy) > 0 && (state != Ready || busy[0].at <= d.At) {
			e := busy[0]
			busy = busy[1:]
			if l, news := s.Observe(e.at, float64(e.took)); news {
				levels = append(levels, l.Allowed)
			}
			s.Ended(e.user, e.at)
			continue
		}
		if state != Ready {
			if state != Finished {
				t.Fatal("waits for nobody")
			}
			return dues, levels, most
		}
		s.Pop()
		dues = append(dues, d)
		took := answer(len(busy) + 1)
		busy = append(busy, ending{d.At + took, d.User, took})
		slices.SortStableFunc(busy, func(x, y ending) int { return int(x.at - y.at) })
		most = max(most, len(busy))
	}
}

func rule(t *testing.T, text string) *Adapt {
	t.Helper()
	a, err := ParseAdapt(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFewerUsersAtALatency: by hand. Four users begin at 0; each answer takes
// 50 ms, which allows two of four. The ends at 50 ms let nobody on until two
// are under way.
func TestFewerUsersAtALatency(t *testing.T) {
	p := closed(t, "users=4:160ms")
	p.Adapt = rule(t, "e2e.p95/50ms")
	dues, levels, _ := adaptive(t, p, func(int) int64 { return 50e6 })
	var at []int64
	for _, d := range dues {
		at = append(at, d.At/1e6)
	}
	// All four begin; then two at a time.
	if diff := cmp.Diff([]int64{0, 0, 0, 0, 50, 50, 100, 100, 150, 150}, at); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(levels, []int64{2}) {
		t.Errorf("levels %v, want 2 alone", levels)
	}
}

// TestUsersWaitWithoutBeingDue: a user who was not allowed is due when it is,
// and those who leave the wait in order of their coming.
func TestUsersWaitWithoutBeingDue(t *testing.T) {
	p := closed(t, "users=3:1s")
	p.Adapt = rule(t, "e2e.p95/50ms,window=100ms")
	s := mustNew(t, p).(Adaptive)
	for range 3 {
		s.Pop()
	}
	s.Observe(200e6, 200e6) // one of three
	s.Ended(0, 200e6)
	if d, state := s.Peek(); state != Waiting {
		t.Fatalf("%+v is due while two are under way and one is allowed", d)
	}
	s.Observe(210e6, 210e6)
	s.Ended(1, 210e6)
	if d, state := s.Peek(); state != Waiting {
		t.Fatalf("%+v is due while one is under way and one is allowed", d)
	}
	s.Observe(230e6, 230e6)
	s.Ended(2, 230e6)
	if d, state := s.Peek(); state != Ready || d.User != 0 || d.At != 230e6 {
		t.Fatalf("%+v %v, want user 0 at 230 ms, when it was allowed", d, state)
	}
	s.Pop()
	// 120 ms later the window holds a fast answer alone: all are allowed again.
	if l, news := s.Observe(350e6, 0); !news || l != (Level{3, 3, 0}) {
		t.Errorf("level %+v, %v", l, news)
	}
	s.Ended(0, 350e6)
	for i, want := range []int64{1, 2, 0} {
		if d, state := s.Peek(); state != Ready || d.User != want || d.At != 350e6 {
			t.Errorf("%d: %+v %v, want user %d at 350 ms", i, d, state, want)
		}
		s.Pop()
	}
}

// TestAHeldUserGoesOnInTheNextStage, or not at all after the last.
func TestAHeldUserGoesOnInTheNextStage(t *testing.T) {
	p := closed(t, "users=2:1s,users=1:1s")
	p.Adapt = rule(t, "e2e.p95/1ms")
	dues, _, _ := adaptive(t, p, func(int) int64 { return 600e6 })
	// Both at 0; at 600 ms one is allowed; its end at 1200 ms is in the stage of user 0.
	var got []Due
	for _, d := range dues {
		d.Index = 0
		got = append(got, d)
	}
	want := []Due{{0, 0, 0, 0}, {0, 0, 0, 1}, {600e6, 0, 0, 0}, {1200e6, 0, 1, 0}, {1800e6, 0, 1, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLevelOfEachStage: another number of users is news though as many are
// allowed, and a stage has begun at its first moment.
func TestLevelOfEachStage(t *testing.T) {
	p := closed(t, "users=2:1s,users=4:1s")
	p.Adapt = rule(t, "e2e.p95/1ms")
	s := mustNew(t, p).(Adaptive)
	for _, c := range []struct {
		at   int64
		of   int64
		news bool
	}{{500e6, 2, true}, {999_999_999, 2, false}, {1e9, 4, true}, {1.5e9, 4, false}} {
		if l, news := s.Observe(c.at, 600e6); l.Allowed != 1 || l.Of != c.of || news != c.news {
			t.Errorf("at %d: %+v, news %v", c.at, l, news)
		}
	}
}

// TestNeverMoreThanAllowed: whatever the latencies, a due never makes more
// users busy than the level of its moment, and the loop never comes to a stop.
func TestNeverMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(2, 30).Draw(t, "users")
		a := &Adapt{Metric: "e2e", Percentile: rapid.SampledFrom([]float64{0.5, 0.95, 1}).Draw(t, "p"), Step: 20 * time.Millisecond,
			Window: 100 * time.Millisecond, Floor: rapid.Int64Range(1, min(n-1, 5)).Draw(t, "floor")}
		s := mustNewRapid(t, Plan{Stages: []Stage{{Mode: ClosedLoop, From: float64(n), To: float64(n), Duration: time.Second}}, Adapt: a}).(Adaptive)
		allowed := n
		busy := map[int64]int64{}
		took := map[int64]int64{}
		answer := rapid.Int64Range(1e6, 1e8)
		before := int64(0)
		for {
			d, state := s.Peek()
			first, user := int64(1<<62), int64(-1)
			for u, end := range busy {
				if end < first || end == first && u < user {
					first, user = end, u
				}
			}
			if user >= 0 && (state != Ready || first <= d.At) {
				l, _ := s.Observe(first, float64(took[user]))
				if allowed = l.Allowed; allowed < min(n, a.Floor) || allowed > n {
					t.Fatalf("%d of %d users are allowed", allowed, n)
				}
				s.Ended(user, first)
				delete(busy, user)
				continue
			}
			if state != Ready {
				if before < 8e8 {
					t.Fatalf("nobody is due after %d", before)
				}
				return
			}
			if d.At < before {
				t.Fatalf("due %+v after %d", d, before)
			}
			before = d.At
			if int64(len(busy)) >= allowed {
				t.Fatalf("due %+v while %d are under way and %d allowed", d, len(busy), allowed)
			}
			took[d.User] = answer.Draw(t, "answer")
			busy[d.User] = d.At + took[d.User]
			s.Pop()
		}
	})
}

func TestAdaptNeedsUsers(t *testing.T) {
	a := rule(t, "e2e.p95/50ms")
	for _, bad := range []Plan{{Stages: mustStages(t, "rate=1:1s"), Adapt: a}, {Schedule: []int64{1}, Adapt: a},
		{Stages: mustStages(t, "users=1:1s"), Adapt: &Adapt{Metric: "itl", Percentile: 0.5, Step: 1, Window: 1, Floor: 1}},
		{Stages: mustStages(t, "users=1:1s"), Adapt: &Adapt{Metric: "e2e", Percentile: 0.5, Window: 1, Floor: 1}}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
