package fit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Renewal processes of unit rate, by the likelihood of their gaps.

// poissonLikelihood is that of exponential gaps.
func (g *gaps) poissonLikelihood() float64 { return -g.sum }

// gamma returns the likeliest coefficient of variation of gamma gaps of mean 1
// and its log-likelihood: the shape k solves ln k + 1 − ψ(k) = mean(x − ln x).
func (g *gaps) gamma() (cv, likelihood float64) {
	want := (g.sum-g.logs)/g.n - 1 // ln k − ψ(k)
	k := math.Exp(bisect(math.Log(1e-4), math.Log(1e4), func(ln float64) float64 {
		return ln - mathext.Digamma(math.Exp(ln)) - want
	}))
	return 1 / math.Sqrt(k), g.gammaLikelihood(k)
}

func (g *gaps) gammaLikelihood(k float64) float64 {
	logGamma, _ := math.Lgamma(k)
	return g.n*(k*math.Log(k)-logGamma) + (k-1)*g.logs - k*g.sum
}

// weibull returns the likeliest coefficient of variation of Weibull gaps of
// mean 1 and its log-likelihood.
func (g *gaps) weibull() (cv, likelihood float64) {
	shape := golden(0.02, 20, g.weibullLikelihood)
	return weibullCV(shape), g.weibullLikelihood(shape)
}

func (g *gaps) weibullLikelihood(shape float64) float64 {
	logScale, _ := math.Lgamma(1 + 1/shape) // of 1/scale
	sum := 0.0
	for i, n := range g.count {
		if n > 0 {
			sum += n * math.Exp(shape*(g.lnX[i]/n+logScale))
		}
	}
	return g.n*(math.Log(shape)+shape*logScale) + (shape-1)*g.logs - sum
}

// weibullCV is the coefficient of variation of a shape.
func weibullCV(shape float64) float64 {
	a, _ := math.Lgamma(1 + 1/shape)
	b, _ := math.Lgamma(1 + 2/shape)
	return math.Sqrt(max(math.Exp(b-2*a)-1, 0))
}

// bisect finds the zero of a falling function.
func bisect(low, high float64, f func(float64) float64) float64 {
	for range 60 {
		middle := (low + high) / 2
		if f(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// golden finds the maximum of a function with one, over a range above 0 whose
// logarithm is searched.
func golden(low, high float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	a, b := math.Log(low), math.Log(high)
	x, y := b-ratio*(b-a), a+ratio*(b-a)
	fx, fy := f(math.Exp(x)), f(math.Exp(y))
	for range 40 {
		if fx > fy {
			b, y, fy = y, x, fx
			x = b - ratio*(b-a)
			fx = f(math.Exp(x))
		} else {
			a, x, fx = x, y, fy
			y = a + ratio*(b-a)
			fy = f(math.Exp(y))
		}
	}
	return math.Exp((a + b) / 2)
}
