package stat_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokamak-bench/tokamak/stat"
)

// Quantiles of Student's t as printed tables have them.
func TestStudentTables(t *testing.T) {
	for _, c := range []struct{ df, p, want float64 }{
		{1, 0.975, 12.7062}, {2, 0.975, 4.30265}, {7, 0.975, 2.36462}, {7, 0.95, 1.89458}, {30, 0.995, 2.75000},
		{math.Inf(1), 0.975, 1.95996}, {2e6, 0.95, 1.64485},
	} {
		got := stat.StudentQuantile(c.df, c.p)
		if math.Abs(got-c.want) > 1e-4 {
			t.Errorf("t(%v, %v) = %v, want %v", c.df, c.p, got, c.want)
		}
		if p := stat.StudentAbove(c.df, got); math.Abs(p-(1-c.p)) > 1e-9 {
			t.Errorf("P(T > %v) with %v df = %v, want %v", got, c.df, p, 1-c.p)
		}
	}
	if p := stat.StudentAbove(3, math.Inf(1)); p != 0 {
		t.Errorf("P(T > inf) = %v", p)
	}
	if p := stat.StudentAbove(3, math.Inf(-1)); p != 1 {
		t.Errorf("P(T > -inf) = %v", p)
	}
}

// Four tests: 4·0.005, 3·0.01, 2·0.03 and, never less than the one before, 1·0.04.
func TestHolm(t *testing.T) {
	nan := math.NaN()
	got := stat.Holm([]float64{0.01, nan, 0.04, 0.03, 0.005})
	want := []float64{0.03, nan, 0.06, 0.06, 0.02}
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	if got := stat.Holm([]float64{0.6, 0.9}); got[0] != 1 || got[1] != 1 {
		t.Errorf("more than certain: %v", got)
	}
}

// (2 + 1)² / (2²/4 + 1²/9) = 9 / (10/9).
func TestSatterthwaite(t *testing.T) {
	if got := stat.Satterthwaite([]float64{2, 0, 1}, []float64{4, 1, 9}); math.Abs(got-8.1) > 1e-12 {
		t.Errorf("got %v, want 8.1", got)
	}
	if got := stat.Satterthwaite([]float64{0}, []float64{4}); !math.IsInf(got, 1) {
		t.Errorf("nothing varies: %v, want +inf", got)
	}
}
