package load

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustNew(t testing.TB, p Plan) Source {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustStages(t testing.TB, s string) []Stage {
	t.Helper()
	stages, err := ParseStages(s)
	if err != nil {
		t.Fatal(err)
	}
	return stages
}

// tb is what rapid.T and testing.TB have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
}

// take pops every due of an open load.
func take(t tb, s Source) []Due {
	t.Helper()
	var list []Due
	for {
		d, state := s.Peek()
		if state == Finished {
			return list
		}
		if state != Ready {
			t.Fatal("an open load waits")
		}
		s.Pop()
		list = append(list, d)
	}
}

func gapStatistics(list []Due) (rate, cv float64) {
	n, sum, square := float64(len(list)-1), 0.0, 0.0
	for i := 1; i < len(list); i++ {
		g := float64(list[i].At-list[i-1].At) / 1e9
		sum += g
		square += g * g
	}
	mean := sum / n
	return 1 / mean, math.Sqrt(square/n-mean*mean) / mean
}

func TestConstantGapsAreExact(t *testing.T) {
	for _, rate := range []float64{40, 0.3, 7.7, 2000} {
		length := time.Duration(20_000 / rate * 1e9)
		stages := []Stage{{Mode: OpenLoop, From: rate, To: rate, Duration: length}}
		list := take(t, mustNew(t, Plan{Stages: stages, Arrival: Arrival{Process: EvenGaps}}))
		if want := 20_000; len(list) != want {
			t.Errorf("rate %v: %d dues, want %d", rate, len(list), want)
		}
		r := new(big.Rat).SetFloat64(rate)
		for i, d := range list {
			want := new(big.Rat).Quo(new(big.Rat).SetInt64(int64(i)*1e9), r)
			off := want.Sub(want, new(big.Rat).SetInt64(d.At))
			if off.Abs(off).Cmp(big.NewRat(501, 1000)) > 0 {
				t.Fatalf("rate %v: due %d is at %d ns, off by %s ns", rate, i, d.At, off.FloatString(3))
			}
			if d.Index != int64(i) || d.User != NoUser {
				t.Fatalf("due %d is %+v", i, d)
			}
		}
		if got, cv := gapStatistics(list); math.Abs(got/rate-1) > 1e-6 || cv > 0.001 {
			t.Errorf("rate %v: got %v, CV of gaps %v", rate, got, cv)
		}
	}
}

func TestGapsHaveTheirSpread(t *testing.T) {
	for _, a := range []struct {
		Arrival
		cv float64
	}{{Arrival{Process: Poisson}, 1}, {Arrival{Process: GammaGaps, CV: 0.5}, 0.5}, {Arrival{Process: GammaGaps, CV: 2}, 2}} {
		stages := []Stage{{Mode: OpenLoop, From: 50, To: 50, Duration: 2000 * time.Second}}
		list := take(t, mustNew(t, Plan{Stages: stages, Arrival: a.Arrival, Seed: 5}))
		rate, cv := gapStatistics(list)
		// 100,000 gaps: five standard errors of the mean are 1.6 % times the CV.
		if math.Abs(rate/50-1) > 0.016*a.cv+0.001 || math.Abs(cv/a.cv-1) > 0.05 {
			t.Errorf("%v: rate %v, CV %v", a.Arrival, rate, cv)
		}
	}
}

