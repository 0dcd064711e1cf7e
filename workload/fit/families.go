package fit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tokamak-bench/tokamak/stat"
)

// The families of lengths, as reports name them.
const (
	familyLognormal = "lognormal"
	familyGamma     = "gamma"
	familyWeibull   = "weibull"
	familyPareto    = "lognormal+pareto"
	familyZipf      = "zipf"
	familyQuantiles = "quantiles"
)

// lengthFit is a family with its parameters.
type lengthFit struct {
	LengthCandidate
	distribution stat.Distribution
	share        func(x float64) float64 // distribution function
}

// families fits every family to lengths, best first by BIC.
func families(t *tokens) []lengthFit {
	c := t.coarse(1000)
	list := []lengthFit{lognormalOf(t), gammaOf(t), weibullOf(t, c), zipfOf(t)}
	if p, ok := paretoOf(t, c); ok {
		list = append(list, p)
	}
	list = append(list, tableOf(t))
	for i := range list {
		f := &list[i]
		f.Form = f.distribution.String()
		f.LogLikelihood, f.KS, f.Wasserstein = t.against(f.share)
		f.BIC = -2*f.LogLikelihood + float64(f.Parameters)*math.Log(t.n)
	}
	slices.SortStableFunc(list, func(a, b lengthFit) int { return cmp.Compare(a.BIC, b.BIC) })
	return list
}

// clamped keeps draws between one token and the longest that was seen.
func clamped(d stat.Distribution, t *tokens) stat.Distribution {
	return stat.Clamped{Of: d, Low: 1, High: max(t.most(), 1)}
}

// cut is a distribution function whose mass above the longest lies at it.
func cut(t *tokens, share func(x float64) float64) func(x float64) float64 {
	most := max(t.most(), 1)
	return func(x float64) float64 {
		switch {
		case x >= most:
			return 1
		case x <= 0:
			return 0
		}
		return share(x)
	}
}

func lognormalOf(t *tokens) lengthFit {
	mu := t.mean(logOf)
	sigma := math.Sqrt(t.mean(func(x float64) float64 { d := logOf(x) - mu; return d * d }))
	sigma = max(sigma, 1e-3)
	l := lognormal(mu, sigma)
	mu, sigma = logParameters(l)
	return lengthFit{LengthCandidate{Family: familyLognormal, Parameters: 2}, clamped(l, t), cut(t, func(x float64) float64 {
		return math.Erfc((mu-math.Log(x))/(sigma*math.Sqrt2)) / 2
	})}
}

// logOf is the logarithm of a length; one of zero tokens counts as half.
func logOf(x float64) float64 { return math.Log(max(x, .5)) }

func lognormal(mu, sigma float64) stat.Lognormal {
	return stat.Lognormal{Average: round(math.Exp(mu + sigma*sigma/2)), CV: round(math.Sqrt(math.Expm1(sigma * sigma)))}
}

func logParameters(l stat.Lognormal) (mu, sigma float64) {
	variance := math.Log1p(l.CV * l.CV)
	return math.Log(l.Average) - variance/2, math.Sqrt(variance)
}

func gammaOf(t *tokens) lengthFit {
	mean := t.mean(func(x float64) float64 { return max(x, .5) })
	want := math.Log(mean) - t.mean(logOf) // ln k − ψ(k)
	k := math.Exp(bisect(math.Log(1e-3), math.Log(1e4), func(ln float64) float64 {
		return ln - mathext.Digamma(math.Exp(ln)) - want
	}))
	g := stat.Gamma{Average: round(mean), CV: round(1 / math.Sqrt(k))}
	shape := 1 / (g.CV * g.CV)
	return lengthFit{LengthCandidate{Family: familyGamma, Parameters: 2}, clamped(g, t), cut(t, func(x float64) float64 {
		return mathext.GammaIncReg(shape, x*shape/g.Average)
	})}
}

// weibullOf finds the shape k at which the profile likelihood is greatest.
func weibullOf(t, c *tokens) lengthFit {
	logs := c.mean(logOf)
	scale := func(k float64) float64 { // to the power of k
		return c.mean(func(x float64) float64 { return math.Exp(k * (logOf(x) - logs)) })
	}
	k := golden(.05, 50, func(k float64) float64 { return math.Log(k) - math.Log(scale(k)) })
	w := stat.Weibull{Shape: round(k), Scale: round(math.Exp(logs + math.Log(scale(k))/k))}
	return lengthFit{LengthCandidate{Family: familyWeibull, Parameters: 2}, clamped(w, t), cut(t, func(x float64) float64 {
		return -math.Expm1(-math.Pow(x/w.Scale, w.Shape))
	})}
}

// zipfBuckets is over how many buckets Zipf's law is laid.
const zipfBuckets = 64

