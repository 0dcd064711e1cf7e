package stat

import (
	"math"
	"math/rand/v2"
)

// logGamma returns ln Γ(x) for x > 0, to some 1e-15 of its size, by Stirling's
// series for arguments of 10 and more.
func logGamma(x float64) float64 {
	product := 1.0
	for x < 10 {
		product = float64(product * x)
		x++
	}
	y := 1 / float64(x*x)
	series := 0.0
	for _, c := range [...]float64{-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12} {
		series = float64(series*y) + c
	}
	const halfLog2Pi = 0.91893853320467274178
	return float64((x-0.5)*logarithm(x)) - x + halfLog2Pi + series/x - logarithm(product)
}

// gammaShares returns P(X ≤ x) and P(X > x) of the gamma distribution of a
// shape and scale 1: the incomplete gamma functions, below shape + 1 by their
// series, above by Lentz's continued fraction.
func gammaShares(shape, x float64) (below, above float64) {
	if x <= 0 {
		return 0, 1
	}
	density := exponential(float64(shape*logarithm(x)) - x - logGamma(shape))
	if x < shape+1 {
		n := shape
		term := 1 / shape
		sum := term
		for term > sum*1e-17 {
			n++
			term = float64(term * float64(x/n))
			sum += term
		}
		below = min(float64(sum*density), 1)
		return below, 1 - below
	}
	const tiny = 1e-300
	b := x + 1 - shape
	c := 1 / tiny
	d := 1 / b
	h := d
	for i := 1.0; i < 1e5; i++ {
		a := float64(-i * (i - shape))
		b += 2
		d = float64(a*d) + b
		c = b + a/c
		if math.Abs(d) < tiny {
			d = tiny
		}
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		step := float64(d * c)
		h = float64(h * step)
		if math.Abs(step-1) < 1e-16 {
			break
		}
	}
	above = min(float64(h*density), 1)
	return 1 - above, above
}

// gammaQuantile is of the gamma distribution of a shape and scale 1: Halley's
// steps from the approximation of Wilson and Hilferty, or of small values. For
// shapes above 10,000 it is the expansion of Cornish and Fisher.
func gammaQuantile(shape, p float64) float64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return math.Inf(1)
	}
	return gammaAt(shape, p, 1-p, normalQuantile(p))
}

// gammaAt is gammaQuantile given p, 1 - p and the normal distribution's
// quantile.
func gammaAt(shape, p, q, z float64) float64 {
	if shape > 1e4 {
		root := math.Sqrt(shape)
		square := float64(z * z)
		return shape + float64(root*z) + (square-1)/3 + float64(z*(square-7))/float64(36*root)
	}
	x := gammaStart(shape, p, z)
	log := logGamma(shape)
	for range 20 {
		if x <= 0 {
			return 0
		}
		below, above := gammaShares(shape, x)
		miss := below - p
		if p > 0.5 {
			miss = q - above
		}
		density := exponential(float64((shape-1)*logarithm(x)) - x - log)
		if density == 0 || math.IsInf(density, 1) {
			return x
		}
		step := miss / density
		step /= 1 - 0.5*min(1, float64(step*((shape-1)/x-1)))
		next := x - step
		if next <= 0 {
			next = x / 2
		}
		done := math.Abs(next-x) <= 1e-13*x || math.Abs(step) <= 1e-9*x // Halley: the next error is its cube
		if x = next; done {
			break
		}
	}
	return x
}

// gammaStart is where gammaQuantile begins.
func gammaStart(shape, p, z float64) float64 {
	// P(X ≤ x) is x^a/Γ(a+1) for small x.
	if small := exponential((logarithm(p) + logGamma(shape+1)) / shape); small < 0.2*(shape+1) && shape < 1 || small < 0.01 {
		return small
	}
	if shape > 1 {
		root := 1 - 1/float64(9*shape) + z/float64(3*math.Sqrt(shape))
		return max(float64(shape*float64(root*float64(root*root))), float64(1e-3*shape))
	}
	t := 1 - float64(shape*(0.253+float64(0.12*shape)))
	if p < t {
		return power(p/t, 1/shape)
	}
	return 1 - logarithm(1-(p-t)/(1-t))
}

// WeibullOf returns the Weibull distribution of a mean and a coefficient of
// variation from 0.01 to 100, whose shape follows from Γ(1+2/k)/Γ(1+1/k)² =
// 1 + CV². Outside of that range it is that of the nearer end.
func WeibullOf(mean, cv float64) Weibull {
	want := logarithm(1 + float64(cv*cv))
	low, high := logarithm(0.05), logarithm(200) // of the shape: the CV falls with it
	for range 60 {
		middle := low + (high-low)/2
		k := exponential(middle)
		if logGamma(1+2/k)-float64(2*logGamma(1+1/k)) > want {
			low = middle
		} else {
			high = middle
		}
	}
	k := exponential(low + (high-low)/2)
	return Weibull{Shape: k, Scale: mean / exponential(logGamma(1+1/k))}
}

// Residual draws the rest of a gap in which a moment chosen at random falls:
// what a renewal process with these gaps begins with where it has been going
// on for ever.
func (g Gamma) Residual(r *rand.Rand) float64 {
	square := float64(g.CV * g.CV)
	whole := g.Average
	if square > 0 { // longer gaps are hit more often: the shape is one higher
		whole = float64(standardGamma(r, 1/square+1) * float64(g.Average*square))
	}
	return float64(whole * r.Float64())
}

// Residual is that of [Gamma.Residual] for Weibull gaps.
func (w Weibull) Residual(r *rand.Rand) float64 {
	y := standardGamma(r, 1+1/w.Shape)
	return float64(float64(w.Scale*power(y, 1/w.Shape)) * r.Float64())
}
