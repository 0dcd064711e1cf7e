package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// shortestSegment is how many values there are at least between two changes.
const shortestSegment = 5

// changeDraws is how many null series a change is held against.
const changeDraws = 999

// Changes returns where the level of a series changes: the indices of the
// first value after each change, by binary segmentation.
//
// Each segment's candidate is where the cumulative sum of its normal scores
// strays farthest; ranks keep outliers from making changes. It is a change if
// that is farther than in all but the share alpha of series without one that
// hang together as what the candidate leaves does: first-order
// autoregressions with the same ρ, drawn by seed. So a segment without a
// change shows one with a chance of about alpha, however its neighbours hang
// together; where ρ is above 0.9 none is told.
func Changes(series []float64, alpha float64, seed uint64) []int {
	var out []int
	var split func(from, to int)
	split = func(from, to int) {
		k, ok := change(series[from:to], alpha, seed^uint64(from)<<32^uint64(to))
		if !ok {
			return
		}
		split(from, from+k)
		out = append(out, from+k)
		split(from+k, to)
	}
	split(0, len(series))
	return out
}

func change(segment []float64, alpha float64, seed uint64) (int, bool) {
	n := len(segment)
	if n < 4*shortestSegment {
		return 0, false
	}
	at, found, rho := stray(normalScores(segment))
	// On the safe side by its standard error, and since two levels, split
	// where that fits best, leave less than one does.
	rho = min(rho+(1+4*rho)/float64(n)+math.Sqrt((1-rho*rho)/float64(n)), .99)
	if rho > .9 || found == 0 {
		return 0, false
	}
	random := Random(seed, "changes", uint64(n))
	null := make([]float64, n)
	beyond := 0
	most := int(alpha * (changeDraws + 1))
	for range changeDraws {
		x := random.NormFloat64()
		for i := range null {
			null[i] = x
			x = float64(rho*x) + float64(math.Sqrt(1-rho*rho)*random.NormFloat64())
		}
		if _, d, _ := stray(null); d >= found {
			if beyond++; beyond >= most {
				return 0, false
			}
		}
	}
	return at, true
}

// stray returns where the cumulative sum of a centred series is farthest from
// zero, how far, in its own long-run standard deviations, and the
// autocorrelation of what two levels, split there, leave.
func stray(series []float64) (at int, distance, rho float64) {
	n := len(series)
	mean, _ := MeanSD(series)
	sum, most := 0.0, -1.0
	for i := range n - shortestSegment {
		sum += series[i] - mean
		if d := math.Abs(sum); i+1 >= shortestSegment && d > most {
			most, at = d, i+1
		}
	}
	before, _ := MeanSD(series[:at])
	after, _ := MeanSD(series[at:])
	rest := make([]float64, n)
	for i, x := range series {
		rest[i] = x - before
		if i >= at {
			rest[i] = x - after
		}
	}
	rho = min(max(Autocorrelation(rest), 0), .99)
	_, sd := MeanSD(rest)
	if sd == 0 {
		if most > 0 {
			return at, math.Inf(1), 0 // nothing but two levels
		}
		return at, 0, 0
	}
	return at, most / (sd * math.Sqrt(float64(n)*(1+rho)/(1-rho))), rho
}

// normalScores replaces values by the normal quantiles of their ranks; equal
// ones share their mean rank.
func normalScores(series []float64) []float64 {
	n := len(series)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(series[a], series[b]) })
	out := make([]float64, n)
	for i := 0; i < n; {
		j := i
		for j < n && series[order[j]] == series[order[i]] {
			j++
		}
		score := distuv.UnitNormal.Quantile((float64(i+j+1)/2 - .375) / (float64(n) + .25)) // Blom 1958
		for ; i < j; i++ {
			out[order[i]] = score
		}
	}
	return out
}
