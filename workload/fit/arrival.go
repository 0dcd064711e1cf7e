package fit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// windowsTried are the windows of rate curves in s, of which the rule takes one.
var windowsTried = [...]float64{60, 120, 300, 600, 1200, 1800, 3600}

// leastCount is how many arrivals a window has to have in the mean.
const leastCount = 10

// arrivalFit is one way to model a client's arrivals.
type arrivalFit struct {
	ArrivalCandidate
	curve   *curve
	process traffic.Arrival
}

// fitArrivals tries every window with every renewal process, and where none of
// them passes the dispersion check every window with chains of gaps. at are
// the session starts in s, ascending; unit is the stamps' resolution in s; b,
// where there is one, leaves a single curve, which has those bursts. It returns
// all candidates, best first by BIC, and which one is taken and why.
func fitArrivals(at []float64, span, unit float64, o Options, b *bursts, seed uint64) (list []arrivalFit, chosen int, why string) {
	var curves []*curve
	asked := o.Window
	if o.Bursts > 0 {
		asked = duration(o.window())
	}
	if b != nil {
		asked = duration(b.window)
	}
	for _, w := range windows(len(at), span, asked) {
		c := newCurve(at, span, w).with(at, b)
		curves = append(curves, c)
		list = append(list, renewals(at, c, unit)...)
	}
	byBIC(list)
	k := newCheck(at, span, seed)
	if k == nil {
		list[0].Chosen = true
		return list, 0, "best by BIC; the log is too short for a dispersion check"
	}
	chosen, passed := k.choose(list)
	why = "renewal process with the best BIC of those that pass the dispersion check"
	if !passed {
		var chains []arrivalFit
		for _, c := range curves {
			chains = append(chains, chainsOf(at, c, unit)...)
		}
		byBIC(chains)
		_, passed = k.choose(chains)
		why = "no renewal process passes the dispersion check: chain of gaps with the best BIC of those that do"
		list = append(list, chains...)
		if !passed {
			why = "nothing passes the dispersion check: this misses by least"
		}
		byBIC(list)
		if !passed {
			chosen = least(list)
		} else {
			chosen = best(list)
		}
	}
	list[chosen].Chosen = true
	return list, chosen, why
}

func byBIC(list []arrivalFit) {
	slices.SortStableFunc(list, func(a, b arrivalFit) int { return cmp.Compare(a.BIC, b.BIC) })
}

// least is the candidate whose dispersion misses by least of those checked.
func least(list []arrivalFit) int {
	at := -1
	for i := range list {
		if e := list[i].DispersionError; e != nil && (at < 0 || *e < *list[at].DispersionError) {
			at = i
		}
	}
	return at
}

// windows are those that the rule chooses from; span stands for one rate.
func windows(n int, span float64, asked time.Duration) []float64 {
	if asked > 0 {
		return []float64{min(asked.Seconds(), span)}
	}
	list := []float64{span}
	for _, w := range windowsTried {
		if span >= 2*w && float64(n)*w/span >= leastCount {
			list = append(list, w)
		}
	}
	return list
}

// around collects the processes fitted around one curve.
type around struct {
	n     int
	curve *curve
	gaps  *gaps
	rates float64
	list  []arrivalFit
}

func newAround(at []float64, c *curve, unit float64, each func(x float64)) *around {
	moments := make([]float64, len(at))
	for i, t := range at {
		moments[i] = c.operational(t)
	}
	return &around{n: len(at), curve: c, gaps: newGaps(moments, leastGap(len(at), c, unit), each), rates: c.logRates()}
}

// leastGap is half of what the stamps tell apart, in operational time.
func leastGap(n int, c *curve, unit float64) float64 { return max(unit/2*float64(n)/c.span, 1e-9) }

func (a *around) add(process traffic.Arrival, cv, likelihood float64, parameters int) *arrivalFit {
	f := arrivalFit{curve: a.curve, process: process}
	if len(a.curve.counts) > 1 {
		f.Window = a.curve.window
	}
	f.Process, f.CV = string(process.Process), cv
	f.Parameters = a.curve.parameters() + parameters
	f.LogLikelihood = likelihood + a.rates
	f.BIC = -2*f.LogLikelihood + float64(f.Parameters)*math.Log(float64(a.n))
	a.list = append(a.list, f)
	return &a.list[len(a.list)-1]
}

