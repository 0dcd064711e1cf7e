package portrait

import (
	"math"
	"slices"
)

// logEdges returns edges from low to high, so many to a decade, low and high
// above 0.
func logEdges(low, high float64, perDecade int) []float64 {
	from := math.Floor(math.Log10(low) * float64(perDecade))
	to := math.Ceil(math.Log10(high)*float64(perDecade) + 1e-9)
	if to <= from {
		to = from + 1
	}
	var out []float64
	for k := from; k <= to; k++ {
		out = append(out, math.Pow(10, k/float64(perDecade)))
	}
	return out
}

// wholeEdges is logEdges for whole numbers: each edge is a half, so that no
// bin is without a whole number in it.
func wholeEdges(low, high float64, perDecade int) []float64 {
	var out []float64
	for _, e := range logEdges(max(low, 1), max(high, 1)+1, perDecade) {
		e = math.Ceil(e) - 0.5
		if len(out) == 0 || e > out[len(out)-1] {
			out = append(out, e)
		}
	}
	if len(out) < 2 {
		out = append(out, out[0]+1)
	}
	return out
}

// bin returns in which bin of rising edges a value lies; -1 for none.
func bin(edges []float64, v float64) int {
	i, exact := slices.BinarySearch(edges, v)
	if !exact {
		i--
	}
	if i < 0 || i >= len(edges)-1 {
		return -1
	}
	return i
}

// density returns the share of values in each bin. Of bins wider than 1 in
// perDecade, as those of small whole numbers are, it is the share of a part that
// wide, so that equal areas of the picture are equal shares.
func density(values []int32, edges []float64, perDecade int) []float64 {
	out := make([]float64, len(edges)-1)
	for _, v := range values {
		if k := bin(edges, float64(v)); k >= 0 {
			out[k]++
		}
	}
	for k := range out {
		out[k] /= float64(len(values)) * max(math.Log10(edges[k+1]/edges[k])*float64(perDecade), 1)
	}
	return out
}
