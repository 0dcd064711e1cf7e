package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// resamples is how many the bootstrap draws.
const resamples = 400

// mostValues is how many gaps of a run the bootstrap looks at.
const mostValues = 2_000_000

// bootstrapSeed keys the draws of the bootstrap, so that a comparison always
// says the same.
const bootstrapSeed = 1

// leastBlocks is from how many blocks on their spread is worth something.
const leastBlocks = 8

// pairOfRuns are the two runs of a comparison of one a side.
type pairOfRuns struct {
	o    *Options
	a, b *measure.View
	// quiet says that there is no noise between runs: virtual time.
	quiet bool
	// together says that the runs have the same requests, which are then drawn
	// together.
	together bool
	why      string // nothing can be said; empty: something can
	samples  map[string][2]*stat.Counted
	drawn    map[Figure][][2]float64
}

// single makes two runs ready to be compared by blocks.
// Requests that cannot be read are an error.
func (o *Options) single(a, b *Side) (*pairOfRuns, error) {
	x, y := &a.Runs[0], &b.Runs[0]
	l := &pairOfRuns{o: o, samples: map[string][2]*stat.Counted{}, drawn: map[Figure][][2]float64{}, quiet: x.Manifest.Virtual && y.Manifest.Virtual}
	if x.View == nil || y.View == nil {
		l.why = "one run a side, and its requests are not at hand"
		return l, nil
	}
	var err error
	if l.a, err = x.View(); err != nil {
		return nil, err
	}
	if l.b, err = y.View(); err != nil {
		return nil, err
	}
	switch {
	case min(l.a.Len(), l.b.Len())/blockLength(min(l.a.Len(), l.b.Len())) < leastBlocks:
		l.why = fmt.Sprintf("one run a side, and %d requests are too few to see their spread: it takes %d", min(l.a.Len(), l.b.Len()), leastBlocks*leastBlocks)
	default:
		l.together = x.Manifest.Seed == y.Manifest.Seed && l.a.Len() == l.b.Len()
	}
	return l, nil
}

// blockLength is how many successive requests make a block: ⌈√n⌉, at least 1.
func blockLength(n int) int { return max(1, int(math.Ceil(math.Sqrt(float64(n))))) }

// estimate works out a figure's difference; nil where nothing can be said, and
// the figure says why.
func (l *pairOfRuns) estimate(d *Figured, x, y float64, s scale) *estimate {
	if l.why != "" {
		d.Reason = l.why
		return nil
	}
	level, known := l.o.level(d, s)
	within, ok := l.within(d.figure, s)
	if !ok && known { // the noise is of whole runs, and this figure is one value a run
		e := estimate{mean: s.to(y) - s.to(x), df: math.Inf(1), n: 1}.widened(level.SD, float64(level.Runs-1))
		e.sd = e.se
		return &e
	}
	if !ok {
		d.Reason = "one run a side: of this figure only repeated runs show the spread"
		return nil
	}
	n := min(l.a.Len(), l.b.Len())
	df := float64(n/blockLength(n) - 1)
	e := &estimate{mean: s.to(y) - s.to(x), se: within, df: df, sd: within, n: 1}
	switch {
	case known:
		*e = e.widened(level.SD, float64(level.Runs-1))
		e.sd = e.se
	case !l.quiet:
		if s.relative == d.Relative {
			d.Reason = l.unknown(d, within, s)
		}
		return nil
	}
	if s.relative == d.Relative {
		l.takes(d, within, e, n, s)
	}
	return e
}

// unknown says what it would take where the noise between runs is not known.
func (l *pairOfRuns) unknown(d *Figured, within float64, s scale) string {
	_, size := l.o.bounds(d, s)
	text := "one run a side, and the noise between runs is not known: --noise FILE, or pairs of runs"
	if n := needed(within, size, DefaultAlpha); n > 0 {
		text += fmt.Sprintf(" (at least %s to see %s, by the spread within the runs alone)", measure.Count(n), d.amount(d.Margin))
	}
	return text
}

// takes says how many pairs like this one, or how long a run, would show a
// change of the margin's size.
func (l *pairOfRuns) takes(d *Figured, within float64, e *estimate, requests int, s scale) {
	_, size := l.o.bounds(d, s)
	if n := needed(e.sd, size, DefaultAlpha); n > 0 {
		d.NeededPairs = &n
	}
	z := reach(1, math.Inf(1), DefaultAlpha)
	room := size*size/(z*z) - (e.se*e.se - within*within)
	if room > 0 && within > 0 {
		if n := math.Ceil(float64(requests) * within * within / room); n < 1e9 {
			d.NeededRequests = new(int)
			*d.NeededRequests = int(n)
		}
	}
}

// within is the standard error of a figure's difference by the spread within
// the two runs.
func (l *pairOfRuns) within(f Figure, s scale) (float64, bool) {
	drawn, ok := l.drawn[f]
	if !ok {
		drawn = l.draw(f)
		l.drawn[f] = drawn
	}
	d := make([]float64, 0, len(drawn))
	for _, xy := range drawn {
		if x := s.to(xy[1]) - s.to(xy[0]); !math.IsNaN(x) && !math.IsInf(x, 0) {
			d = append(d, x)
		}
	}
	if len(d) < resamples/2 {
		return 0, false
	}
	mean, sd := stat.MeanSD(d)
	return exact(sd, mean), true
}

// draw works a figure out on resamples of both runs.
func (l *pairOfRuns) draw(f Figure) [][2]float64 {
	of := statistic(f)
	samples, ok := l.sample(f.Metric)
	if of == nil || !ok {
		return nil
	}
	r := stat.Random(bootstrapSeed, "compare", 0)
	ca, cb := make([]int32, l.a.Len()), make([]int32, l.b.Len())
	if l.together {
		cb = ca
	}
	var drawn [][2]float64
	for range resamples {
		stat.CircularBlocks(r, blockLength(len(ca)), ca)
		if !l.together {
			stat.CircularBlocks(r, blockLength(len(cb)), cb)
		}
		x, okX := of(samples[0], ca)
		y, okY := of(samples[1], cb)
		if okX && okY {
			drawn = append(drawn, [2]float64{x, y})
		}
	}
	return drawn
}

// sample is a metric's values in both runs.
func (l *pairOfRuns) sample(metric string) ([2]*stat.Counted, bool) {
	if s, ok := l.samples[metric]; ok {
		return s, s[0] != nil
	}
	var s [2]*stat.Counted
	for i, v := range []*measure.View{l.a, l.b} {
		values, of := v.ByRequest(metric, mostValues)
		if metric == "error_rate" {
			values, of = v.Failures()
		}
		if len(values) == 0 {
			l.samples[metric] = [2]*stat.Counted{}
			return s, false
		}
		s[i] = stat.NewCounted(values, of)
	}
	l.samples[metric] = s
	return s, true
}

// statistic is how a figure is worked out from a resample; nil where it cannot
// be: a rate over a time is no mean of requests, and the bootstrap says nothing
// true of a maximum.
func statistic(f Figure) func(*stat.Counted, []int32) (float64, bool) {
	quantiles := []string{"p50", "p90", "p95", "p99", "p999"}
	switch i := slices.Index(quantiles, f.Stat); {
	case i >= 0:
		q := []float64{.5, .9, .95, .99, .999}[i]
		return func(c *stat.Counted, n []int32) (float64, bool) { return c.Quantile(q, n) }
	case f.Stat == "mean" || f.Metric == "error_rate":
		return func(c *stat.Counted, n []int32) (float64, bool) {
			x := c.Mean(n)
			return x, !math.IsNaN(x)
		}
	}
	return nil
}
