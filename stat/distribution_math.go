package stat

import (
	"math"
	"math/rand/v2"
)

// The functions below give the same bits on every machine, which those of
// package math do not promise: some have assembly on some architectures, and a
// compiler may fuse a product and a sum into one rounding. Here every product
// is rounded by an explicit conversion, which the language forbids to fuse.

const (
	ln2High = 0x1.62e42feep-01 // the upper 33 bits of ln 2: products with small integers are exact
	ln2Low  = 0x1.a39ef35793c76p-33
)

// logarithm returns ln x for finite x > 0, within 2 ulp, by
// ln m = 2 artanh((m-1)/(m+1)) for the mantissa m in [√½, √2).
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 0.0
	for n := 23; n >= 3; n -= 2 {
		sum = float64((sum + 1/float64(n)) * z)
	}
	k := float64(e)
	return float64(k*ln2High) + (float64(2*s) + (float64(float64(2*s)*sum) + float64(k*ln2Low)))
}

// exponential returns e^x within 2 ulp, by Taylor's series after taking the
// powers of two out; +Inf and 0 where the result has no float64.
func exponential(x float64) float64 {
	if x > 709.7 {
		return math.Inf(1)
	}
	if x < -745 {
		return 0
	}
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	sum := 1.0
	for n := 15; n >= 1; n-- {
		sum = 1 + float64(float64(r*sum)/float64(n))
	}
	return math.Ldexp(sum, int(k))
}

// power returns x^y for x > 0.
func power(x, y float64) float64 { return exponential(float64(y * logarithm(x))) }

// open returns a uniform number in (0, 1).
func open(r *rand.Rand) float64 {
	for {
		if u := r.Float64(); u > 0 {
			return u
		}
	}
}

// standardNormal draws by Marsaglia's polar method.
func standardNormal(r *rand.Rand) float64 {
	for {
		u, v := float64(2*r.Float64())-1, float64(2*r.Float64())-1
		s := float64(u*u) + float64(v*v)
		if s > 0 && s < 1 {
			return float64(u * math.Sqrt(float64(-2*logarithm(s))/s))
		}
	}
}

// standardExponential draws from the exponential distribution of mean 1.
func standardExponential(r *rand.Rand) float64 { return -logarithm(open(r)) }

// standardGamma draws from the gamma distribution of scale 1 (Marsaglia and
// Tsang 2000).
func standardGamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		u := open(r)
		return float64(standardGamma(r, shape+1) * power(u, 1/shape))
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		x := standardNormal(r)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		bound := float64(float64(0.5*x)*x) + float64(d*((1-v)+logarithm(v)))
		if logarithm(open(r)) < bound {
			return float64(d * v)
		}
	}
}
