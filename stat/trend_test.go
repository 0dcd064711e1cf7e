package stat

import (
	"flag"
	"math"
	"testing"
)

// full asks for as many runs as docs/evidence.md tells of.
var full = flag.Bool("full", false, "as many runs as docs/evidence.md tells of")

// autoregression returns a first-order one of unit variance.
func autoregression(n int, rho float64, seed uint64) []float64 {
	r := Random(seed, "ar", uint64(n))
	out := make([]float64, n)
	x := r.NormFloat64()
	for i := range out {
		out[i] = x
		x = rho*x + math.Sqrt(1-rho*rho)*r.NormFloat64()
	}
	return out
}

func TestTrendOnPaper(t *testing.T) {
	// Slopes of 1, 2, 4, 3: 1, 1.5, 2/3, 2, 0.5, −1: median (2/3 + 1)/2.
	if got := TheilSen([]float64{1, 2, 4, 3}); math.Abs(got-5./6) > 1e-15 {
		t.Errorf("slope %v", got)
	}
	// Ten rising values: S = 45, variance 10·9·25/18 = 125, ρ of a line is 0.
	rising := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if got, want := MannKendall(rising), .5*math.Erfc(44/math.Sqrt(125)/math.Sqrt2); math.Abs(got-want) > 1e-12 {
		t.Errorf("p %v, want %v", got, want)
	}
	if got := MannKendall(rising[:9]); got != 1 {
		t.Errorf("nine values: p %v", got)
	}
	if got := MannKendall(make([]float64, 20)); got != 1 {
		t.Errorf("a constant: p %v", got)
	}
	// Means 1.5 and ρ: (−.5·−.5... ) of 1, 1, 2, 2: deviations −.5 −.5 .5 .5: (.25 − .25 + .25)/1 = .25, + (1 + 1)/4.
	if got := Autocorrelation([]float64{1, 1, 2, 2}); got != .75 {
		t.Errorf("ρ %v", got)
	}
	if got := Hinge([]float64{3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9}); got != 4 {
		t.Errorf("hinge after %d", got)
	}
}

// TestFalseTrends: series without a trend, however they hang together.
func TestFalseTrends(t *testing.T) {
	for rho, most := range map[float64]int{0: 12, .5: 16, .8: 25} { // of 500; nominal 5
		n := 0
		for run := range 500 {
			if MannKendall(autoregression(60, rho, uint64(run))) < .01 {
				n++
			}
		}
		t.Logf("ρ %v: %d of 500", rho, n)
		if n > most {
			t.Errorf("ρ %v: %d of 500 series climb, at most %d were to", rho, n, most)
		}
	}
}

func TestChangesFalseAndTrue(t *testing.T) {
	for _, rho := range []float64{0, .3, .6, .8} {
		for _, n := range []int{60, 100} {
			runs := 80
			if *full {
				runs = 200
			}
			falses, found := 0, 0
			for run := range runs {
				x := autoregression(n, rho, uint64(run))
				if len(Changes(x, .01, uint64(run))) > 0 {
					falses++
				}
				for i := n / 2; i < n; i++ {
					x[i] += 4
				}
				if c := Changes(x, .01, uint64(run)); len(c) > 0 && math.Abs(float64(c[0]-n/2)) <= 2 {
					found++
				}
			}
			t.Logf("ρ %.1f, %d values: %d false, a shift of 4 sd found %d of %d", rho, n, falses, found, runs)
			if falses > 1+3*runs/100 {
				t.Errorf("ρ %v, %d values: %d of %d show a change that is none", rho, n, falses, runs)
			}
			if rho <= .3 && found < runs*7/10 {
				t.Errorf("ρ %v, %d values: only %d of %d changes found", rho, n, found, runs)
			}
		}
	}
}