// The law of the rate: arrivals up to any moment are the integral of the rate,
// exactly for constant gaps and within its spread for random ones.
func TestCountFollowsTheIntegralOfTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := drawStages(t)
		plan := Plan{Stages: stages, Arrival: Arrival{Process: EvenGaps}, Seed: rapid.Uint64().Draw(t, "seed")}
		s, err := New(plan)
		if err != nil {
			t.Fatal(err)
		}
		expected, at := 0.0, int64(0)
		taken, d, state := 0.0, Due{}, Ready
		for i, g := range stages {
			expected += (g.From + g.To) / 2 * g.Duration.Seconds()
			at += int64(g.Duration)
			for d, state = s.Peek(); state == Ready && d.At < at; d, state = s.Peek() {
				if d.Stage != i {
					t.Fatalf("due %+v is in stage %d", d, i)
				}
				s.Pop()
				taken++
			}
			if math.Abs(taken-math.Ceil(expected)) > 1 || math.Abs(taken-expected) > 1.001 {
				t.Fatalf("%v dues up to stage %d, expected %v", taken, i, expected)
			}
		}
		if state != Finished {
			t.Fatalf("a due at %v after the end %v", d.At, at)
		}
		if sum := plan.Describe(); !sum.Known || math.Abs(sum.Requests-expected) > 1e-6*expected || sum.Duration != time.Duration(at) {
			t.Fatalf("%+v, expected %v requests in %v", sum, expected, time.Duration(at))
		}
	})
}

func drawStages(t *rapid.T) []Stage {
	level := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.1, 100), rapid.Float64Range(20, 100))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stage {
		s := Stage{Mode: OpenLoop, From: level.Draw(t, "from")}
		s.To = s.From
		if rapid.Bool().Draw(t, "ramp") {
			s.To = level.Draw(t, "to")
		}
		s.Duration = time.Duration(rapid.Int64Range(500, 4000).Draw(t, "ms")*1e6 + rapid.Int64Range(0, 999_999).Draw(t, "ns"))
		return s
	}), 1, 5).Draw(t, "stages")
}

func TestPoissonCount(t *testing.T) {
	stages := mustStages(t, "rate=20:10s,rate=20..80:20s,rate=0:5s,rate=80..0:20s")
	const runs = 300
	sum, square := 0.0, 0.0
	for seed := range uint64(runs) {
		n := float64(len(take(t, mustNew(t, Plan{Stages: stages, Seed: seed}))))
		sum += n
		square += n * n
	}
	mean := sum / runs
	if want := 2000.0; math.Abs(mean-want) > 5*math.Sqrt(want/runs) {
		t.Errorf("mean count %v, want %v", mean, want)
	}
	if variance := square/runs - mean*mean; math.Abs(variance/2000-1) > 0.5 {
		t.Errorf("variance of the count %v, want about 2000", variance)
	}
}

func TestMomentsRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{Stages: drawStages(t), Seed: rapid.Uint64().Draw(t, "seed"), Arrival: rapid.SampledFrom([]Arrival{
			{Process: Poisson}, {Process: GammaGaps, CV: 3}, {Process: EvenGaps}}).Draw(t, "arrival")}
		a, b := mustNewRapid(t, p), mustNewRapid(t, p)
		before := int64(0)
		for {
			d, state := a.Peek()
			if twice, _ := a.Peek(); twice != d {
				t.Fatal("peeking changes the due")
			}
			if same, s := b.Peek(); same != d || s != state {
				t.Fatalf("same plan, different dues: %+v, %+v", d, same)
			}
			if state == Finished {
				return
			}
			if d.At < before {
				t.Fatalf("due %+v after %d", d, before)
			}
			before = d.At
			a.Pop()
			b.Pop()
		}
	})
}

