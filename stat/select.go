package stat

import (
	"iter"
	"math"
	"slices"
)

// Select returns the values of the given ranks (1 is the smallest) among n
// values, none negative and none NaN, that can be walked repeatedly in the
// same order. It is exact and keeps no copy of a large sample: it narrows the
// bits of the answers in four walks, sixteen bits a walk.
func Select(values iter.Seq[float64], n int, ranks []int) []float64 {
	if n <= 1<<16 {
		all := make([]float64, 0, n)
		for v := range values {
			all = append(all, v)
		}
		slices.Sort(all)
		out := make([]float64, len(ranks))
		for i, r := range ranks {
			out[i] = all[r-1]
		}
		return out
	}
	goals := make([]goal, len(ranks))
	for i, r := range ranks {
		goals[i].rest = r
	}
	for shift := 48; shift >= 0; shift -= 16 {
		narrow(values, goals, shift)
	}
	out := make([]float64, len(ranks))
	for i, g := range goals {
		out[i] = math.Float64frombits(g.bits)
	}
	return out
}

// goal is a rank sought: its value's leading bits, known so far, and its rank
// among the values that share them.
type goal struct {
	bits uint64
	rest int
}

func narrow(values iter.Seq[float64], goals []goal, shift int) {
	prefixes := make([]uint64, 0, len(goals))
	for _, g := range goals {
		if p := g.bits >> shift >> 16; !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	counts := make([][]int, len(prefixes))
	for i := range counts {
		counts[i] = make([]int, 1<<16)
	}
	for v := range values {
		b := math.Float64bits(v)
		for i, p := range prefixes {
			if b>>shift>>16 == p {
				counts[i][b>>shift&0xffff]++
				break
			}
		}
	}
	for i := range goals {
		g := &goals[i]
		c := counts[slices.Index(prefixes, g.bits>>shift>>16)]
		for digit, k := range c {
			if g.rest <= k {
				g.bits |= uint64(digit) << shift
				break
			}
			g.rest -= k
		}
	}
}
