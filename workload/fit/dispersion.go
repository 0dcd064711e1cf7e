package fit

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// checkedScales are the time scales, in s, at which burstiness has to survive.
var checkedScales = [...]int{1, 10, 60}

// reportedScales are those that are reported, as far as the log reaches.
var reportedScales = [...]int{1, 10, 60, 600, 3600, 6 * 3600}

// leastWindows is how many windows of a scale make an index of dispersion.
const leastWindows = 20

// mostBins bounds the windows that are counted, and binsEach how many there are
// for each arrival: the index of nearly empty windows says nothing.
const (
	mostBins = 2_000_000
	binsEach = 100
)

// fineness is the least scale, in s, at which n arrivals in a span are counted.
func fineness(span float64, n int) int {
	for _, s := range reportedScales {
		if span/float64(s) <= float64(min(mostBins, binsEach*n)) {
			return s
		}
	}
	return 24 * 3600
}

// within are the scales at which a span has enough windows.
func within(scales []int, span float64, fine int) []int {
	var list []int
	for _, s := range scales {
		if span >= float64(leastWindows*s) && s >= fine {
			list = append(list, s)
		}
	}
	return list
}

// counts are arrivals in windows of a fineness; a rest of the span that fills
// none is left out.
type counts struct {
	fine int // s
	list []int64
}

func newCounts(span float64, fine int) *counts {
	return &counts{fine, make([]int64, int(span)/fine)}
}

// add counts an arrival at t s.
func (c *counts) add(t float64) {
	if i := int(t) / c.fine; i < len(c.list) {
		c.list[i]++
	}
}

// index is the index of dispersion at a scale that is a multiple of the
// fineness.
func (c *counts) index(scale int) float64 {
	return stat.IndexOfDispersion(stat.Coarser(c.list, scale/c.fine))
}

func countsOf(at []float64, span float64, fine int) *counts {
	c := newCounts(span, fine)
	for _, t := range at {
		c.add(t)
	}
	return c
}

// sampleCounts counts one sample of a model.
func sampleCounts(m *traffic.Model, span float64, fine int, seed uint64) (*counts, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	c := newCounts(span, fine)
	for {
		at, ok := s.NextMoment()
		if !ok {
			return c, nil
		}
		c.add(float64(at) / 1e9)
	}
}

// dispersed is a log's index of dispersion beside that of samples.
type dispersed struct {
	scales []Dispersion
	seeds  int
	first  *counts // of the first sample of the model
}

const (
	// mostSeeds is how many samples medians are of; fewer, but leastSeeds at
	// least, where they would hold more than mostSampled arrivals.
	mostSeeds   = 20
	leastSeeds  = 3
	mostSampled = 3_000_000
)

// seedsFor is how many samples of n arrivals are drawn.
func seedsFor(n, most int) int { return max(min(mostSeeds, most/max(n, 1)), leastSeeds) }

// newDispersion holds the log against samples of the model and of a Poisson
// process of one rate, at all scales.
func newDispersion(log *counts, m *traffic.Model, span float64, n int, seed uint64) (*dispersed, error) {
	scales := within(reportedScales[:], span, log.fine)
	d := &dispersed{seeds: seedsFor(n, mostSampled)}
	key := func(s int) uint64 { return stat.Key(seed, "dispersion", uint64(s)) }
	model, err := sampleAll(m, span, log.fine, scales, d.seeds, key)
	if err != nil {
		return nil, err
	}
	if d.first, err = sampleCounts(m, span, log.fine, key(0)); err != nil {
		return nil, err
	}
	poisson, err := sampleAll(plainPoisson(float64(n), span), span, log.fine, scales, d.seeds, key)
	if err != nil {
		return nil, err
	}
	for i, scale := range scales {
		a, b := model[i], poisson[i]
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		d.scales = append(d.scales, Dispersion{Scale: float64(scale), Log: log.index(scale),
			Model: stat.Quantile(a, .5), Low: a[0], High: a[len(a)-1], Poisson: stat.Quantile(b, .5)})
	}
	return d, nil
}

// sampleAll draws n samples of a model, several at a time, and returns their
// indices of dispersion at each scale, ascending; a sample without an arrival
// has none.
func sampleAll(m *traffic.Model, span float64, fine int, scales []int, n int, seed func(i int) uint64) ([][]float64, error) {
	out := make([][]float64, len(scales))
	for i := range out {
		out[i] = make([]float64, n)
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		g.Go(func() error {
			c, err := sampleCounts(m, span, fine, seed(k))
			if err != nil {
				return err
			}
			for i, scale := range scales {
				out[i][k] = c.index(scale)
			}
			return nil
		})
	}
	err := g.Wait()
	for i, list := range out {
		out[i] = slices.DeleteFunc(list, math.IsNaN)
		slices.Sort(out[i])
	}
	return out, err
}

// plainPoisson is a Poisson process of one rate.
func plainPoisson(n, span float64) *traffic.Model {
	one := stat.Constant(1)
	return &traffic.Model{Duration: duration(span), Clients: []traffic.Client{{Name: "poisson", Rate: traffic.Curve{Rate: []float64{n / span}},
		Arrival: traffic.Arrival{Process: traffic.Poisson}, Lengths: []traffic.Lengths{{Input: one, Output: one}}}}}
}

// windowCVs are the coefficients of variation of the gaps in each window; nil
// where there are fewer than ten.
func windowCVs(at []float64, span, window float64) []*float64 {
	n := windowCount(span, window)
	out := make([]*float64, n)
	var gaps []float64
	index, from := 0, 0
	flush := func(to int) {
		gaps = gaps[:0]
		for i := from + 1; i < to; i++ {
			gaps = append(gaps, at[i]-at[i-1])
		}
		if mean, sd := stat.MeanSD(gaps); len(gaps) >= 10 && mean > 0 {
			cv := sd / mean
			out[index] = &cv
		}
		from = to
	}
	for i, t := range at {
		if w := min(int(t/window), n-1); w != index {
			flush(i)
			index = w
		}
	}
	flush(len(at))
	return out
}