func mustNewRapid(t *rapid.T, p Plan) Source {
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Arrival i follows from its own index: under a doubled rate the same gaps are
// halved, and a stage put in front changes nothing but the offset.
func TestArrivalsFollowFromTheirIndex(t *testing.T) {
	slow := take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=10:60s"), Seed: 9}))
	fast := take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=20:30s"), Seed: 9}))
	if len(slow) != len(fast) {
		t.Fatalf("%d and %d dues", len(slow), len(fast))
	}
	for i := range slow {
		if off := slow[i].At - 2*fast[i].At; off < -2 || off > 2 {
			t.Fatalf("due %d: %d and %d", i, slow[i].At, fast[i].At)
		}
	}
	late := take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=0:7s,rate=10:60s"), Seed: 9}))
	for i := range slow {
		if late[i].At != slow[i].At+7e9 || late[i].Stage != 1 {
			t.Fatalf("due %d: %+v and %+v", i, slow[i], late[i])
		}
	}
}

func TestGoldenSchedule(t *testing.T) {
	list := take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=2..10:3s,rate=1:3req,rate=5:1s"), Seed: 1}))
	var got []int64
	for _, d := range list {
		got = append(got, d.At)
	}
	want := []int64{
		479771458, 576206892, 726787128, 739891926, 960928930, 1006650857, 1098436665, 1778618674, 1857212332,
		1941730792, 2090017785, 2167480188, 2183844154, 2185496961, 2265543431, 2313005406, 2393000873, 2806086445,
		2965325280, 3216999190, 3239929426, 3293814126,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsEndAStage(t *testing.T) {
	list := take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=10:25req,rate=5:2s"), Arrival: Arrival{Process: EvenGaps}}))
	if len(list) != 35 {
		t.Fatalf("%d dues, want 35", len(list))
	}
	if d := list[24]; d.Stage != 0 || d.At != 24e8 {
		t.Errorf("due 24 is %+v", d)
	}
	if d := list[25]; d.Stage != 1 || d.At != 25e8 {
		t.Errorf("due 25 is %+v", d)
	}
	for seed := range uint64(50) {
		first := 0
		for _, d := range take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=10:25req,rate=5:2s"), Seed: seed})) {
			if d.Stage == 0 {
				first++
			}
		}
		if first != 25 {
			t.Errorf("seed %d: %d dues in the first stage", seed, first)
		}
	}
	if n := len(take(t, mustNew(t, Plan{Stages: mustStages(t, "rate=10:1h"), MaxRequests: 7}))); n != 7 {
		t.Errorf("%d dues, want 7", n)
	}
}

func TestSchedule(t *testing.T) {
	list := take(t, mustNew(t, Plan{Schedule: []int64{0, 10, 10, 1e9}, Speed: 10}))
	want := []Due{{0, 0, 0, NoUser}, {1, 1, 0, NoUser}, {1, 2, 0, NoUser}, {1e8, 3, 0, NoUser}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if n := len(take(t, mustNew(t, Plan{Schedule: []int64{1, 2, 3}, MaxRequests: 2}))); n != 2 {
		t.Errorf("%d dues, want 2", n)
	}
	got := Plan{Schedule: []int64{0, 5e8, 9e8, 3e9, 31e8}}.Describe()
	if want := (Summary{Requests: 5, Known: true, PeakRate: 3, Duration: 3100 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, bad := range []Plan{{Schedule: []int64{2, 1}}, {Schedule: []int64{-1}}, {Schedule: []int64{1}, Speed: -1},
		{Schedule: []int64{1}, Speed: math.NaN()}, {Schedule: []int64{1e15}, Speed: 1e-9}, {Schedule: []int64{}, Stages: make([]Stage, 1)}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestScheduleIsExact: to 1 µs of the moment divided by the speed, for moments
// of up to ten years, against exact arithmetic.
func TestScheduleIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speed := rapid.SampledFrom([]float64{10, 3, 0.1, 2.5, 1.0 / 3, 1000, 7.7}).Draw(t, "speed")
		at := rapid.SliceOfN(rapid.Int64Range(0, 10*365*24*3600*1e9), 1, 20).Draw(t, "at")
		slices.Sort(at)
		list := take(t, mustNewRapid(t, Plan{Schedule: at, Speed: speed}))
		if len(list) != len(at) {
			t.Fatalf("%d dues of %d", len(list), len(at))
		}
		for i, d := range list {
			want := new(big.Rat).Quo(new(big.Rat).SetInt64(at[i]), new(big.Rat).SetFloat64(speed))
			off := want.Sub(want, new(big.Rat).SetInt64(d.At))
			if off.Abs(off).Cmp(big.NewRat(1000, 1)) > 0 {
				t.Fatalf("%d ns at speed %v is at %d, off by %s ns", at[i], speed, d.At, off.FloatString(1))
			}
		}
	})
}
