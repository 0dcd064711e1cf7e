package portrait

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/measure"
)

// TestRates: the last window, cut short by the last arrival, has the rate of a
// whole window up to there: of few arrivals in few seconds that is no peak.
func TestRates(t *testing.T) {
	s := int64(time.Second)
	for _, c := range []struct {
		name        string
		at          []int64
		edges, rate []float64
	}{
		{"a half", []int64{0, 10 * s, 50 * s, 60 * s, 75 * s, 90 * s}, []float64{0, 60, 90}, []float64{3.0 / 60, 4.0 / 60}},
		{"a burst", []int64{0, 60 * s, 61 * s, 61 * s, 61 * s}, []float64{0, 60, 61}, []float64{1.0 / 60, 4.0 / 60}},
		{"whole", []int64{5 * s, 10 * s, 65 * s}, []float64{0, 60}, []float64{2.0 / 60}},
		{"short", []int64{0, 10 * s, 20 * s}, []float64{0, 20}, []float64{3.0 / 20}},
		{"one moment", []int64{5, 5}, []float64{0}, nil},
		{"none", nil, []float64{0}, nil},
	} {
		edges, rate := rates(c.at, time.Minute)
		if d := cmp.Diff([][]float64{c.edges, c.rate}, [][]float64{edges, rate}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestPeak: 3 requests within 60 s lie across the border of two minutes, with
// 2 in each; a window holds its end and not its beginning, so that 0 and 60 are
// not in one; and of a span below 60 s there is none.
func TestPeak(t *testing.T) {
	s := int64(time.Second)
	for _, c := range []struct {
		name       string
		at         []int64
		rate, when float64
	}{
		{"across", []int64{0, 50 * s, 61 * s, 100 * s, 200 * s}, 3.0 / 60, 40},
		{"ends apart", []int64{0, 30 * s, 60 * s, 120 * s}, 2.0 / 60, 0},
		{"at the end", []int64{0, 100 * s, 101 * s, 102 * s}, 3.0 / 60, 42},
	} {
		rate, when := peak(c.at, time.Minute)
		if rate.Or(-1) != c.rate || when.Or(-1) != c.when {
			t.Errorf("%s: %v from %v on, want %v from %v on", c.name, rate, when, c.rate, c.when)
		}
	}
	if rate, when := peak([]int64{0, 59 * s}, time.Minute); rate.Valid() || when.Valid() {
		t.Errorf("%v from %v on, of less than 60 s", rate, when)
	}
}

// TestNothingAboveThePeak: no step of the rate, nor the busiest 60 s in one, is
// above the peak, whose window is among them, nor a step above the busiest 60 s
// in it.
func TestNothingAboveThePeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var at []int64
		for _, k := range rapid.SliceOfN(rapid.Int64Range(0, 2400), 2, 60).Draw(t, "at") {
			at = append(at, k*int64(time.Second))
		}
		slices.Sort(at)
		top, ok := func() (float64, bool) { v, _ := peak(at, time.Minute); return v.Get() }()
		if !ok {
			return
		}
		for _, window := range []time.Duration{time.Minute, 5 * time.Minute} {
			if at[len(at)-1]-at[0] < int64(window) {
				continue
			}
			_, rate := rates(at, window)
			if m := slices.Max(rate); m > top+1e-12 {
				t.Fatalf("%v: a step of %v above the peak of %v", window, m, top)
			}
			if window == time.Minute {
				continue
			}
			b := busiest(at, window)
			if m := slices.Max(b.Y); m != top {
				t.Fatalf("the busiest 60 s have %v, the peak %v", m, top)
			}
			for k := range rate {
				if rate[k] > b.Y[k]+1e-12 {
					t.Fatalf("step %d has %v, the busiest 60 s in it %v", k, rate[k], b.Y[k])
				}
			}
		}
	})
}

// TestElapsed: a length of time stands in its two largest units.
func TestElapsed(t *testing.T) {
	for s, want := range map[float64]string{0: "0 s", 0.25: "250 ms", 59: "59.0 s", 60: "1 min", 61: "1 min 1 s", 3600: "1 h", 86400: "24 h", 172740: "47 h 59 min",
		172800: "2 d", 180000: "2 d 2 h"} {
		if got := elapsed(s); got != want {
			t.Errorf("%v s: %q, want %q", s, got, want)
		}
	}
}

// TestRateWindow: at most 60 steps of seconds and 200 of minutes; a last step that
// is short by a rounding alone is whole.
func TestRateWindow(t *testing.T) {
	for span, want := range map[time.Duration]time.Duration{time.Second: 100 * time.Millisecond, time.Minute: time.Second, 10 * time.Minute: 10 * time.Second,
		20 * time.Minute: time.Minute, 200 * time.Minute: time.Minute, 201 * time.Minute: 5 * time.Minute, 10000 * time.Hour: 7 * 24 * time.Hour} {
		if got := rateWindow(span); got != want {
			t.Errorf("%v in windows of %v, want %v", span, got, want)
		}
	}
	for want, edges := range map[string][]float64{"": {0.1, 0.3}, ", here of 100 ms": {0, 0.1}, "; the last, cut short by the end, has that of the last 200 ms": {0, 0.2, 0.3}} {
		if got := cutShort(edges, .2); got != want {
			t.Errorf("%v: %q, want %q", edges, got, want)
		}
	}
}

// TestPeakIsMarked: the busiest 60 s, from 600 s on, are marked at their middle,
// and at their end where a step is longer, which may begin behind the middle.
func TestPeakIsMarked(t *testing.T) {
	for span, want := range map[float64]float64{7200: 630, 18000: 660} {
		f := &Facts{Span: measure.Some(span), PeakRate: measure.Some(2), PeakAt: measure.Some(600), Arrivals: 2, Requests: 2}
		p := rateFigure([]int64{0, int64(span * 1e9)}, f)
		if len(p.Marks) != 1 || p.Marks[0].X != want || p.Marks[0].Y != 2 {
			t.Errorf("%v s: %+v, want a mark at %v", span, p.Marks, want)
		}
	}
}

// TestOtherTenants: of 13 tenants one is another, of 15 three are.
func TestOtherTenants(t *testing.T) {
	for n, want := range map[int]string{12: "tenant 12", 13: "1 other", 15: "3 others"} {
		var k tally
		for i := range n {
			for range n - i { // the first sends the most
				k.add(fmt.Sprint("t", i))
			}
		}
		b := tenantsFigure(&k, &Facts{}, false)
		if last := b.Bars[len(b.Bars)-1].Name; last != want || len(b.Bars) != min(n, 13) {
			t.Errorf("%d tenants: %d bars, the last %q, want %q", n, len(b.Bars), last, want)
		}
	}
}
