package fit

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/stat"
)

// TestGridGainByHand: two folds of two low and two high pairs. The other fold's
// grid of 2 × 2 with a pair more in each cell has 3 of 8 in the cells in which the
// pairs are, 1.5 times what independence has: ln 1.5 for each of eight pairs.
func TestGridGainByHand(t *testing.T) {
	ranks := []float64{.1, .2, .8, .9, .1, .2, .8, .9}
	f := newFolded(ranks, ranks, []uint8{0, 0, 0, 0, 1, 1, 1, 1}, 2)
	gain, deviation := f.gain(1)
	if want := 8 * math.Log(1.5); math.Abs(gain-want) > 1e-12 || deviation > 1e-12 {
		t.Errorf("gain %v (expected %v), deviation %v", gain, want, deviation)
	}
	// Fold 1 the other way round: the other fold's cells hold nothing, 1 of 8, half
	// of independence. A third fold of the first kind sees both: 3 of 12, as
	// independence; the first and the third see each other and the second: 3 of 12
	// again; the second sees two of the first kind: 1 of 12, a third.
	back := []float64{.9, .8, .2, .1}
	f = newFolded(append(ranks, ranks[:4]...), append(append(ranks[:4:4], back...), ranks[:4]...), []uint8{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, 2)
	gain, deviation = f.gain(1)
	// Folds' gains are 0, 4 ln(1/3), 0, a mean of m = 4 ln(1/3)/3 apart from which
	// they are -m, 2m, -m: squares of 6m², times 3/2.
	m := 4 * math.Log(1.0/3) / 3
	if math.Abs(gain-3*m) > 1e-12 || math.Abs(deviation-math.Abs(3*m)) > 1e-12 {
		t.Errorf("gain %v (expected %v), deviation %v (expected %v)", gain, 3*m, deviation, -3*m)
	}
}

// madePairs are n pairs in ten folds whose ranks go together by a share.
func madePairs(n int, seed uint64, together func(fold int) float64) (pairs, []uint8) {
	var p pairs
	var fold []uint8
	r := stat.Random(seed, "made pairs", 0)
	for i := range n {
		k := i * gridFolds / n
		x := r.Float64()
		y := x
		if r.Float64() >= math.Abs(together(k)) {
			y = r.Float64()
		} else if together(k) < 0 {
			y = 1 - x
		}
		p.input, p.output = append(p.input, int32(1+5000*x)), append(p.output, int32(1+500*y))
		fold = append(fold, uint8(k))
	}
	return p, fold
}

func TestRankGridOfIndependentLengths(t *testing.T) {
	for _, n := range []int{leastPairs, 3000} {
		found := 0
		for seed := range uint64(60) {
			if rankGrid(madePairs(n, seed, func(int) float64 { return 0 })) != nil {
				found++
			}
		}
		if found > 3 {
			t.Errorf("%d of 60 logs of %d independent lengths have a grid", found, n)
		}
	}
}

func TestRankGridOfDependentLengths(t *testing.T) {
	for seed := range uint64(20) {
		if g := rankGrid(madePairs(3000, seed, func(int) float64 { return 0.3 })); g == nil || g[0][0] < 1.5/float64(len(g)*len(g)) {
			t.Errorf("seed %d: of lengths that go together in three pairs of ten %v", seed, g)
		}
	}
}

// TestRankGridOfOneFold: what only a tenth of the log has makes none of the
// others likelier.
func TestRankGridOfOneFold(t *testing.T) {
	for seed := range uint64(20) {
		p, fold := madePairs(3000, seed, func(k int) float64 { return []float64{0, 0, 0, 0.8, 0, 0, 0, 0, 0, 0}[k] })
		if g := rankGrid(p, fold); g != nil {
			t.Errorf("seed %d: lengths that go together in one fold have a grid of %d", seed, len(g))
		}
	}
}

func TestRankGridNeedsPairs(t *testing.T) {
	for n, want := range map[int]bool{leastPairs - 1: false, leastPairs: true} {
		if got := rankGrid(madePairs(n, 1, func(int) float64 { return 0.9 })) != nil; got != want {
			t.Errorf("%d pairs have a grid: %v", n, got)
		}
	}
}
