package stat

import (
	"math"
	"math/rand/v2"
)

// Prepared returns the same distribution for many draws: what each of them
// would work out anew is worked out once. A gamma distribution's quantiles are
// then read from a table, to within 1e-5 of the value.
func Prepared(d Distribution) Distribution {
	switch d := d.(type) {
	case Lognormal:
		return prepareLognormal(d)
	case Pareto:
		return &preparedPareto{Pareto: d, body: prepareLognormal(d.Body), above: d.above()}
	case Gamma:
		if d.CV > 0 {
			return prepareGamma(d)
		}
	case Clamped:
		return Clamped{Of: Prepared(d.Of), Low: d.Low, High: d.High}
	case spelled:
		return spelled{Prepared(d.Distribution), d.text}
	}
	return d
}

type preparedLognormal struct {
	Lognormal
	mu, sigma float64
}

func prepareLognormal(l Lognormal) *preparedLognormal {
	p := &preparedLognormal{Lognormal: l}
	p.mu, p.sigma = l.parameters()
	return p
}

func (l *preparedLognormal) Sample(r *rand.Rand) float64 {
	return exponential(l.mu + float64(l.sigma*standardNormal(r)))
}

func (l *preparedLognormal) Quantile(p float64) float64 {
	if l.sigma == 0 {
		return l.Average
	}
	return exponential(l.mu + float64(l.sigma*normalQuantile(p)))
}

type preparedPareto struct {
	Pareto
	body  *preparedLognormal
	above float64
}

func (p *preparedPareto) Sample(r *rand.Rand) float64 {
	if x := p.body.Sample(r); x <= p.From {
		return x
	}
	return float64(p.From * power(open(r), -1/p.Alpha))
}

func (p *preparedPareto) Quantile(share float64) float64 {
	x := p.body.Quantile(share)
	if x <= p.From {
		return x
	}
	return p.tail(share, p.above)
}

// preparedGamma holds ln of the quantiles at equal steps of the normal
// distribution's, with the slopes there.
type preparedGamma struct {
	Gamma
	log, slope [gammaNodes]float64
	scale      float64 // logarithm of
}

const (
	gammaStep  = 8   // nodes in one standard deviation
	gammaEnd   = 8.5 // the outermost nodes, beyond those of all float64 in (0, 1)
	gammaNodes = 2*gammaEnd*gammaStep + 1
)

func prepareGamma(g Gamma) Distribution {
	square := float64(g.CV * g.CV)
	shape := 1 / square
	if shape > 1e4 { // as quick without a table
		return g
	}
	p := &preparedGamma{Gamma: g, scale: logarithm(float64(g.Average * square))}
	norm := logGamma(shape)
	for i := range p.log {
		z := float64(i)/gammaStep - gammaEnd
		below, above := normalShares(z)
		x := max(gammaAt(shape, below, above, z), 1e-300)
		p.log[i] = logarithm(x)
		// d ln x/dz = φ(z) / (x f(x))
		const halfLog2Pi = 0.91893853320467274178
		p.slope[i] = exponential(-float64(z*z)/2-halfLog2Pi-(float64(shape*p.log[i])-x-norm)) / gammaStep
	}
	return p
}

func (g *preparedGamma) Quantile(p float64) float64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return math.Inf(1)
	}
	at := float64((normalQuantile(p) + gammaEnd) * gammaStep)
	i := min(max(int(at), 0), gammaNodes-2)
	t := at - float64(i)
	// Hermite's cubic between two nodes.
	a, b, u, v := g.log[i], g.log[i+1], g.slope[i], g.slope[i+1]
	bend := float64(3*(b-a)) - float64(2*u) - v
	twist := float64(2*(a-b)) + u + v
	return exponential(g.scale + a + float64(t*(u+float64(t*(bend+float64(t*twist))))))
}
