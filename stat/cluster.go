package stat

import (
	"math"
	"slices"
)

// ExtremalIndex returns the intervals estimate of Ferro and Segers (2003) of
// the extremal index θ of a series in order of time: the reciprocal of the mean
// size of the clusters in which values above the series' own q-quantile
// come. 1 means that they come alone. Values of +Inf take part; where the
// quantile itself is +Inf, exceedances are the values that are. With fewer
// than three exceedances nothing can be estimated and θ is 1.
func ExtremalIndex(series []float64, q float64) float64 {
	if len(series) == 0 {
		return 1
	}
	ascending := slices.Clone(series)
	slices.Sort(ascending)
	u := Quantile(ascending, q)
	var times []int
	for i, v := range series {
		if v > u || math.IsInf(v, 1) {
			times = append(times, i)
		}
	}
	if len(times) < 3 {
		return 1
	}
	return intervals(times)
}

// intervals is the estimator on the moments of exceedances.
func intervals(times []int) float64 {
	var longest int
	var sum, squares, sum1, squares12 float64
	for i := 1; i < len(times); i++ {
		gap := times[i] - times[i-1]
		longest = max(longest, gap)
		t := float64(gap)
		sum += t
		squares += float64(t * t)
		sum1 += t - 1
		squares12 += float64((t - 1) * (t - 2))
	}
	m := float64(len(times) - 1)
	if longest <= 2 {
		return min(1, 2*sum*sum/(m*squares))
	}
	return min(1, 2*sum1*sum1/(m*squares12))
}

// DesignEffect returns by how much clustering with extremal index θ shrinks a
// sample: max(1, 2/θ − 1).
func DesignEffect(theta float64) float64 { return max(1, 2/theta-1) }

// RatioEffect returns the design effect of the share Σ over / Σ size, where
// item i, in order of time, brings size[i] observations of which over[i] are
// over: by how much its variance exceeds that of a count of whole items, which
// is P(1 − P)/n. The variance is that of the linearised ratio with the
// dependence of neighbours, from the means of batches of ⌈√n⌉ items. It is at
// least 1, so that n items are never worth more than n; with fewer than four
// batches nothing can be estimated and it is 1.
func RatioEffect(over, size []float64) float64 {
	n := len(over)
	length := int(math.Ceil(math.Sqrt(float64(n))))
	if n == 0 || n/length < 4 {
		return 1
	}
	var overs, sizes float64
	for i := range over {
		overs += over[i]
		sizes += size[i]
	}
	share := overs / sizes
	if !(share > 0 && share < 1) {
		return 1
	}
	means := make([]float64, n/length)
	for b := range means {
		for i := b * length; i < (b+1)*length; i++ {
			means[b] += over[i] - float64(share*size[i])
		}
		means[b] *= float64(n) / sizes / float64(length)
	}
	_, sd := MeanSD(means)
	return max(1, float64(length)*sd*sd/(share*(1-share)))
}
