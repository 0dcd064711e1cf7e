package stat

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// CircularBlocks draws one resample of n items in order of time by blocks of
// successive ones, the first following on the last (circular block bootstrap,
// Politis and Romano 1992). counts, of length n, is filled with how often each item is in
// it; the counts sum to n.
func CircularBlocks(r *rand.Rand, length int, counts []int32) {
	n := len(counts)
	clear(counts)
	for drawn := 0; drawn < n; drawn += length {
		at := r.IntN(n)
		for range min(length, n-drawn) {
			counts[at]++
			if at++; at == n {
				at = 0
			}
		}
	}
}

// Counted is a sample whose values belong to items that a resample has more or
// less often: requests and their gaps.
type Counted struct {
	values []float64 // ascending
	item   []int32
	size   []int32 // values by item
}

// NewCounted makes a sample of values, each of the item beside it.
func NewCounted(values []float64, items []int32) *Counted {
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(values[a], values[b]) })
	c := &Counted{make([]float64, len(values)), make([]int32, len(values)), nil}
	for i, o := range order {
		c.values[i], c.item[i] = values[o], items[o]
	}
	if len(items) > 0 {
		c.size = make([]int32, slices.Max(items)+1)
	}
	for _, i := range items {
		c.size[i]++
	}
	return c
}

// Mean returns the mean with each item as often as counts says; NaN of none.
func (c *Counted) Mean(counts []int32) float64 {
	var sum, n float64
	for i, x := range c.values {
		k := float64(counts[c.item[i]])
		sum += float64(k * x)
		n += k
	}
	return sum / n
}

// Quantile returns the q-quantile by nearest rank with each item as often as
// counts says; ok is false of none.
func (c *Counted) Quantile(q float64, counts []int32) (x float64, ok bool) {
	n := 0
	for i, k := range c.size {
		n += int(k) * int(counts[i])
	}
	if n == 0 {
		return 0, false
	}
	left := Rank(n, q)
	for i, at := range c.item {
		if left -= int(counts[at]); left <= 0 {
			return c.values[i], true
		}
	}
	return 0, false // not reached: the counts sum to n
}
