package fit

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/stat"
)

// TestChance holds the formula against a value worked out by hand, and against
// grids of independent lengths: on 5 sides and 4,400 rows 4/sqrt(2 pi 4400) =
// 0.02406.
func TestChance(t *testing.T) {
	const rows, draws = 4400, 40
	want := chance(5, rows)
	if math.Abs(want-0.02406) > 1e-5 {
		t.Fatalf("chance %.5f", want)
	}
	sum := 0.0
	for d := range uint64(draws) {
		r := stat.Random(1, "chance", d)
		p := pairs{make([]int32, rows), make([]int32, rows)}
		for i := range rows {
			p.input[i], p.output[i] = int32(1+r.IntN(5000)), int32(1+r.IntN(500))
		}
		sum += apart(grid(ranks(p.input, "input ranks"), ranks(p.output, "output ranks"), 5), evenGrid(5))
	}
	if got := sum / draws; math.Abs(got/want-1) > 0.08 {
		t.Errorf("grids of independent lengths are %.4f from equal cells, expected %.4f", got, want)
	}
}

// TestEmptySamples: a sample in which nothing arrives has no index of
// dispersion, and does not spoil the median of the others.
func TestEmptySamples(t *testing.T) {
	got, err := sampleAll(plainPoisson(1, 100), 100, 1, []int{1, 10}, 20, func(i int) uint64 { return uint64(i) })
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range got {
		if len(list) == 0 || len(list) == 20 {
			t.Errorf("scale %d: %d of 20 samples count; of one arrival in the mean some have none", i, len(list))
		}
		for _, x := range list {
			if math.IsNaN(x) {
				t.Errorf("scale %d: %v", i, list)
			}
		}
	}
}

// TestImpossibleLengths: what no model may hold is not learnt.
func TestImpossibleLengths(t *testing.T) {
	if small(1<<40) != 10_000_000 || small(-1) != 0 || small(7) != 7 {
		t.Error(small(1<<40), small(-1), small(7))
	}
}