// zipfOf lays Zipf's law over buckets of equal width from 1 to the longest.
func zipfOf(t *tokens) lengthFit {
	width := max(math.Ceil(t.most()/zipfBuckets), 1)
	buckets := max(math.Ceil(t.most()/width), 1)
	ranks := 0.0 // mean of ln k
	for i, x := range t.value {
		ranks += t.count[i] / t.n * math.Log(max(math.Ceil(x/width), 1))
	}
	s := golden(1e-3, 20, func(s float64) float64 {
		sum := 0.0
		for k := 1.0; k <= buckets; k++ {
			sum += math.Exp(-s * math.Log(k))
		}
		return -s*ranks - math.Log(sum)
	})
	z := stat.NewZipf(round(s), int64(buckets), width)
	upTo := make([]float64, int(buckets)+1)
	for k := 1; k < len(upTo); k++ {
		upTo[k] = upTo[k-1] + math.Pow(float64(k), -z.Exponent)
	}
	all := upTo[len(upTo)-1]
	return lengthFit{LengthCandidate{Family: familyZipf, Parameters: 3}, z, func(x float64) float64 {
		x -= .5 // the law is of whole numbers: what is drawn up to n is at most n
		k := x / width
		if k <= 0 {
			return 0
		}
		i := int(k)
		if i >= len(upTo)-1 {
			return 1
		}
		return (upTo[i] + (k-float64(i))*(upTo[i+1]-upTo[i])) / all
	}}
}

// paretoOf splices a Pareto tail to a lognormal body: at each of some high
// quantiles the tail's exponent is Hill's, the body is the likeliest lognormal
// of what lies below, of which the rest is only known to lie above.
func paretoOf(t, c *tokens) (best lengthFit, ok bool) {
	likeliest := math.Inf(-1)
	for _, p := range []float64{.5, .8, .9, .95, .98} {
		from := t.quantile(p)
		if from <= t.least() || from >= t.most() {
			continue
		}
		above, excess := 0.0, 0.0
		for i, x := range t.value {
			if x > from {
				above += t.count[i]
				excess += t.count[i] * math.Log(x/from)
			}
		}
		if above < 50 {
			continue
		}
		f := spliced(t, censored(c, from), from, above/excess)
		if likelihood, _, _ := c.against(f.share); likelihood > likeliest {
			best, likeliest, ok = f, likelihood, true
		}
	}
	return best, ok
}

// censored is the likeliest lognormal of lengths of which those above a bound
// are only known to be above.
func censored(t *tokens, bound float64) stat.Lognormal {
	mu := t.mean(logOf)
	sigma := max(math.Sqrt(t.mean(func(x float64) float64 { d := logOf(x) - mu; return d * d })), 1e-3)
	end := math.Log(bound)
	minus := func(x []float64) float64 {
		m, s := x[0], math.Exp(x[1])
		sum := 0.0
		for i, v := range t.value {
			if v <= bound {
				z := (logOf(v) - m) / s
				sum += t.count[i] * (z*z/2 + math.Log(s))
			} else {
				sum -= t.count[i] * math.Log(max(distuv.UnitNormal.Survival((end-m)/s), 1e-300))
			}
		}
		return sum / t.n
	}
	r, err := optimize.Minimize(optimize.Problem{Func: minus}, []float64{mu, math.Log(sigma)},
		&optimize.Settings{MajorIterations: 120, Converger: &optimize.FunctionConverge{Absolute: 1e-9, Iterations: 20}}, &optimize.NelderMead{})
	if r != nil && (err == nil || r.F < minus([]float64{mu, math.Log(sigma)})) {
		mu, sigma = r.X[0], math.Exp(r.X[1])
	}
	return lognormal(mu, min(max(sigma, 1e-3), 5))
}

func spliced(t *tokens, body stat.Lognormal, from, alpha float64) lengthFit {
	p := stat.Pareto{Body: body, From: from, Alpha: round(min(alpha, 1000))}
	mu, sigma := logParameters(body)
	within := func(x float64) float64 { return math.Erfc((mu-math.Log(x))/(sigma*math.Sqrt2)) / 2 }
	beyond := 1 - within(from)
	return lengthFit{LengthCandidate{Family: familyPareto, Parameters: 4}, clamped(p, t), cut(t, func(x float64) float64 {
		if x <= from {
			return within(x)
		}
		return 1 - beyond*math.Pow(x/from, -p.Alpha)
	})}
}

// tableShares are where quantiles of times stand.
var tableShares = []float64{0, .001, .005, .01, .02, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .825, .85, .86, .87, .88, .89, .9,
	.905, .91, .915, .92, .925, .93, .935, .94, .945, .95, .955, .96, .97, .98, .985, .99, .995, .998, .999, 1}

// shareBelow is the distribution function of a table.
func shareBelow(q stat.Quantiles, x float64) float64 {
	n := len(q.Value)
	if x >= q.Value[n-1] {
		return 1
	}
	i, _ := slices.BinarySearchFunc(q.Value, x, func(v, x float64) int { // first above x
		if v <= x {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	part := (x - q.Value[i-1]) / (q.Value[i] - q.Value[i-1])
	return q.Share[i-1] + part*(q.Share[i]-q.Share[i-1])
}
