package stat

import "math"

// KolmogorovSmirnov returns the largest difference of the empirical
// distribution functions of two ascending samples; NaN where one is empty.
func KolmogorovSmirnov(a, b []float64) float64 {
	most := 0.0
	apart(a, b, func(_, difference float64) { most = max(most, difference) })
	return orNaN(most, a, b)
}

// Wasserstein returns the area between the empirical distribution functions of
// two ascending samples (the distance of order 1), in the unit of the values;
// NaN where one is empty.
func Wasserstein(a, b []float64) float64 {
	area := 0.0
	apart(a, b, func(width, difference float64) { area += float64(width * difference) })
	return orNaN(area, a, b)
}

func orNaN(x float64, a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	return x
}

// apart walks the steps of two distribution functions: over how wide a stretch
// of values they differ by how much.
func apart(a, b []float64, step func(width, difference float64)) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		next := x
		switch {
		case i < len(a) && j < len(b):
			next = min(a[i], b[j])
		case i < len(a):
			next = a[i]
		case j < len(b):
			next = b[j]
		}
		step(next-x, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	// Behind the end of one, the other's steps go on.
	rest, n, done := a[i:], len(a), i
	if i == len(a) {
		rest, n, done = b[j:], len(b), j
	}
	for k, x := range rest {
		next := x
		if k+1 < len(rest) {
			next = rest[k+1]
		}
		step(next-x, 1-float64(done+k+1)/float64(n))
	}
}
