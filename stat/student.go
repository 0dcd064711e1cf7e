package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// StudentQuantile returns the p-quantile of Student's t with df degrees of
// freedom; from a million on, and for +Inf, the normal distribution's.
func StudentQuantile(df, p float64) float64 {
	if df > 1e6 {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// StudentAbove returns P(T > t) for Student's t with df degrees of freedom.
func StudentAbove(df, t float64) float64 {
	switch {
	case math.IsInf(t, 1):
		return 0
	case math.IsInf(t, -1):
		return 1
	case df > 1e6:
		return distuv.UnitNormal.Survival(t)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
}

// Holm returns the p-values of a family of tests adjusted by Holm's step-down
// rule (1979), in the order given: rejecting those at most α keeps the chance
// of any false rejection at most α. NaN takes no part and stays.
func Holm(ps []float64) []float64 {
	order := make([]int, 0, len(ps))
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(ps)
	largest := 0.0
	for k, i := range order {
		largest = max(largest, float64(len(order)-k)*ps[i])
		out[i] = min(largest, 1)
	}
	return out
}

// Satterthwaite returns the degrees of freedom of a sum of independent
// estimated variances, each with its own (Satterthwaite 1946). Variances of
// zero take no part; +Inf where nothing is left.
func Satterthwaite(variances, dfs []float64) float64 {
	var sum, parts float64
	for i, v := range variances {
		if v > 0 {
			sum += v
			parts += v * v / dfs[i]
		}
	}
	if parts == 0 {
		return math.Inf(1)
	}
	return sum * sum / parts
}
