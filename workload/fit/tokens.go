package fit

import (
	"math"
	"slices"
)

// tokens are lengths as distinct ascending values with their counts.
type tokens struct {
	value []float64
	count []float64
	upTo  []float64 // share at or below each value
	n     float64
}

// newTokens counts lengths; list is sorted in place.
func newTokens(list []int32) *tokens {
	slices.Sort(list)
	t := &tokens{n: float64(len(list))}
	for i := 0; i < len(list); {
		j := i
		for j < len(list) && list[j] == list[i] {
			j++
		}
		t.value, t.count = append(t.value, float64(list[i])), append(t.count, float64(j-i))
		t.upTo = append(t.upTo, float64(j)/t.n)
		i = j
	}
	return t
}

// quantile is by nearest rank.
func (t *tokens) quantile(p float64) float64 {
	i, _ := slices.BinarySearch(t.upTo, p)
	return t.value[min(i, len(t.value)-1)]
}

func (t *tokens) least() float64 { return t.value[0] }
func (t *tokens) most() float64  { return t.value[len(t.value)-1] }

// mean of a function of the values.
func (t *tokens) mean(f func(x float64) float64) float64 {
	sum := 0.0
	for i, x := range t.value {
		sum += t.count[i] * f(x)
	}
	return sum / t.n
}

// coarse is the same with at most about most values, neighbours put together
// at their mean: enough to search parameters with.
func (t *tokens) coarse(most int) *tokens {
	if len(t.value) <= most {
		return t
	}
	out := &tokens{n: t.n}
	width := math.Log(t.most()/t.least()) / float64(most)
	for i := 0; i < len(t.value); {
		end := t.value[i] * math.Exp(width)
		sum, n := 0.0, 0.0
		for i < len(t.value) && (n == 0 || t.value[i] < end) {
			sum += t.value[i] * t.count[i]
			n += t.count[i]
			i++
		}
		out.value, out.count, out.upTo = append(out.value, sum/n), append(out.count, n), append(out.upTo, t.upTo[i-1])
	}
	return out
}

// against holds a distribution function of real numbers, rounded to whole
// tokens of at least 1, against the lengths: the log-likelihood, the largest
// difference (KS) and the area between (Wasserstein, in tokens).
func (t *tokens) against(share func(x float64) float64) (likelihood, ks, area float64) {
	const floor = 1e-12
	below := 0.0 // the family's share below the value at hand
	for i, v := range t.value {
		before := below
		low := 0.0
		if v > 1 {
			low = share(v - .5)
		}
		high := share(v + .5)
		likelihood += t.count[i] * math.Log(max(high-low, floor))
		seen := 0.0
		if i > 0 {
			seen = t.upTo[i-1]
			// Between the values the log's share stands still.
			area += (v - t.value[i-1]) * (math.Abs(before-seen) + math.Abs(low-seen)) / 2
		} else {
			// Below the least value, by a few steps.
			const steps = 16
			for k := range steps {
				x := v * (float64(k) + .5) / steps
				area += v / steps * share(x)
			}
		}
		ks = max(ks, math.Abs(low-seen), math.Abs(high-t.upTo[i]))
		below = high
	}
	// Above the greatest.
	last := t.most()
	for step := last / 16; step < last*64; step *= 1.25 {
		x := last + step
		area += (1 - share(x)) * step * .25
	}
	return likelihood, ks, area
}
