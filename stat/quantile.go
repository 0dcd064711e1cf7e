package stat

import (
	"math"
	"slices"
)

// Quantile returns the value.
func (c Constant) Quantile(float64) float64 { return float64(c) }

// Quantile returns a value between Low and High.
func (u Uniform) Quantile(p float64) float64 {
	if whole(u.Low) && whole(u.High) {
		return min(u.Low+max(math.Ceil(float64(p*(u.High-u.Low+1))), 1)-1, u.High)
	}
	return u.Low + float64((u.High-u.Low)*p)
}

// Quantile is infinite at 0 and 1.
func (n Normal) Quantile(p float64) float64 {
	if n.SD == 0 {
		return n.Average
	}
	return n.Average + float64(n.SD*normalQuantile(p))
}

// Share is the share of draws that are at most x; the same bits on every machine.
func (n Normal) Share(x float64) float64 {
	if n.SD == 0 {
		if x < n.Average {
			return 0
		}
		return 1
	}
	below, _ := normalShares((x - n.Average) / n.SD)
	return below
}

// Quantile is 0 at 0 and infinite at 1.
func (l Lognormal) Quantile(p float64) float64 {
	mu, sigma := l.parameters()
	if sigma == 0 {
		return l.Average
	}
	return exponential(mu + float64(sigma*normalQuantile(p)))
}

// Quantile is infinite at 1.
func (e Exponential) Quantile(p float64) float64 { return float64(e.Average * exponentialQuantile(p)) }

// Quantile is 0 at 0 and infinite at 1. It costs up to a microsecond or two.
func (g Gamma) Quantile(p float64) float64 {
	square := float64(g.CV * g.CV)
	if square == 0 {
		return g.Average
	}
	return float64(gammaQuantile(1/square, p) * float64(g.Average*square))
}

// Quantile is 0 at 0 and infinite at 1.
func (w Weibull) Quantile(p float64) float64 {
	x := exponentialQuantile(p)
	if x == 0 || math.IsInf(x, 1) {
		return x
	}
	return float64(w.Scale * power(x, 1/w.Shape))
}

// Quantile is the body's up to From; it is infinite at 1.
func (p Pareto) Quantile(share float64) float64 {
	x := p.Body.Quantile(share)
	if x <= p.From {
		return x
	}
	return p.tail(share, p.above())
}

// tail is the quantile of a share in the tail, given the body's share above
// From.
func (p Pareto) tail(share, above float64) float64 {
	if share >= 1 {
		return math.Inf(1)
	}
	return float64(p.From * power(min((1-share)/above, 1), -1/p.Alpha))
}

// above is the share of the body above From.
func (p Pareto) above() float64 {
	mu, sigma := p.Body.parameters()
	if sigma == 0 {
		return 1 // asked only where all of it is
	}
	_, above := normalShares((logarithm(p.From) - mu) / sigma)
	return above
}

// Quantile interpolates the table.
func (q Quantiles) Quantile(p float64) float64 {
	i, _ := slices.BinarySearch(q.Share, p)
	if i == 0 {
		return q.Value[0]
	}
	part := (p - q.Share[i-1]) / (q.Share[i] - q.Share[i-1])
	return q.Value[i-1] + float64(part*(q.Value[i]-q.Value[i-1]))
}

// Quantile is by nearest rank; Observed must be in ascending order.
func (v Values) Quantile(p float64) float64 {
	if p <= 0 {
		return v.Observed[0]
	}
	return Quantile(v.Observed, min(p, 1))
}

// Quantile is that of the distribution, moved to the nearer bound.
func (c Clamped) Quantile(p float64) float64 {
	return min(max(c.Of.Quantile(p), c.Low), c.High)
}

// exponentialQuantile is of the exponential distribution of mean 1.
func exponentialQuantile(p float64) float64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return math.Inf(1)
	}
	return max(-logarithm(1-p), 0)
}

// polynomial evaluates c[0] + c[1]x + c[2]x² + …
func polynomial(x float64, c *[8]float64) float64 {
	sum := c[7]
	for i := 6; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// normalQuantile is of the standard normal distribution, to about 1e-16 of the
// value (Wichura 1988, algorithm AS 241).
func normalQuantile(p float64) float64 {
	switch {
	case p <= 0:
		return math.Inf(-1)
	case p >= 1:
		return math.Inf(1)
	}
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q*polynomial(r, &middleAbove)) / polynomial(r, &middleBelow)
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	r = math.Sqrt(-logarithm(r))
	x := 0.0
	if r <= 5 {
		x = polynomial(r-1.6, &outerAbove) / polynomial(r-1.6, &outerBelow)
	} else {
		x = polynomial(r-5, &tailAbove) / polynomial(r-5, &tailBelow)
	}
	if q < 0 {
		return -x
	}
	return x
}

// The numerators and denominators of AS 241's three ranges.
var (
	middleAbove = [8]float64{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3}
	middleBelow = [8]float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}
	outerAbove = [8]float64{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4}
	outerBelow = [8]float64{1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}
	tailAbove = [8]float64{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7}
	tailBelow = [8]float64{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131745613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}
)

// normalShares returns P(Z ≤ z) and P(Z > z): P(|Z| > z) is the upper incomplete
// gamma function of ½ at z²/2.
func normalShares(z float64) (below, above float64) {
	_, outside := gammaShares(0.5, float64(z*z)/2)
	if z < 0 {
		return outside / 2, 1 - outside/2
	}
	return 1 - outside/2, outside / 2
}
