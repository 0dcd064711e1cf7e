package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

// play runs a closed load against answers of a fixed length and returns what
// was due.
func play(t testing.TB, s Source, answer int64) []Due {
	t.Helper()
	type ending struct{ at, user int64 }
	var list []Due
	var busy []ending // in order of their ends, since all answers are equally long
	for {
		d, state := s.Peek()
		if len(busy) > 0 && (state != Ready || busy[0].at <= d.At) {
			s.Ended(busy[0].user, busy[0].at)
			busy = busy[1:]
			continue
		}
		if state != Ready {
			if state != Finished {
				t.Fatal("waits for nobody")
			}
			return list
		}
		s.Pop()
		list = append(list, d)
		if d.User != NoUser {
			busy = append(busy, ending{d.At + answer, d.User})
		}
	}
}

func closed(t testing.TB, stages string) Plan { return Plan{Stages: mustStages(t, stages), Seed: 1} }

func TestClosedLoop(t *testing.T) {
	list := play(t, mustNew(t, closed(t, "users=2:3s")), 1e9)
	want := []Due{{0, 0, 0, 0}, {0, 1, 0, 1}, {1e9, 2, 0, 0}, {1e9, 3, 0, 1}, {2e9, 4, 0, 0}, {2e9, 5, 0, 1}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestUsersComeAndGo(t *testing.T) {
	list := play(t, mustNew(t, closed(t, "users=0..4:4s,users=4..0:4s")), 1e9)
	active := make(map[int64]int)
	for _, d := range list {
		active[d.At/1e9]++
	}
	want := map[int64]int{0: 1, 1: 2, 2: 3, 3: 4, 4: 4, 5: 3, 6: 2, 7: 1}
	if diff := cmp.Diff(want, active); diff != "" {
		t.Error(diff)
	}
}

func TestThinkTime(t *testing.T) {
	p := closed(t, "users=1:10s")
	p.Think = stat.Constant(1.5)
	var at []int64
	for _, d := range play(t, mustNew(t, p), 5e8) {
		at = append(at, d.At)
	}
	if diff := cmp.Diff([]int64{0, 2e9, 4e9, 6e9, 8e9}, at); diff != "" {
		t.Error(diff)
	}
	p = closed(t, "users=20:100s")
	p.Think = stat.Exponential{Average: 2}
	if diff := cmp.Diff(play(t, mustNew(t, p), 3e8), play(t, mustNew(t, p), 3e8)); diff != "" {
		t.Errorf("same seed, different thoughts: %s", diff)
	}
}

func TestClosedThenOpen(t *testing.T) {
	p := closed(t, "users=2:2s,rate=4:1s,users=1:1s")
	p.Arrival.Process = EvenGaps
	var got []Due
	for _, d := range play(t, mustNew(t, p), 1100e6) {
		d.Index = 0
		got = append(got, d)
	}
	want := []Due{
		{0, 0, 0, 0}, {0, 0, 0, 1}, {1100e6, 0, 0, 0}, {1100e6, 0, 0, 1},
		{2000e6, 0, 1, NoUser}, {2250e6, 0, 1, NoUser}, {2500e6, 0, 1, NoUser}, {2750e6, 0, 1, NoUser},
		{3000e6, 0, 2, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// While all users are busy nothing is known to be due, but for the moment from
// which on nothing can be.
func TestWaitingSaysUntilWhen(t *testing.T) {
	s := mustNew(t, closed(t, "users=1:3s"))
	s.Pop()
	if d, state := s.Peek(); state != Waiting || d.At != 3e9 {
		t.Errorf("%+v %v", d, state)
	}
	s.Ended(0, 3e9)
	if _, state := s.Peek(); state != Finished {
		t.Errorf("state %v after the end", state)
	}
}

func TestRequestsEndAClosedLoop(t *testing.T) {
	if n := len(play(t, mustNew(t, closed(t, "users=3:10req")), 1e9)); n != 10 {
		t.Errorf("%d dues, want 10", n)
	}
	if n := len(play(t, mustNew(t, closed(t, "users=3:1s,users=3:10req")), 1e9)); n != 13 {
		t.Errorf("%d dues, want 13", n)
	}
	p := Plan{Stages: []Stage{{Mode: ClosedLoop, From: 3, To: 3}}, MaxRequests: 8}
	if n := len(play(t, mustNew(t, p), 1e9)); n != 8 {
		t.Errorf("%d dues, want 8", n)
	}
	if got := p.Describe(); got != (Summary{Requests: 8, Known: true, PeakUsers: 3}) {
		t.Errorf("%+v", got)
	}
}

// At no moment are more users under way than the stage's level, and a free
// active user never waits.
func TestLevelIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.IntRange(0, 40)
		var stages []Stage
		for range rapid.IntRange(1, 4).Draw(t, "stages") {
			s := Stage{Mode: ClosedLoop, From: float64(level.Draw(t, "from")), Duration: time.Duration(rapid.Int64Range(1e6, 5e9).Draw(t, "duration"))}
			s.To = s.From
			if rapid.Bool().Draw(t, "ramp") {
				s.To = float64(level.Draw(t, "to"))
			}
			stages = append(stages, s)
		}
		s := mustNewRapid(t, Plan{Stages: stages})
		starts := []int64{0}
		for _, g := range stages {
			starts = append(starts, starts[len(starts)-1]+int64(g.Duration))
		}
		busy := map[int64]int64{} // user: end
		answer := rapid.Int64Range(1e6, 2e9)
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
				s.Ended(user, first)
				delete(busy, user)
				continue
			}
			if state != Ready {
				return
			}
			if d.At < before {
				t.Fatalf("due %+v after %d", d, before)
			}
			before = d.At
			g := stages[d.Stage]
			part := float64(d.At-starts[d.Stage]) / float64(g.Duration)
			if now := g.From + (g.To-g.From)*part; float64(d.User) > now+1e-3 || d.At >= starts[d.Stage+1] {
				t.Fatalf("user %d is due at %d in stage %d with %v users", d.User, d.At, d.Stage, now)
			}
			if _, is := busy[d.User]; is {
				t.Fatalf("user %d is busy", d.User)
			}
			busy[d.User] = d.At + answer.Draw(t, "answer")
			s.Pop()
		}
	})
}
