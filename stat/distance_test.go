package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// By hand: F of 1,2,3,4 against F of 2,2,10.
// Between 1 and 2: 1/4 - 0; 2 to 3: 1/2 - 2/3; 3 to 4: 3/4 - 2/3; 4 to 10: 1 - 2/3.
func TestDistances(t *testing.T) {
	a, b := []float64{1, 2, 3, 4}, []float64{2, 2, 10}
	if got, want := KolmogorovSmirnov(a, b), 1.0/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("KS %v, want %v", got, want)
	}
	if got, want := Wasserstein(a, b), 1.0/4+1.0/6+1.0/12+6.0/3; math.Abs(got-want) > 1e-12 {
		t.Errorf("Wasserstein %v, want %v", got, want)
	}
	if !math.IsNaN(KolmogorovSmirnov(nil, b)) || !math.IsNaN(Wasserstein(a, nil)) {
		t.Error("the distance to an empty sample is not NaN")
	}
}

// Of samples of equal size Wasserstein is the mean distance of equal ranks; KS
// is at most 1, both are symmetric, and shifting by s moves Wasserstein to s.
func TestDistanceLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Map(rapid.IntRange(-20, 20), func(i int) float64 { return float64(i) })
		n := rapid.IntRange(1, 30).Draw(t, "n")
		a, b := rapid.SliceOfN(value, n, n).Draw(t, "a"), rapid.SliceOfN(value, n, n).Draw(t, "b")
		slices.Sort(a)
		slices.Sort(b)
		want := 0.0
		for i := range a {
			want += math.Abs(a[i]-b[i]) / float64(n)
		}
		if got := Wasserstein(a, b); math.Abs(got-want) > 1e-9 || math.Abs(got-Wasserstein(b, a)) > 1e-9 {
			t.Fatalf("Wasserstein %v, want %v", got, want)
		}
		ks := KolmogorovSmirnov(a, b)
		if ks < 0 || ks > 1 || ks != KolmogorovSmirnov(b, a) || KolmogorovSmirnov(a, a) != 0 {
			t.Fatalf("KS %v", ks)
		}
		shifted := make([]float64, n)
		for i, x := range a {
			shifted[i] = x + 7
		}
		if got := Wasserstein(a, shifted); math.Abs(got-7) > 1e-9 {
			t.Fatalf("shifted by 7: %v", got)
		}
	})
}

// By hand: counts 0, 2, 4 have mean 2, variance 4.
func TestIndexOfDispersion(t *testing.T) {
	if got := IndexOfDispersion([]int64{0, 2, 4}); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
	if !math.IsNaN(IndexOfDispersion([]int64{3})) || !math.IsNaN(IndexOfDispersion([]int64{0, 0})) {
		t.Error("without a spread or without counts it is not NaN")
	}
	if got := Coarser([]int64{1, 2, 3, 4, 5}, 2); !slices.Equal(got, []int64{3, 7}) {
		t.Errorf("got %v", got)
	}
}
