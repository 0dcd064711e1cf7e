package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// TheilSen returns the median of the slopes between all pairs of a series, per
// step: a trend that single outliers do not move (Theil 1950, Sen 1968). It is
// NaN for fewer than two values.
func TheilSen(series []float64) float64 {
	n := len(series)
	if n < 2 {
		return math.NaN()
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range series {
		for j := i + 1; j < n; j++ {
			slopes = append(slopes, (series[j]-series[i])/float64(j-i))
		}
	}
	slices.Sort(slopes)
	m := len(slopes)
	return (slopes[(m-1)/2] + slopes[m/2]) / 2
}

// MannKendall returns the one-sided p-value of "the series does not climb"
// against "it climbs" (Mann 1945, Kendall 1975), for a series whose
// neighbours hang together: the variance of the statistic is taken for that
// of n(1 − ρ)/(1 + ρ) values, with ρ the bias-corrected lag-1
// autocorrelation of what the Theil–Sen slope leaves. It is 1 for fewer than
// ten values, and where ρ is 0.95 or more: nothing can be told then.
func MannKendall(series []float64) float64 {
	n := len(series)
	if n < 10 {
		return 1
	}
	rho := max(Autocorrelation(detrend(series, TheilSen(series))), 0)
	if rho >= .95 {
		return 1
	}
	s := 0.0
	for i := range series {
		for j := i + 1; j < n; j++ {
			switch {
			case series[j] > series[i]:
				s++
			case series[j] < series[i]:
				s--
			}
		}
	}
	m := float64(n)
	variance := (m*(m-1)*(2*m+5) - ties(series)) / 18
	if variance <= 0 {
		return 1
	}
	z := s
	switch {
	case s > 0:
		z--
	case s < 0:
		z++
	}
	return distuv.UnitNormal.Survival(z / math.Sqrt(variance*(1+rho)/(1-rho)))
}

// ties is Σ t(t − 1)(2t + 5) over groups of t equal values.
func ties(series []float64) float64 {
	sorted := slices.Sorted(slices.Values(series))
	sum, run := 0.0, 1.0
	for i := 1; i <= len(sorted); i++ {
		if i < len(sorted) && sorted[i] == sorted[i-1] {
			run++
			continue
		}
		sum += run * (run - 1) * (2*run + 5)
		run = 1
	}
	return sum
}

// detrend returns the series less a slope per step.
func detrend(series []float64, slope float64) []float64 {
	out := make([]float64, len(series))
	for i, x := range series {
		out[i] = x - float64(slope*float64(i))
	}
	return out
}

// Hinge returns after how many values a series leaves its level for a slope:
// the start of the broken line, flat before it, that fits best.
func Hinge(series []float64) int {
	n := len(series)
	best, at := math.Inf(1), 0
	for h := 0; h < n-4; h++ {
		if e := brokenLine(series, h); e < best {
			best, at = e, h
		}
	}
	return at
}

// brokenLine is the squared error of the least-squares line that is flat
// until h.
func brokenLine(series []float64, h int) float64 {
	n := float64(len(series))
	var sx, sxx, sy, sxy, syy float64
	for i, y := range series {
		x := float64(max(0, i-h))
		sx += x
		sxx += float64(x * x)
		sy += y
		sxy += float64(x * y)
		syy += float64(y * y)
	}
	cxx, cxy, cyy := sxx-float64(sx*sx)/n, sxy-float64(sx*sy)/n, syy-float64(sy*sy)/n
	if cxx == 0 {
		return cyy
	}
	return cyy - float64(cxy*cxy)/cxx
}
