package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Distribution is a distribution of real numbers. Its unit is the user's:
// tokens, turns, seconds. It is immutable and safe for concurrent use.
type Distribution interface {
	// Sample draws one value; the same bits on every machine.
	Sample(r *rand.Rand) float64
	// Mean is the expectation; of a clamped distribution an estimate.
	Mean() float64
	// Quantile is the smallest value that at least the share p, from 0 to 1, of
	// draws does not exceed; the same bits on every machine. Where a family
	// has no bound it is infinite at an end.
	Quantile(p float64) float64
	// String is the form that ParseDistribution reads.
	String() string
}

// Constant is the distribution of one value.
type Constant float64

// Sample returns the value.
func (c Constant) Sample(*rand.Rand) float64 { return float64(c) }

// Mean returns the value.
func (c Constant) Mean() float64 { return float64(c) }

// String returns the value.
func (c Constant) String() string { return c.text(number) }

func (c Constant) text(value func(float64) string) string { return value(float64(c)) }

// Uniform is every whole number from Low to High with equal chance where both
// are whole, else every real number between them.
type Uniform struct{ Low, High float64 }

// Sample draws a value.
func (u Uniform) Sample(r *rand.Rand) float64 {
	if whole(u.Low) && whole(u.High) {
		return u.Low + float64(r.Uint64N(uint64(u.High-u.Low)+1))
	}
	return u.Low + float64((u.High-u.Low)*r.Float64())
}

func whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 1<<53 }

// Mean returns the middle.
func (u Uniform) Mean() float64 { return u.Low/2 + u.High/2 }

// String returns uniform:LOW..HIGH.
func (u Uniform) String() string { return u.text(number) }

func (u Uniform) text(value func(float64) string) string {
	return "uniform:" + value(u.Low) + ".." + value(u.High)
}

// Normal is the normal distribution. Values below zero are drawn too; clamp
// it where they make no sense.
type Normal struct{ Average, SD float64 }

// Sample draws a value.
func (n Normal) Sample(r *rand.Rand) float64 { return n.Average + float64(n.SD*standardNormal(r)) }

// Mean returns the average.
func (n Normal) Mean() float64 { return n.Average }

// String returns normal:mean=M,sd=S.
func (n Normal) String() string { return n.text(number) }

func (n Normal) text(value func(float64) string) string {
	return "normal:mean=" + value(n.Average) + ",sd=" + value(n.SD)
}

// Lognormal is the lognormal distribution by its own mean (not its
// logarithm's) and coefficient of variation.
type Lognormal struct{ Average, CV float64 }

// parameters returns mean and standard deviation of the logarithm.
func (l Lognormal) parameters() (mu, sigma float64) {
	variance := logarithm(1 + float64(l.CV*l.CV))
	return logarithm(l.Average) - float64(variance/2), math.Sqrt(variance)
}

// Sample draws a value.
func (l Lognormal) Sample(r *rand.Rand) float64 {
	mu, sigma := l.parameters()
	return exponential(mu + float64(sigma*standardNormal(r)))
}

// Mean returns the average.
func (l Lognormal) Mean() float64 { return l.Average }

// String returns lognormal:mean=M,cv=C.
func (l Lognormal) String() string { return l.text(number) }

func (l Lognormal) text(value func(float64) string) string {
	return "lognormal:mean=" + value(l.Average) + ",cv=" + number(l.CV)
}

// Exponential is the exponential distribution.
type Exponential struct{ Average float64 }

// Sample draws a value.
func (e Exponential) Sample(r *rand.Rand) float64 {
	return float64(e.Average * standardExponential(r))
}

// Mean returns the average.
func (e Exponential) Mean() float64 { return e.Average }

// String returns exp:mean=M.
func (e Exponential) String() string { return e.text(number) }

func (e Exponential) text(value func(float64) string) string { return "exp:mean=" + value(e.Average) }

// Gamma is the gamma distribution by mean and coefficient of variation: its
// shape is 1/CV², its scale Average·CV². CV 0 is constant, CV 1 exponential.
type Gamma struct{ Average, CV float64 }

// Sample draws a value.
func (g Gamma) Sample(r *rand.Rand) float64 {
	square := float64(g.CV * g.CV)
	if square == 0 {
		return g.Average
	}
	return float64(standardGamma(r, 1/square) * float64(g.Average*square))
}

// Mean returns the average.
func (g Gamma) Mean() float64 { return g.Average }

// String returns gamma:mean=M,cv=C.
func (g Gamma) String() string { return g.text(number) }

func (g Gamma) text(value func(float64) string) string {
	return "gamma:mean=" + value(g.Average) + ",cv=" + number(g.CV)
}

// Weibull is the Weibull distribution.
type Weibull struct{ Shape, Scale float64 }

// Sample draws a value.
func (w Weibull) Sample(r *rand.Rand) float64 {
	return float64(w.Scale * power(standardExponential(r), 1/w.Shape))
}

