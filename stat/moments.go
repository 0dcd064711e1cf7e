package stat

import "math"

// MeanSD returns the mean and the sample standard deviation (divisor n − 1) of
// values. The mean of none is NaN, and so is the deviation of fewer than two.
func MeanSD(values []float64) (mean, sd float64) {
	n := float64(len(values))
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	mean = sum / n
	if n < 2 {
		return mean, math.NaN()
	}
	var squares float64
	for _, v := range values {
		d := v - mean
		squares += float64(d * d) // the conversion keeps arm64 from fusing
	}
	return mean, math.Sqrt(squares / (n - 1))
}
