package fit

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// work are the tokens of session starts in windows, which are what an engine has
// to do: it waits where they come together.
type work struct {
	input, output *counts
	n             [2]int64 // requests whose length is known
	sum           [2]int64
}

func newWork(span float64, fine int) *work {
	return &work{input: newCounts(span, fine), output: newCounts(span, fine)}
}

// add counts the tokens of a request at t s; a length of zero is not known.
func (w *work) add(t float64, input, output int64) {
	for i, x := range [...]int64{input, output} {
		if x <= 0 {
			continue
		}
		c := w.input
		if i == 1 {
			c = w.output
		}
		if k := int(t) / c.fine; k < len(c.list) {
			c.list[k] += x
		}
		w.n[i]++
		w.sum[i] += x
	}
}

// indices are the indices of dispersion of input and output at a scale, in
// requests; NaN where no length is known.
func (w *work) indices(scale int) (of [2]float64) {
	for i, c := range [...]*counts{w.input, w.output} {
		of[i] = math.NaN()
		if w.sum[i] > 0 {
			of[i] = c.index(scale) / (float64(w.sum[i]) / float64(w.n[i]))
		}
	}
	return of
}

// mostWorked bounds the requests that samples of tokens hold together; of a
// longer log the first so many are looked at.
const mostWorked = 400_000

// tokenDispersion holds the tokens of session starts against those of samples.
func (l *log) tokenDispersion(m *traffic.Model, starts []int32, fine int) ([]TokenDispersion, error) {
	scales := within(reportedScales[:], l.span, fine)
	span := l.span
	if len(starts) > mostWorked {
		starts = starts[:mostWorked]
		span = float64(l.at[starts[mostWorked-1]]) / 1e9
		scales = within(reportedScales[:], span, fine)
	}
	log := newWork(span, fine)
	for _, r := range starts {
		log.add(float64(l.at[r])/1e9, int64(l.newText(r)), int64(l.output[r]))
	}
	if log.sum[0] == 0 || log.sum[1] == 0 {
		return nil, nil
	}
	samples := make([]*work, max(min(mostSeeds, mostWorked/len(starts)), 1))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range samples {
		g.Go(func() (err error) {
			samples[k], err = sampleWork(m, span, fine, stat.Key(l.options.Seed, "work", uint64(k)))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []TokenDispersion
	for _, scale := range scales {
		d := TokenDispersion{Scale: float64(scale)}
		of := log.indices(scale)
		for i, b := range [...]*Beside{&d.Input, &d.Output} {
			var list []float64
			for _, w := range samples {
				if x := w.indices(scale)[i]; !math.IsNaN(x) {
					list = append(list, x)
				}
			}
			if len(list) == 0 || math.IsNaN(of[i]) {
				return nil, nil
			}
			slices.Sort(list)
			*b = Beside{Log: of[i], Model: stat.Quantile(list, .5), Low: list[0], High: list[len(list)-1]}
		}
		out = append(out, d)
	}
	return out, nil
}

// sampleWork adds up the tokens of one sample.
func sampleWork(m *traffic.Model, span float64, fine int, seed uint64) (*work, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	w := newWork(span, fine)
	for {
		d, ok := s.Next()
		if !ok || float64(d.At)/1e9 > span {
			return w, nil
		}
		w.add(float64(d.At)/1e9, d.Input, d.Output)
	}
}

// farLimit is from which error of the tokens' index of dispersion on it is said
// what else the log could be divided by.
const farLimit = 0.5

// findWork says where tokens come together otherwise than in the log.
func (l *log) findWork(list []TokenDispersion, seeds int) {
	worst := 0.0
	defer func() {
		if n := len(l.tenants.ids); worst > farLimit && n > 1 && l.options.By != ByAny && l.options.By != ByTenant {
			l.say("work: the log names %s tenants, whom --by tenant would tell apart", grouped(int64(n)))
		}
	}()
	for _, d := range list {
		for i, b := range [...]Beside{d.Input, d.Output} {
			if e := b.Model/b.Log - 1; math.Abs(e) > dispersionLimit && d.Scale <= 60 {
				worst = max(worst, math.Abs(e))
				l.say("work: at %s the index of dispersion of the model's %s tokens is %.3g against the log's %.3g (%+.0f %%%s)", shortDuration(d.Scale),
					[...]string{"input", "output"}[i], b.Model, b.Log, 100*e, byChance(b.Log, b.Low, b.High, seeds))
			}
		}
	}
}
