package stat

import (
	"iter"
	"math"
	"slices"
	"sync"
)

// Select returns the values of the given ranks (1 is the smallest) among n
// values, none NaN, that can be walked repeatedly in batches. It is
// exact and keeps no copy of a large sample: it narrows the bits of the
// answers in four walks, sixteen bits a walk. n is below 2³².
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
		narrow([]iter.Seq[[]float64]{values}, goals, shift, (*digits).floats)
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
// among the values that share them, of which there are so many.
type goal struct {
	bits  uint64
	rest  int
	equal int
}

// narrow finds the sixteen bits from shift on of every goal's value. Parts are
// counted at the same time.
func narrow[T any](parts []iter.Seq[[]T], goals []goal, shift int, count func(*digits, []T)) {
	var prefixes []uint64
	for _, g := range goals {
		if p := g.bits >> shift >> 16; !slices.Contains(prefixes, p) {
			prefixes = append(prefixes, p)
		}
	}
	counts := countAll(parts, prefixes, shift, count)
	for i := range goals {
		g := &goals[i]
		c := counts[slices.Index(prefixes, g.bits>>shift>>16)]
		for digit, k := range c {
			if g.rest <= int(k) {
				g.bits |= uint64(digit) << shift
				g.equal = int(k)
				break
			}
			g.rest -= int(k)
		}
	}
}

// digits are how often each digit follows each prefix.
type digits struct {
	shift    int
	prefixes []uint64
	counts   [][]uint32
	slot     []uint16 // of whole numbers: 1 + which prefix is theirs
}

func newDigits(prefixes []uint64, shift int) *digits {
	d := &digits{shift, prefixes, make([][]uint32, len(prefixes)), nil}
	for i := range d.counts {
		d.counts[i] = make([]uint32, 1<<16)
	}
	return d
}

// countAll walks the parts and sums what they count.
func countAll[T any](parts []iter.Seq[[]T], prefixes []uint64, shift int, count func(*digits, []T)) [][]uint32 {
	all := make([]*digits, len(parts))
	var walks sync.WaitGroup
	for i, part := range parts {
		all[i] = newDigits(prefixes, shift)
		walk := func() {
			for batch := range part {
				count(all[i], batch)
			}
		}
		if len(parts) == 1 {
			walk()
		} else {
			walks.Go(walk)
		}
	}
	walks.Wait()
	sum := all[0].counts
	for _, d := range all[1:] {
		for i, c := range d.counts {
			for digit, k := range c {
				sum[i][digit] += k
			}
		}
	}
	return sum
}

// floats counts a batch of numbers.
func (d *digits) floats(batch []float64) {
	shift, prefixes := d.shift, d.prefixes
	for _, v := range batch {
		b := key(v)
		prefix := b >> shift >> 16
		for i, p := range prefixes {
			if prefix == p {
				d.counts[i][b>>shift&0xffff]++
				break
			}
		}
	}
}
