package stat

import (
	"iter"
	"math"
	"slices"
)

// Select returns the values of the given ranks (1 is the smallest) among n
// values, none NaN, that can be walked repeatedly in batches. It is
// exact and keeps no copy of a large sample: it narrows the bits of the
// answers in four walks, sixteen bits a walk.
func Select(values iter.Seq[[]float64], n int, ranks []int) []float64 {
	out := make([]float64, len(ranks))
	if n <= 1<<15 {
		all := make([]float64, 0, n)
		for batch := range values {
			all = append(all, batch...)
		}
		slices.Sort(all)
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
	for i, g := range goals {
		out[i] = unkey(g.bits)
	}
	return out
}

// Batch makes one batch of a slice.
func Batch(values []float64) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) { yield(values) }
}

// key maps a number to bits that order as numbers do.
func key(v float64) uint64 {
	b := math.Float64bits(v)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

func unkey(k uint64) float64 {
	if k>>63 == 1 {
		return math.Float64frombits(k ^ 1<<63)
	}
	return math.Float64frombits(^k)
}

// goal is a rank sought: its value's leading bits, known so far, and its rank
// among the values that share them.
type goal struct {
	bits uint64
	rest int
}

func narrow(values iter.Seq[[]float64], goals []goal, shift int) {
	var prefixes []uint64
	for _, g := range goals {
		if p := g.bits >> shift >> 16; !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	counts := make([][]int, len(prefixes))
	for i := range counts {
		counts[i] = make([]int, 1<<16)
	}
	for batch := range values {
		tally(batch, prefixes, counts, shift)
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

// tally counts the digits that follow each prefix.
func tally(batch []float64, prefixes []uint64, counts [][]int, shift int) {
	for _, v := range batch {
		b := key(v)
		prefix := b >> shift >> 16
		for i, p := range prefixes {
			if prefix == p {
				counts[i][b>>shift&0xffff]++
				break
			}
		}
	}
}