// renewals fits each renewal process around a curve.
func renewals(at []float64, c *curve, unit float64) []arrivalFit {
	a := newAround(at, c, unit, nil)
	g := a.gaps
	a.add(traffic.Arrival{Process: traffic.Poisson}, 1, g.poissonLikelihood(), 0)
	if g.n < 2 || !(g.sum > 0) {
		return a.list
	}
	cv, likelihood := g.gamma()
	a.add(traffic.Arrival{Process: traffic.Gamma, CV: []float64{round(min(cv, 100))}}, cv, likelihood, 1)
	cv, likelihood = g.weibull()
	a.add(traffic.Arrival{Process: traffic.Weibull, CV: []float64{round(min(cv, 100))}}, cv, likelihood, 1)
	return a.list
}

// chainsOf fits chains of gaps around a curve.
func chainsOf(at []float64, c *curve, unit float64) []arrivalFit {
	list := make([]float64, 0, len(at))
	a := newAround(at, c, unit, func(x float64) { list = append(list, x) })
	for _, form := range chainForms {
		if m, likelihood, parameters := form.fit(list, 2*leastGap(len(at), c, unit)); m != nil {
			a.add(traffic.Arrival{Process: traffic.MarkovGaps, Markov: m}, a.gaps.cv(), likelihood, parameters).States = form.states()
		}
	}
	return a.list
}

const (
	// dispersionLimit is how far the median index of dispersion of samples may
	// be from the log's at each scale.
	dispersionLimit = 0.15
	// checkArrivals bounds what a check costs.
	checkArrivals = 1_000_000
)

// equalBIC is the difference of BIC that is no reason to prefer one.
const equalBIC = 10

// check holds samples of candidates against a log's index of dispersion.
type check struct {
	log    *counts
	scales []int
	n      int
	span   float64
	seed   uint64
}

// newCheck returns nil where the log is too short to tell.
func newCheck(at []float64, span float64, seed uint64) *check {
	fine := fineness(span, len(at))
	k := &check{scales: within(checkedScales[:], span, fine), n: len(at), span: span, seed: seed}
	if len(k.scales) == 0 {
		return nil
	}
	k.log = countsOf(at, span, fine)
	return k
}

// choose goes through candidates, best BIC first, until samples of one pass; of
// those that pass and whose BIC is at most equalBIC worse it takes the one
// that misses by least. Where none passes it is the one that misses by least of
// all. Those behind are not checked.
func (k *check) choose(list []arrivalFit) (chosen int, passed bool) {
	for i := range list {
		if passed && list[i].BIC > list[best(list)].BIC+equalBIC {
			break
		}
		e := k.miss(&list[i])
		list[i].DispersionError = &e
		passed = passed || e <= dispersionLimit
	}
	if len(list) == 0 {
		return 0, false
	}
	if passed {
		return best(list), true
	}
	return least(list), false
}

// best is the candidate, of those that pass, that misses by least of those
// whose BIC equals the first one's.
func best(list []arrivalFit) int {
	first, at := -1, -1
	for i := range list {
		e := list[i].DispersionError
		if e == nil || *e > dispersionLimit {
			continue
		}
		if first < 0 {
			first, at = i, i
		}
		if list[i].BIC <= list[first].BIC+equalBIC && *e < *list[at].DispersionError {
			at = i
		}
	}
	return at
}

// model is a model of the fit's arrivals alone.
func (f *arrivalFit) model(span float64) *traffic.Model {
	one := stat.Constant(1)
	return &traffic.Model{Duration: duration(span), Clients: []traffic.Client{{Name: "client", Rate: f.curve.traffic(), Arrival: f.process,
		Lengths: []traffic.Lengths{{Input: one, Output: one}}}}}
}

func duration(span float64) time.Duration {
	return time.Duration(math.Round(span*1e3)) * time.Millisecond
}

// miss is the largest relative error over the scales of the median of samples.
func (k *check) miss(f *arrivalFit) float64 {
	samples, err := sampleAll(f.model(k.span), k.span, k.log.fine, k.scales, max(min(mostSeeds, checkArrivals/max(k.n, 1)), 1), func(s int) uint64 {
		return stat.Key(k.seed, "check", uint64(s))
	})
	if err != nil {
		return math.MaxFloat64 // a model that cannot be sampled; infinity has no JSON
	}
	worst := 0.0
	for i, scale := range k.scales {
		if len(samples[i]) == 0 {
			return math.MaxFloat64 // nothing arrived in any sample
		}
		worst = max(worst, math.Abs(stat.Quantile(samples[i], .5)/k.log.index(scale)-1))
	}
	return worst
}
