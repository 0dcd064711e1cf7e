package stat

import (
	"math"
	"testing"
)

func TestLookSizes(t *testing.T) {
	for p, want := range map[float64]int{.5: 200, .9: 200, .95: 200, .99: 530, .999: 5300} {
		if got := LookSize(p, 0); got != want {
			t.Errorf("p %v: %d, want %d", p, got, want)
		}
	}
	if got := LookSize(.99, 3); got != 4240 {
		t.Errorf("fourth look at %d", got)
	}
	sum := 0.0
	for j := range 10_000 {
		sum += LookRisk(j)
	}
	if math.Abs(sum-Alpha*(1-1./10_001)) > 1e-12 { // the series telescopes
		t.Errorf("risks sum to %v", sum)
	}
}

// TestRiskOfLooking works out exactly, from the distribution of the number
// over at each look, how often a claim of which exactly 1 % are over ever passes.
func TestRiskOfLooking(t *testing.T) {
	const p, q = .99, .01
	ever := func(looks []int, risk func(int) float64) float64 {
		alive := []float64{1} // by number over, what has not passed
		n, passed := 0, 0.0
		for j, size := range looks {
			alive = spread(alive, size-n, q)
			n = size
			for k := range alive {
				if c, _ := EarlyStopping(n, k, p, risk(j)); c == Pass {
					passed += alive[k]
					alive[k] = 0
				}
			}
		}
		return passed
	}
	var scheduled, every []int
	for j := range 6 {
		scheduled = append(scheduled, LookSize(p, j))
	}
	for n := 1; n <= 2000; n++ {
		every = append(every, n)
	}
	if got := ever(scheduled, LookRisk); got < .004 || got > .0075 {
		t.Errorf("by the schedule: %.4f", got)
	}
	if got := ever(every, func(int) float64 { return Alpha }); math.Abs(got-.0375) > .0005 {
		t.Errorf("at every request up to 2,000: %.4f, want 0.0375", got)
	}
}

// spread adds n requests of which each is over with probability q.
func spread(alive []float64, n int, q float64) []float64 {
	for range n {
		next := make([]float64, min(len(alive)+1, 400))
		for k, a := range alive {
			next[k] += a * (1 - q)
			if k+1 < len(next) {
				next[k+1] += a * q
			}
		}
		alive = next
	}
	return alive
}
