package rivals

import (
	"math"
	"slices"
)

// rank is the nearest-rank q-quantile; NaN of nothing.
func rank(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	return v[max(0, int(math.Ceil(q*float64(len(v))))-1)]
}

// pace is the rate at which requests truly came, per second, and the
// coefficient of variation of the gaps between them.
func (t *truth) pace() (rate, cv float64) {
	n := len(t.Requests)
	if n < 3 {
		return math.NaN(), math.NaN()
	}
	var sum, squares float64
	for i := range n - 1 {
		g := float64(t.Requests[i+1]-t.Requests[i]) / 1e9
		sum += g
		squares += g * g
	}
	mean := sum / float64(n-1)
	return 1 / mean, math.Sqrt(max(0, squares/float64(n-1)-mean*mean)) / mean
}

// tokenRate is the events a second from the first request to the last event.
func (t *truth) tokenRate() float64 {
	return float64(t.Events) / (float64(t.Last-t.First) / 1e9)
}
