package stat_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

// A resample has as many items as the sample, in runs of the block's length:
// but where blocks meet or overlap, neighbours are in it equally often.
func TestCircularBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		length := rapid.IntRange(1, n).Draw(t, "length")
		counts := make([]int32, n)
		stat.CircularBlocks(stat.Random(rapid.Uint64().Draw(t, "seed"), "t", 0), length, counts)
		sum, changes := 0, 0
		for i, k := range counts {
			sum += int(k)
			if k != counts[(i+1)%n] {
				changes++
			}
		}
		if blocks := (n + length - 1) / length; sum != n || changes > 2*blocks {
			t.Errorf("%d items of %d, %d changes in %d blocks", sum, n, changes, blocks)
		}
	})
}

// With counts it is the same as on the items written out.
func TestCountedIsTheSampleWrittenOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.IntRange(1, 20).Draw(t, "items")
		var values, out []float64
		var of []int32
		counts := make([]int32, items)
		for i := range counts {
			counts[i] = int32(rapid.IntRange(0, 3).Draw(t, "count"))
			for _, x := range rapid.SliceOfN(rapid.Float64Range(-9, 9), 0, 4).Draw(t, "values") {
				values, of = append(values, x), append(of, int32(i))
				for range counts[i] {
					out = append(out, x)
				}
			}
		}
		slices.Sort(out)
		c := stat.NewCounted(values, of)
		q := rapid.Float64Range(0.01, 1).Draw(t, "q")
		got, ok := c.Quantile(q, counts)
		if len(out) == 0 {
			if ok || !math.IsNaN(c.Mean(counts)) {
				t.Errorf("of nothing %v and %v", got, c.Mean(counts))
			}
			return
		}
		mean, _ := stat.MeanSD(out)
		if want := stat.Quantile(out, q); !ok || got != want || math.Abs(c.Mean(counts)-mean) > 1e-9 {
			t.Errorf("%v and %v, want %v and %v", got, c.Mean(counts), want, mean)
		}
	})
}

// Of independent values the spread of the mean's resamples is σ/√n.
func TestBootstrapOfAMean(t *testing.T) {
	const n = 400
	r := stat.Random(3, "t", 0)
	values, of, counts := make([]float64, n), make([]int32, n), make([]int32, n)
	for i := range values {
		values[i], of[i] = r.NormFloat64(), int32(i)
	}
	c := stat.NewCounted(values, of)
	means := make([]float64, 1000)
	for i := range means {
		stat.CircularBlocks(r, 20, counts)
		means[i] = c.Mean(counts)
	}
	if _, sd := stat.MeanSD(means); sd < 0.7/math.Sqrt(n) || sd > 1.3/math.Sqrt(n) {
		t.Errorf("standard error %v, want about %v", sd, 1/math.Sqrt(n))
	}
}