// Mean returns Scale·Γ(1+1/Shape).
func (w Weibull) Mean() float64 { return w.Scale * math.Gamma(1+1/w.Shape) }

// String returns weibull:shape=K,scale=L.
func (w Weibull) String() string { return w.text(number) }

func (w Weibull) text(value func(float64) string) string {
	return "weibull:shape=" + number(w.Shape) + ",scale=" + value(w.Scale)
}

// Pareto is a lognormal body with a Pareto tail: a draw of the body above From
// is replaced by From·U^(-1/Alpha), so that the share of draws above From
// stays the body's and their excess follows the tail exponent.
type Pareto struct {
	Body        Lognormal
	From, Alpha float64
}

// Sample draws a value.
func (p Pareto) Sample(r *rand.Rand) float64 {
	x := p.Body.Sample(r)
	if x <= p.From {
		return x
	}
	return float64(p.From * power(open(r), -1/p.Alpha))
}

// Mean is infinite where Alpha is at most 1.
func (p Pareto) Mean() float64 {
	mu, sigma := p.Body.parameters()
	if sigma == 0 {
		sigma = 1e-12
	}
	z := (logarithm(p.From) - mu) / sigma
	above := math.Erfc(z/math.Sqrt2) / 2
	below := p.Body.Average * math.Erfc((sigma-z)/math.Sqrt2) / 2
	if p.Alpha <= 1 {
		if above == 0 {
			return below
		}
		return math.Inf(1)
	}
	return below + above*p.From*p.Alpha/(p.Alpha-1)
}

// String returns pareto:mean=M,cv=C,from=F,alpha=A.
func (p Pareto) String() string { return p.text(number) }

func (p Pareto) text(value func(float64) string) string {
	return "pareto:mean=" + value(p.Body.Average) + ",cv=" + number(p.Body.CV) +
		",from=" + value(p.From) + ",alpha=" + number(p.Alpha)
}

// Quantiles is a distribution by its quantile function, linear between the
// points of a table.
type Quantiles struct {
	// Share rises strictly from 0 to 1, Value never falls.
	Share, Value []float64
}

// Sample draws a value.
func (q Quantiles) Sample(r *rand.Rand) float64 { return q.Quantile(r.Float64()) }

// Mean returns the area under the quantile function.
func (q Quantiles) Mean() float64 {
	sum := 0.0
	for i := 1; i < len(q.Share); i++ {
		sum += (q.Share[i] - q.Share[i-1]) * (q.Value[i]/2 + q.Value[i-1]/2)
	}
	return sum
}

// String returns empirical:SHARE=VALUE,….
func (q Quantiles) String() string { return q.text(number) }

func (q Quantiles) text(value func(float64) string) string {
	var b strings.Builder
	b.WriteString("empirical:")
	for i := range q.Share {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s=%s", number(q.Share[i]), value(q.Value[i]))
	}
	return b.String()
}

// Values draws from observed values with equal chance.
type Values struct {
	Observed []float64 // in ascending order
	// Source is where they are from, as ParseDistribution was told.
	Source string
}

// Sample draws a value.
func (v Values) Sample(r *rand.Rand) float64 {
	return v.Observed[r.Uint64N(uint64(len(v.Observed)))]
}

// Mean returns the mean of the observed values.
func (v Values) Mean() float64 {
	sum := 0.0
	for _, x := range v.Observed {
		sum += x / float64(len(v.Observed))
	}
	return sum
}

// String returns empirical:FILE.
func (v Values) String() string { return v.text(number) }

func (v Values) text(func(float64) string) string { return "empirical:" + v.Source }

// Clamped moves draws of a distribution that lie outside [Low, High] to the
// nearer bound.
type Clamped struct {
	Of        Distribution
	Low, High float64 // ±Inf: no bound
}

// Sample draws a value.
func (c Clamped) Sample(r *rand.Rand) float64 {
	return min(max(c.Of.Sample(r), c.Low), c.High)
}

// Mean is the mean of 20,000 fixed draws: good to about 1 %.
func (c Clamped) Mean() float64 {
	const draws = 20000
	r := Random(0, "mean", 0)
	sum := 0.0
	for range draws {
		sum += c.Sample(r) / draws
	}
	return sum
}

// String returns DISTRIBUTION@LOW..HIGH.
func (c Clamped) String() string { return c.text(number) }

func (c Clamped) text(value func(float64) string) string {
	s := c.Of.String() + "@"
	if d, ok := c.Of.(texter); ok {
		s = d.text(value) + "@"
	}
	if !math.IsInf(c.Low, -1) {
		s += value(c.Low)
	}
	s += ".."
	if !math.IsInf(c.High, 1) {
		s += value(c.High)
	}
	return s
}

// texter writes itself with what has the unit of the values by value.
type texter interface {
	text(value func(float64) string) string
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
