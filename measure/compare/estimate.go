package compare

import (
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// estimate is what is known of a difference, as a log ratio or in the
// metric's unit: its best guess, the standard error of that, and from how many
// degrees of freedom the error is known.
type estimate struct {
	mean, se, df float64
	sd           float64 // of one pair's difference
	n            int     // pairs, or runs of the smaller side
}

// interval returns the two-sided interval with the given confidence.
func (e *estimate) interval(confidence float64) (low, high float64) {
	if e.se == 0 {
		return e.mean, e.mean
	}
	t := stat.StudentQuantile(e.df, 1-(1-confidence)/2)
	return e.mean - t*e.se, e.mean + t*e.se
}

// above is the p-value of "the difference is at most x" against "it is more".
func (e *estimate) above(x float64) float64 {
	if e.se == 0 {
		if e.mean > x {
			return 0
		}
		return 1
	}
	return stat.StudentAbove(e.df, (e.mean-x)/e.se)
}

// below is the p-value of "the difference is at least x" against "it is less".
func (e *estimate) below(x float64) float64 {
	mirrored := estimate{mean: -e.mean, se: e.se, df: e.df}
	return mirrored.above(-x)
}

// differs is the two-sided p-value of "there is no difference".
func (e *estimate) differs() float64 {
	return min(1, 2*min(e.above(0), e.below(0)))
}

// within is the p-value of two one-sided tests: that the difference is
// outside (−margin, margin), against that it is inside.
func (e *estimate) within(low, high float64) float64 {
	return max(e.above(low), e.below(high))
}

// of pairs: Student's t on the differences.
func fromPairs(a, b []float64, f func(float64) float64) estimate {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = f(b[i]) - f(a[i])
	}
	mean, sd := stat.MeanSD(d)
	n := float64(len(d))
	return estimate{mean: mean, se: exact(sd, mean) / math.Sqrt(n), df: n - 1, sd: exact(sd, mean), n: len(d)}
}

// fromRuns is Welch's comparison of two samples of runs, or, where one side
// has a single run, the pooled one, which takes the other's spread for both.
func fromRuns(a, b []float64, f func(float64) float64) estimate {
	ma, sa, na := moments(a, f)
	mb, sb, nb := moments(b, f)
	e := estimate{mean: mb - ma, n: int(min(na, nb))}
	if na > 1 && nb > 1 {
		va, vb := sa*sa/na, sb*sb/nb
		e.se = math.Sqrt(va + vb)
		e.df = stat.Satterthwaite([]float64{va, vb}, []float64{na - 1, nb - 1})
		e.sd = math.Sqrt(sa*sa + sb*sb)
		return e
	}
	s, n := sa, na
	if nb > 1 {
		s, n = sb, nb
	}
	e.se, e.df, e.sd = s*math.Sqrt(1/na+1/nb), n-1, s*math.Sqrt2
	return e
}

func moments(values []float64, f func(float64) float64) (mean, sd, n float64) {
	x := make([]float64, len(values))
	for i, v := range values {
		x[i] = f(v)
	}
	mean, sd = stat.MeanSD(x)
	if len(x) < 2 {
		return mean, 0, float64(len(x))
	}
	return mean, exact(sd, mean), float64(len(x))
}

// exact makes a spread that is nothing but rounding zero, so that runs of a
// deterministic engine count as equal.
func exact(sd, mean float64) float64 {
	if sd < 1e-12*math.Max(1, math.Abs(mean)) {
		return 0
	}
	return sd
}

// widened adds the noise between starts of a target, an sd of one run on the
// same scale known from df degrees of freedom, to what the runs show: two
// targets have two of it.
func (e estimate) widened(sd, df float64) estimate {
	v, w := e.se*e.se, 2*sd*sd
	e.df = stat.Satterthwaite([]float64{v, w}, []float64{e.df, df})
	e.se = math.Sqrt(v + w)
	return e
}

// power is the chance with which [needed] and [detectable] ask that a true
// difference is found.
const power = 0.9

// needed returns how many pairs with differences of spread sd find a
// difference of size with the power, at two-sided level alpha; 0 where more
// than a million would not do.
func needed(sd, size, alpha float64) int {
	if sd == 0 {
		return 2
	}
	// The normal distribution's number is a lower bound, and a close one.
	n := reach(sd, math.Inf(1), alpha) / size
	if !(n*n < mostPairs) {
		return 0
	}
	for k := max(2, int(n*n)); ; k++ {
		if finds(sd, size, alpha, k) {
			return k
		}
	}
}

// mostPairs is how many pairs are too many to be worth naming.
const mostPairs = 1e6

func finds(sd, size, alpha float64, n int) bool {
	return n > 1 && reach(sd/math.Sqrt(float64(n)), float64(n-1), alpha) <= size
}

// reach is the smallest difference that is found with the power where the
// standard error is se.
func reach(se, df, alpha float64) float64 {
	return (stat.StudentQuantile(df, 1-alpha/2) + stat.StudentQuantile(df, power)) * se
}
