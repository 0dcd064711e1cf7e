package stat

import (
	"math"
	"testing"
)

// clustered yields values of which every exceedance comes in a run of size.
func clustered(n, size int) []float64 {
	random := Random(7, "clusters", uint64(size))
	out := make([]float64, 0, n)
	for len(out) < n {
		if random.Float64() < .05/float64(size) {
			for range size {
				out = append(out, 100+random.Float64())
			}
			continue
		}
		out = append(out, random.Float64())
	}
	return out[:n]
}

func TestExtremalIndexFindsClusterSizes(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		got := ExtremalIndex(clustered(40_000, size), .95)
		if want := 1 / float64(size); math.Abs(got-want) > .15*want {
			t.Errorf("clusters of %d: θ %.3f, want about %.3f", size, got, want)
		}
	}
}

func TestExtremalIndexByHand(t *testing.T) {
	// Exceedances at 0, 1 and 9: gaps 1 and 8; 2·7²/(2·7·6).
	series := make([]float64, 30)
	series[0], series[1], series[9] = 1, 2, 3
	if got, want := ExtremalIndex(series, .9), 1.0; got != want {
		t.Errorf("θ %v, want %v", got, want)
	}
	// Gaps 1, 1, 1 and 20: 2·19²/(4·19·18) = 0.5278.
	series = make([]float64, 30)
	for _, i := range []int{0, 1, 2, 3, 23} {
		series[i] = float64(i + 1)
	}
	if got, want := ExtremalIndex(series, .8), 2*361./(4*19*18); math.Abs(got-want) > 1e-15 {
		t.Errorf("θ %v, want %v", got, want)
	}
	if got := ExtremalIndex(nil, .95); got != 1 {
		t.Errorf("θ of nothing %v", got)
	}
	inf := []float64{1, 1, math.Inf(1), math.Inf(1), math.Inf(1), 1}
	if got := ExtremalIndex(inf, .95); got != 1 { // gaps of 1: min(1, 2·4/(2·2))
		t.Errorf("θ of failures %v", got)
	}
}

func TestDesignEffect(t *testing.T) {
	for theta, want := range map[float64]float64{1: 1, .5: 3, .25: 7} {
		if got := DesignEffect(theta); got != want {
			t.Errorf("θ %v: deff %v, want %v", theta, got, want)
		}
	}
	n, over := Effective(1000, 3, 3)
	if n != 333 || over != 1 {
		t.Errorf("1000 and 3 at 3 are worth %d and %d", n, over)
	}
}

// TestFalsePassesOfAQueue holds the whole rule against what breaks the plain
// one: waiting times of a queue at 80 % load, of which exactly 1 % are over
// the limit in the long run, must seldom pass as "at most 1 %".
func TestFalsePassesOfAQueue(t *testing.T) {
	const n, runs = 2000, 200
	long := queue(400_000, .8, 99)
	limit := quantileOf(long, .99)
	plain, corrected := 0, 0
	for i := range runs {
		w := queue(n, .8, uint64(i))
		over := 0
		for _, x := range w {
			if x >= limit {
				over++
			}
		}
		if c, _ := EarlyStopping(n, over, .99, Alpha); c == Pass {
			plain++
		}
		m, k := Effective(n, float64(over), DesignEffect(ExtremalIndex(w, .95)))
		if c, _ := EarlyStopping(m, k, .99, Alpha); c == Pass {
			corrected++
		}
	}
	if plain < runs/5 || corrected > runs/20 {
		t.Errorf("false passes: plain %d, corrected %d of %d", plain, corrected, runs)
	}
}

// queue returns the sojourn times of an M/M/1 queue, by Lindley's recursion.
func queue(n int, load float64, seed uint64) []float64 {
	random := Random(seed, "queue", 0)
	out := make([]float64, 0, n)
	wait := 0.0
	for i := range n + 2000 {
		service := random.ExpFloat64() * load
		if i >= 2000 {
			out = append(out, wait+service)
		}
		wait = max(0, wait+service-random.ExpFloat64())
	}
	return out
}

func quantileOf(values []float64, q float64) float64 {
	return Select(Batch(values), len(values), []int{Rank(len(values), q)})[0]
}

func TestMSER5(t *testing.T) {
	random := Random(3, "mser", 0)
	series := make([]float64, 1000)
	for i := range series {
		series[i] = 10 + random.NormFloat64()
		if i < 150 {
			series[i] += 50 * (1 - float64(i)/150)
		}
	}
	if skip, ok := MSER5(series); !ok || skip < 120 || skip > 250 {
		t.Errorf("a transient of 150: skip %d, %v", skip, ok)
	}
	if skip, ok := MSER5(series[200:]); !ok || skip > 300 {
		t.Errorf("no transient: skip %d, %v", skip, ok)
	}
	for i := range series {
		series[i] = float64(i)
	}
	if skip, ok := MSER5(series); ok {
		t.Errorf("a climb settles at %d", skip)
	}
	if _, ok := MSER5(series[:49]); ok {
		t.Error("49 values are enough")
	}
}

func TestRatioEffect(t *testing.T) {
	random := Random(5, "ratio", 0)
	const n = 40_000
	make2 := func(f func(i int) (over, size float64)) (a, b []float64) {
		for i := range n {
			o, s := f(i)
			a, b = append(a, o), append(b, s)
		}
		return a, b
	}
	whole := 0.0
	for _, c := range []struct {
		name      string
		low, high float64
		f         func(i int) (over, size float64)
	}{
		{"whole items, independent", 1, 1.25, func(int) (float64, float64) {
			if random.Float64() < .01 {
				return 1, 1
			}
			return 0, 1
		}},
		{"runs of four", 3, 5, func(i int) (float64, float64) {
			if i%4 == 0 {
				whole = 0
				if random.Float64() < .01 {
					whole = 1
				}
			}
			return whole, 1
		}},
		{"a gap here and there", 1, 1, func(int) (float64, float64) {
			k := 0.0
			for range 100 {
				if random.Float64() < .01 {
					k++
				}
			}
			return k, 100
		}},
		{"items of unequal size", 5.5, 9, func(i int) (float64, float64) { // mean square by square of mean: 7.2
			size := 1.0
			if i%10 == 0 {
				size = 50
			}
			if random.Float64() < .01 {
				return size, size
			}
			return 0, size
		}},
	} {
		a, b := make2(c.f)
		if got := RatioEffect(a, b); got < c.low || got > c.high {
			t.Errorf("%s: %v, want %v to %v", c.name, got, c.low, c.high)
		}
	}
	if got := RatioEffect([]float64{1, 0}, []float64{1, 1}); got != 1 {
		t.Errorf("of two: %v", got)
	}
}
