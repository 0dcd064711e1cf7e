package stat

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRankIsExact(t *testing.T) {
	for _, c := range []struct {
		n    int
		q    float64
		want int
	}{
		{100, .07, 7}, {100, .55, 55}, {100, .99, 99}, {101, .99, 100}, {1000, .999, 999},
		{1, .5, 1}, {2, .5, 1}, {3, .5, 2}, {200, .99, 198}, {7, 1, 7}, {7, .0001, 1},
	} {
		if got := Rank(c.n, c.q); got != c.want {
			t.Errorf("rank of %v in %d: %d, want %d", c.q, c.n, got, c.want)
		}
	}
}

// TestRankAgainstRationals holds Rank against exact arithmetic for percentiles
// of up to three decimals.
func TestRankAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5_000_000).Draw(t, "n")
		thousandths := rapid.IntRange(1, 1000).Draw(t, "q")
		got := Rank(n, float64(thousandths)/1000)
		want := new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(thousandths)))
		want.Add(want, big.NewInt(999)).Div(want, big.NewInt(1000))
		if int64(got) != want.Int64() {
			t.Errorf("rank of %d/1000 in %d: %d, want %v", thousandths, n, got, want)
		}
	})
}

func TestQuantileLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 1, 300).Draw(t, "values")
		slices.Sort(values)
		q := rapid.Float64Range(1e-6, 1).Draw(t, "q")
		got := Quantile(values, q)
		atOrBelow := 0
		below := 0
		for _, v := range values {
			if v <= got {
				atOrBelow++
			}
			if v < got {
				below++
			}
		}
		n := float64(len(values))
		if float64(atOrBelow)/n < q || float64(below)/n >= q {
			t.Errorf("%v of %v at or below, %v below the %v-quantile", atOrBelow, n, below, q)
		}
		if r := rapid.Float64Range(q, 1).Draw(t, "r"); Quantile(values, r) < got {
			t.Errorf("quantiles are not monotone at %v and %v", q, r)
		}
	})
}

func TestSelectAgreesWithSorting(t *testing.T) {
	for _, n := range []int{1, 10, 1<<16 + 1, 200_000} {
		random := Random(1, "select", uint64(n))
		values := make([]float64, n)
		for i := range values {
			switch i % 4 {
			case 0:
				values[i] = math.Floor(random.ExpFloat64() * 20)
			case 1:
				values[i] = -20 - random.Float64()*1e-9
			default:
				values[i] = random.ExpFloat64() * 1e3
			}
		}
		values[0] = math.Inf(1)
		ranks := []int{1, Rank(n, .5), Rank(n, .9), Rank(n, .99), n}
		got := Select(Batch(values), n, ranks)
		ascending := slices.Sorted(slices.Values(values))
		for i, r := range ranks {
			if got[i] != ascending[r-1] {
				t.Errorf("n %d, rank %d: %v, want %v", n, r, got[i], ascending[r-1])
			}
		}
	}
}

func TestMeanSD(t *testing.T) {
	mean, sd := MeanSD([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if mean != 5 || math.Abs(sd-math.Sqrt(32./7)) > 1e-15 {
		t.Errorf("mean %v, sd %v", mean, sd)
	}
	if m, s := MeanSD(nil); !math.IsNaN(m) || !math.IsNaN(s) {
		t.Errorf("of nothing: %v, %v", m, s)
	}
	if m, s := MeanSD([]float64{3}); m != 3 || !math.IsNaN(s) {
		t.Errorf("of one: %v, %v", m, s)
	}
}
