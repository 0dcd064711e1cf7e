package portrait

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRates: the last window is drawn as long as the arrivals cover it, with its
// rate over that time, and left out below a tenth.
func TestRates(t *testing.T) {
	s := int64(time.Second)
	for _, c := range []struct {
		name        string
		at          []int64
		edges, rate []float64
	}{
		{"a half", []int64{0, 10 * s, 50 * s, 60 * s, 75 * s, 90 * s}, []float64{0, 60, 90}, []float64{3.0 / 60, 3.0 / 30}},
		{"a tenth", []int64{0, 60 * s, 66 * s}, []float64{0, 60, 66}, []float64{1.0 / 60, 2.0 / 6}},
		{"less", []int64{0, 60 * s, 65 * s}, []float64{0, 60}, []float64{1.0 / 60}},
		{"whole", []int64{5 * s, 10 * s, 65 * s}, []float64{0, 60}, []float64{2.0 / 60}},
		{"one moment", []int64{5, 5}, []float64{0}, nil},
		{"none", nil, []float64{0}, nil},
	} {
		edges, rate := rates(c.at, time.Minute)
		if d := cmp.Diff([][]float64{c.edges, c.rate}, [][]float64{edges, rate}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestBusiestEndsWithTheRate: 11 min in windows of 5: the third is of 1 min, and
// its busiest minute is drawn only where its rate is.
func TestBusiestEndsWithTheRate(t *testing.T) {
	var at []int64
	for k := range 67 {
		at = append(at, int64(k)*10*int64(time.Second))
	}
	at = append(at, 11*int64(time.Minute))
	for _, to := range []float64{600, 660} {
		s := busiest(at, 5*time.Minute, to)
		if got := s.X[len(s.X)-1]; got != to || len(s.Y) != len(s.X)-1 {
			t.Errorf("up to %v s: %v, %v", to, s.X, s.Y)
		}
	}
}
