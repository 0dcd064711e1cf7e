package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestEarlyStoppingVectors(t *testing.T) {
	for _, c := range []struct {
		p           float64
		n, over     int
		probability float64
		want        Claim
		needed      int // -1: null
	}{
		{.99, 458, 0, .010021186, Inconclusive, 1},
		{.99, 459, 0, .009920974, Pass, 0},
		{.99, 661, 1, .010000968, Inconclusive, 1},
		{.99, 662, 1, .009913986, Pass, 0},
		{.99, 2010, 10, .009966646, Pass, 0},
		{.99, 1000, 18, .013833, Inconclusive, -1},
		{.99, 1000, 19, .006905, Fail, -1},
		{.99, 0, 0, 1, Inconclusive, 459},
		{.9, 44, 0, math.Pow(.9, 44), Pass, 0},
		{.5, 7, 0, 1. / 128, Pass, 0},
		{.5, 6, 0, 1. / 64, Inconclusive, 1},
		{.99, 1000, 10, math.NaN(), Inconclusive, -1}, // over/n is the allowed share
	} {
		got, needed := EarlyStopping(c.n, c.over, c.p, Alpha)
		if got != c.want {
			t.Errorf("p %v, n %d, over %d: %v, want %v", c.p, c.n, c.over, got, c.want)
		}
		if (needed == nil) != (c.needed < 0) || needed != nil && *needed != c.needed {
			t.Errorf("p %v, n %d, over %d: needed %v, want %d", c.p, c.n, c.over, needed, c.needed)
		}
		tail := AtMost(c.n, c.over, complement(c.p))
		if c.probability < .014 && needed == nil {
			tail = AtLeast(c.n, c.over, complement(c.p))
		}
		if c.n > 0 && math.Abs(tail-c.probability) > 5e-7 {
			t.Errorf("p %v, n %d, over %d: tail %.9f, want %.9f", c.p, c.n, c.over, tail, c.probability)
		}
	}
}

// naiveAtMost sums the probabilities themselves.
func naiveAtMost(n, k int, q float64) float64 {
	var sum float64
	for i := 0; i <= k && i <= n; i++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
	}
	return sum
}

func TestTailsAgreeWithTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		q := rapid.Float64Range(.001, .999).Draw(t, "q")
		if got, want := AtMost(n, k, q), naiveAtMost(n, k, q); math.Abs(got-want) > 1e-9 {
			t.Errorf("P(Bin(%d, %v) ≤ %d) = %v, the sum is %v", n, q, k, got, want)
		}
		if got := AtMost(n, k-1, q) + AtLeast(n, k, q); math.Abs(got-1) > 1e-9 {
			t.Errorf("both tails sum to %v", got)
		}
	})
}

func TestAFailureNeverHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]float64{.5, .9, .95, .99, .999}).Draw(t, "p")
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		over := rapid.IntRange(0, n).Draw(t, "over")
		before, _ := EarlyStopping(n, over, p, Alpha)
		after, _ := EarlyStopping(n+1, over+1, p, Alpha)
		if after < before {
			t.Errorf("n %d, over %d: %v became %v by one more over", n, over, before, after)
		}
		better, _ := EarlyStopping(n+1, over, p, Alpha)
		if better > before {
			t.Errorf("n %d, over %d: %v became %v by one more under", n, over, before, better)
		}
	})
}

func TestNeededIsEnoughAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]float64{.5, .9, .99, .999}).Draw(t, "p")
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		over := rapid.IntRange(0, min(n, 40)).Draw(t, "over")
		_, needed := EarlyStopping(n, over, p, Alpha)
		if needed == nil || *needed == 0 {
			return
		}
		if got, _ := EarlyStopping(n+*needed, over, p, Alpha); got != Pass {
			t.Errorf("%d more do not do: %v", *needed, got)
		}
		if got, _ := EarlyStopping(n+*needed-1, over, p, Alpha); got == Pass {
			t.Errorf("%d more would have done", *needed-1)
		}
	})
}

func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		n, k      int
		low, high float64
	}{
		{10, 0, 0, .3084971}, // 1 − 0.025^(1/10)
		{10, 10, .6915029, 1},
		{20, 5, .0865715, .4910459},
		{0, 0, 0, 1},
	} {
		low, high := ClopperPearson(c.n, c.k, .95)
		if math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: [%.7f, %.7f], want [%.7f, %.7f]", c.k, c.n, low, high, c.low, c.high)
		}
	}
}
