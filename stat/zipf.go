package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Zipf is Zipf's law over buckets of equal width: bucket k, from 1, has a chance
// that goes with k^-Exponent, and the values in it, ((k-1)·Width, k·Width], are
// alike: whole numbers where Width is whole. With Width 1 it is the law of
// ranks. [NewZipf] makes one.
type Zipf struct {
	Exponent float64
	Buckets  int64
	Width    float64

	upTo []float64 // sums of the weights
}

// maxBuckets bounds what a Zipf keeps in memory.
const maxBuckets = 1_000_000

// NewZipf returns Zipf's law of an exponent of at least 0 over up to a million
// buckets.
func NewZipf(exponent float64, buckets int64, width float64) Zipf {
	z := Zipf{Exponent: exponent, Buckets: min(max(buckets, 1), maxBuckets), Width: width}
	z.upTo = z.sums()
	return z
}

func (z Zipf) sums() []float64 {
	if z.upTo != nil {
		return z.upTo
	}
	upTo := make([]float64, max(z.Buckets, 1))
	sum := 0.0
	for i := range upTo {
		sum += power(float64(i+1), -z.Exponent)
		upTo[i] = sum
	}
	return upTo
}

// Sample draws a value.
func (z Zipf) Sample(r *rand.Rand) float64 { return z.Quantile(r.Float64()) }

// Quantile returns a value from above 0 to Buckets·Width.
func (z Zipf) Quantile(p float64) float64 {
	upTo := z.sums()
	x := float64(p * upTo[len(upTo)-1])
	i, _ := slices.BinarySearch(upTo, x)
	i = min(i, len(upTo)-1)
	before := 0.0
	if i > 0 {
		before = upTo[i-1]
	}
	part := float64(min(max((x-before)/(upTo[i]-before), 0), 1) * z.Width)
	if whole(z.Width) {
		part = max(math.Ceil(part), 1)
	}
	return float64(float64(i)*z.Width) + part
}

// Mean returns the expectation.
func (z Zipf) Mean() float64 {
	upTo := z.sums()
	middle := z.Width / 2
	if whole(z.Width) {
		middle = (z.Width + 1) / 2
	}
	sum, before := 0.0, 0.0
	for i, u := range upTo {
		sum += float64((u - before) * (float64(float64(i)*z.Width) + middle))
		before = u
	}
	return sum / upTo[len(upTo)-1]
}

// String returns zipf:exponent=E,buckets=N,width=W.
func (z Zipf) String() string { return z.text(number) }

func (z Zipf) text(value func(float64) string) string {
	return "zipf:exponent=" + number(z.Exponent) + ",buckets=" + number(float64(z.Buckets)) + ",width=" + value(z.Width)
}
