package measure

import (
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/stat"
)

// fewGaps is up to how many a pool is gathered and sorted.
const fewGaps = 1 << 15

// wholeGaps are the values of a large pool. Most are a whole number of
// nanoseconds below 4.29 s and stored as that; the rest are made of varints.
//
// Both have a place among whole numbers: the nearest one to 10⁶ times the value
// in ms, at most 2³² − 1. It is a gap's own number, and never larger for a
// smaller value, so that what stands at a rank is found among them, and told
// apart from what shares its place.
type wholeGaps struct {
	v    *View
	name string
}

func place(ms float64) uint32 {
	x := float64(ms*1e6) + .5
	if x >= math.MaxUint32 {
		return math.MaxUint32
	}
	return uint32(x)
}

// rowsAtOnce is how many requests are walked as one piece. It does not depend
// on the machine: sums of the pieces are added in order.
const rowsAtOnce = 1 << 13

func (w *wholeGaps) pieces() [][]*row {
	return slices.Collect(slices.Chunk(w.v.rows, rowsAtOnce))
}

// inParallel calls do for 0 to n-1 on all processors, and tells which of as
// many workers calls.
func inParallel(n int, do func(worker, i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for worker := range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(worker, i)
			}
		})
	}
	all.Wait()
}

// odd calls see with the values of those requests whose gaps are not stored as
// numbers.
func (w *wholeGaps) odd(rows []*row, see func([]float64) bool) bool {
	var s scratch
	for _, r := range rows {
		if !r.gaps.fixed && r.gaps.count > 0 && w.v.fate(r) == good && !see(s.values(w.v.a, w.name, r)) {
			return false
		}
	}
	return true
}

// parts are the places of all values, a part a processor.
func (w *wholeGaps) parts() []iter.Seq[[]uint32] {
	n := (len(w.v.rows) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var out []iter.Seq[[]uint32]
	for rows := range slices.Chunk(w.v.rows, n) {
		out = append(out, func(yield func([]uint32) bool) {
			for _, r := range rows {
				if r.gaps.fixed && w.v.fate(r) == good && !yield(w.v.a.gaps.numbers(r.gaps)) {
					return
				}
			}
			var places []uint32
			w.odd(rows, func(values []float64) bool {
				places = places[:0]
				for _, x := range values {
					places = append(places, place(x))
				}
				return yield(places)
			})
		})
	}
	return out
}

// ranked are the values of the given ranks.
func (w *wholeGaps) ranked(ranks []int) []float64 {
	placed := stat.Place(w.parts(), ranks)
	shared := map[uint32][]float64{}
	for _, p := range placed {
		shared[p.Value] = nil
	}
	w.odd(w.v.rows, func(values []float64) bool {
		for _, x := range values {
			if others, ok := shared[place(x)]; ok {
				shared[place(x)] = append(others, x)
			}
		}
		return true
	})
	for _, others := range shared {
		slices.Sort(others)
	}
	out := make([]float64, len(ranks))
	for i, p := range placed {
		out[i] = among(p, shared[p.Value])
	}
	return out
}

// among is the value at a place that odd values, ascending, share with gaps of
// just that many nanoseconds.
func among(p stat.Placed, odd []float64) float64 {
	exact := float64(p.Value) / 1e6
	less, _ := slices.BinarySearch(odd, exact)
	switch even := p.Equal - len(odd); {
	case p.Within <= less:
		return odd[p.Within-1]
	case p.Within <= less+even:
		return exact
	default:
		return odd[p.Within-even-1]
	}
}

// moments returns mean and sample standard deviation: those of the whole
// numbers exact but for a last rounding, those of the rest in two walks, and
// both together by their means (Chan, Golub and LeVeque 1979).
func (w *wholeGaps) moments() (mean, sd float64) {
	pieces := w.pieces()
	sums := make([]wholeSum, len(pieces))
	odds, counts := make([]float64, len(pieces)), make([]int, len(pieces))
	inParallel(len(pieces), func(_, i int) {
		for _, r := range pieces[i] {
			if r.gaps.fixed && w.v.fate(r) == good {
				sums[i].add(w.v.a.gaps.numbers(r.gaps))
			}
		}
		w.odd(pieces[i], func(values []float64) bool {
			counts[i] += len(values)
			odds[i] += total(values)
			return true
		})
	})
	var sum wholeSum
	odd, n := 0.0, 0
	for i := range sums {
		sum.merge(&sums[i])
		odd += odds[i]
		n += counts[i]
	}
	mean, squares := sum.mean()/1e6, sum.squares()/1e12
	if n > 0 {
		oddMean := odd / float64(n)
		oddSquares := w.oddSquares(pieces, oddMean)
		if sum.n == 0 {
			mean, squares = oddMean, oddSquares
		} else {
			all := float64(sum.n) + float64(n)
			d := oddMean - mean
			mean = (sum.mean()/1e6*float64(sum.n) + odd) / all
			squares += oddSquares + float64(d*d)*float64(sum.n)/all*float64(n)
		}
	}
	return mean, math.Sqrt(squares / (float64(sum.n) + float64(n) - 1))
}

func (w *wholeGaps) oddSquares(pieces [][]*row, mean float64) float64 {
	sums := make([]float64, len(pieces))
	inParallel(len(pieces), func(_, i int) {
		w.odd(pieces[i], func(values []float64) bool {
			for _, x := range values {
				d := x - mean
				sums[i] += float64(d * d)
			}
			return true
		})
	})
	return total(sums)
}

// wholeSum is the number of whole numbers, their sum and that of their squares.
type wholeSum struct{ n, sum, high, low uint64 }

func (s *wholeSum) add(values []uint32) {
	var carry uint64
	sum, high, low := s.sum, s.high, s.low
	for _, v := range values {
		x := uint64(v)
		sum += x
		low, carry = bits.Add64(low, x*x, 0)
		high += carry
	}
	s.n += uint64(len(values))
	s.sum, s.high, s.low = sum, high, low
}

func (s *wholeSum) merge(t *wholeSum) {
	var carry uint64
	s.n, s.sum = s.n+t.n, s.sum+t.sum
	s.low, carry = bits.Add64(s.low, t.low, 0)
	s.high += t.high + carry
}

func (s *wholeSum) mean() float64 { return float64(s.sum) / float64(s.n) }

// squares is that of the deviations from the mean, Σx² − (Σx)²/n. (Σx)² takes
// 128 bits, and the rest of its division by n is below one.
func (s *wholeSum) squares() float64 {
	if s.n == 0 {
		return 0
	}
	h, l := bits.Mul64(s.sum, s.sum)
	qh, rest := bits.Div64(0, h, s.n)
	ql, rest := bits.Div64(rest, l, s.n)
	low, borrow := bits.Sub64(s.low, ql, 0)
	high, _ := bits.Sub64(s.high, qh, borrow)
	return float64(high)*(1<<64) + float64(low) - float64(rest)/float64(s.n)
}
