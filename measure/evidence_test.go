package measure

import (
	"strings"
	"testing"
)

// loaded are 80 windows of a second with 100 requests due in each, of which
// more than end by excess on average and by spread more or less in turns; ttft
// climbs by so much a window.
func loaded(excess, spread, climb float64) *windows {
	w := &windows{length: 1e9, arrivals: 80 * 100}
	sum := 0.0
	for i := range 80 {
		turn := float64(1 - 2*(i%2))
		x := excess + spread*turn
		sum += x
		w.excess, w.inSystem = append(w.excess, x), append(w.inSystem, sum)
		w.ttft = append(w.ttft, 100+climb*float64(i)+turn)
	}
	return w
}

// The error of the mean is spread/√79, and an overload is found with 80 % power
// from (2.37 + 0.85) times that on: 7.2 % at a spread of 20, 18 % at 50.
func TestSaturationVerdicts(t *testing.T) {
	for _, c := range []struct {
		name                  string
		excess, spread, climb float64
		want                  SaturationVerdict
		reason                string
	}{
		{"carried", 0, 20, 0, Stable, "an overload of 7.2"},
		{"little can be seen", 0, 50, 0, CannotTell, "only an overload of 18"},
		{"shown and too little to matter", .9, 1, 1, Stable, "did not pile up"},
		{"piles up", 1.1, 1, 1, OverSaturated, "by 1.1% of all"},
		{"piles up, ttft as ever", 1.1, 1, 0, CannotTell, "ttft did not surely climb"},
	} {
		if s := loaded(c.excess, c.spread, c.climb).saturation(0); s.Verdict != c.want || !strings.Contains(s.Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// Stages are not alike, so that blocks of a load that has some tell nothing.
func TestNoIntervalsOfStages(t *testing.T) {
	for stages, want := range map[int]bool{1: true, 2: false} {
		a := New(Options{Stages: stages})
		fill(a, 2000, 16)
		if i := a.All().Intervals(); (len(i.Metrics) > 0) != want || (i.Reason == "") != want {
			t.Errorf("%d stages: %d metrics, %q", stages, len(i.Metrics), i.Reason)
		}
	}
}

// alternating are 20 blocks that differ from the whole by x in turns.
func alternating(x float64) []float64 {
	out := make([]float64, timeBlocks)
	for i := range out {
		out[i] = x * float64(1-2*(i%2))
	}
	return out
}

// No run is worth more independent values than it has, however alike its
// blocks are by chance.
func TestIndependentIsAtMostAll(t *testing.T) {
	for x, want := range map[float64]float64{1e-9: 1000, 0: 1000, .1: 475} { // .25/1000 ÷ (.01/19)
		s := &spreads{shares: [][]float64{alternating(x)}, whole: []float64{.5}}
		if got := s.independent(1000); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("blocks apart by %v: %v, want %v", x, got, want)
		}
	}
}

// An interval whose end would be the run's largest value has none.
func TestNoIntervalBeyondTheLargest(t *testing.T) {
	s := &spreads{shares: [][]float64{alternating(.001)}}
	values := []float64{100, 200}
	if i := s.interval(0, .99, 5000, []float64{.98, .9996}, values, 2000); i.Low.Valid() || !strings.Contains(i.Reason, "no value that is surely beyond") {
		t.Errorf("%+v", i)
	}
	if i := s.interval(0, .99, 5000, []float64{.98, .9994}, values, 2000); i.Low != Some(100) || i.High != Some(200) || i.Reason != "" {
		t.Errorf("%+v", i)
	}
}
