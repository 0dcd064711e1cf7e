package measure

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// queueRun is a run of a queue that starts empty, with Poisson arrivals every
// 100 ms on average and exponential service; from the request shifted on, service
// takes factor times as long. ttft is half of the time in the system.
func queueRun(n int, load float64, seed uint64, shifted int, factor float64) *View {
	random := stat.Random(seed, "drift", uint64(n))
	a := New(Options{})
	at, wait := 0.0, 0.0
	for i := range n {
		service := random.ExpFloat64() * load
		if i >= shifted {
			service *= factor
		}
		stay := wait + service
		t := &record.Attempt{}
		t.Outcome = record.OK
		t.RequestID, t.Attempt = int64(i), 1
		ns := func(x float64) record.Int { return record.Some(int64(x * 100e6)) }
		t.Intended, t.FirstToken, t.LastToken, t.Ended = ns(at), ns(at+wait+service/2), ns(at+stay), ns(at+stay)
		t.OutputUsage = record.Some(100)
		a.Add(t)
		gap := random.ExpFloat64()
		at, wait = at+gap, max(0, stay-gap)
	}
	a.Configure(Options{Start: record.Some(0), End: record.Some(int64(at * 100e6))})
	return a.All()
}

func TestSaturation(t *testing.T) {
	runs := 30
	if *full {
		runs = 100
	}
	for _, c := range []struct {
		load        float64
		n           int
		least, most float64 // share of runs called over-saturated
		stable      float64 // share of runs at least called stable
	}{
		{.3, 1000, 0, .02, .9}, {.6, 2000, 0, .02, .9}, {.8, 2000, 0, .04, .5},
		{1, 2000, 0, .06, 0}, // on the edge: a random walk without a drift
		{1.1, 2000, .6, 1, 0}, {1.3, 1000, .98, 1, 0}, {1.6, 500, .85, 1, 0},
	} {
		verdicts := map[SaturationVerdict]int{}
		for run := range runs {
			verdicts[queueRun(c.n, c.load, uint64(run), c.n, 1).Evidence().Saturation.Verdict]++
		}
		t.Logf("load %v, %d requests: %v", c.load, c.n, verdicts)
		if x := float64(verdicts[OverSaturated]) / float64(runs); x < c.least || x > c.most {
			t.Errorf("load %v: over-saturated in %.3f of runs", c.load, x)
		}
		if x := float64(verdicts[Stable]) / float64(runs); x < c.stable {
			t.Errorf("load %v: stable in %.3f of runs", c.load, x)
		}
	}
	// A queue that begins to run over when half of the load is done.
	late := 0
	for run := range runs {
		s := queueRun(3000, .5, uint64(run), 1500, 3).Evidence().Saturation
		if at := s.Since.Or(0); s.Verdict == OverSaturated && math.Abs(at/150_000-1) < .15 {
			late++
		}
	}
	if late < runs*9/10 {
		t.Errorf("over-saturated since the half: %d of %d", late, runs)
	}
}

func TestChangesOfARun(t *testing.T) {
	runs := 30
	if *full {
		runs = 100
	}
	for _, load := range []float64{.3, .6, .8} {
		falses := 0
		for run := range runs {
			if len(queueRun(2000, load, uint64(run), 2000, 1).Evidence().Changes.Found) > 0 {
				falses++
			}
		}
		t.Logf("load %v: %d of %d null runs show a change", load, falses, runs)
		if falses > 1+runs*3/100 {
			t.Errorf("load %v: %d false of %d", load, falses, runs)
		}
	}
	found := 0
	for run := range runs {
		for _, c := range queueRun(2000, .2, uint64(run), 1000, 2).Evidence().Changes.Found {
			if at := c.At.Or(0); c.Metric == "ttft" && math.Abs(at-100_000) < 8_000 && c.After.Or(0) > 1.5*c.Before.Or(0) {
				found++
				break
			}
		}
	}
	t.Logf("service twice as long found in %d", found)
	if found < runs*9/10 {
		t.Errorf("service twice as long found in %d of %d", found, runs)
	}
}

func TestEvidenceOfLittle(t *testing.T) {
	for _, opt := range []Options{{}, {Stages: 3}} {
		a := New(opt)
		e := a.All().Evidence()
		if e.Saturation.Verdict != CannotTell || e.Changes.Reason == "" || e.Intervals.Reason == "" || e.Changes.Found == nil {
			t.Errorf("%+v", e)
		}
	}
	e := queueRun(400, .3, 1, 400, 1).Evidence()
	if i := e.Intervals.Metrics["ttft"]["p99"]; i.Low.Valid() || i.Reason == "" {
		t.Errorf("a p99 of 400 requests: %+v", i)
	}
	if i := e.Intervals.Metrics["request_rate"]["value"]; !(i.Low.Or(99) < 10 && i.High.Or(0) > 10) {
		t.Errorf("a rate of 10/s: %+v", i)
	}
	closed := queueRun(1000, .3, 1, 1000, 1)
	closed.a.opt.Users = true
	if s := closed.Evidence().Saturation; s.Verdict != Stable || s.Since.Valid() {
		t.Errorf("a closed loop: %+v", s)
	}
}

// TestWindowsOnPaper: two requests in three windows of a second.
func TestWindowsOnPaper(t *testing.T) {
	w := &windows{from: 1e9, length: 1e9}
	o := newOverlap(w, 3)
	o.add(0, 15e8, 1)     // half of the first
	o.add(15e8, 35e8, 2)  // half, one, half, twice
	o.add(3e9, 9e9, 1)    // the last
	o.add(12e8, 13e8, 10) // a tenth of the first, ten times
	want := []float64{.5 + 1 + 1, 2, 1 + 1}
	for i, x := range o.sums() {
		if math.Abs(x-want[i]) > 1e-12 {
			t.Errorf("window %d: %v, want %v", i, x, want[i])
		}
	}
}

// TestMediansOfWhatWasCut: where half of a window was cut, what it had waited
// until then is no median.
func TestMediansOfWhatWasCut(t *testing.T) {
	a := New(Options{})
	add := func(at, ttft int64, outcome record.Outcome) {
		t := &record.Attempt{}
		t.RequestID, t.Attempt, t.Outcome = int64(a.n), 1, outcome
		t.Intended, t.Ended = record.Some(at), record.Some(at+ttft)
		if outcome == record.OK {
			t.FirstToken, t.LastToken = t.Ended, t.Ended
		}
		a.Add(t)
	}
	for _, x := range []int64{10, 20, 30} {
		add(0, x*1e6, record.OK)
	}
	add(0, 40e6, record.Cut)
	add(1e9, 10e6, record.OK)
	add(1e9, 40e6, record.Cut)
	got := medians(&windows{length: 1e9}, 3, a.All().rows, "ttft")
	if got[0] != 20 || !math.IsNaN(got[1]) || !math.IsNaN(got[2]) {
		t.Errorf("%v", got)
	}
}
