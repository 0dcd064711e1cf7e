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
