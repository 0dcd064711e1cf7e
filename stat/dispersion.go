package stat

import "math"

// IndexOfDispersion returns the variance (divisor n − 1) of counts divided by
// their mean: 1 for a Poisson process, more for bursts. NaN for fewer than two
// counts, and where nothing was counted.
func IndexOfDispersion(counts []int64) float64 {
	n := float64(len(counts))
	if n < 2 {
		return math.NaN()
	}
	sum := 0.0
	for _, c := range counts {
		sum += float64(c)
	}
	mean := sum / n
	squares := 0.0
	for _, c := range counts {
		d := float64(c) - mean
		squares += float64(d * d)
	}
	return squares / (n - 1) / mean
}

// Coarser adds up every so many counts; a rest that fills no sum is left out.
func Coarser(counts []int64, every int) []int64 {
	out := make([]int64, len(counts)/every)
	for i := range out {
		for _, c := range counts[i*every : (i+1)*every] {
			out[i] += c
		}
	}
	return out
}
