package fit

import (
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// checkedScales are the time scales, in s, at which burstiness has to survive.
var checkedScales = [...]int{1, 10, 60}

// reportedScales are those that are reported, as far as the log reaches.
var reportedScales = [...]int{1, 10, 60, 600, 3600, 6 * 3600}

// leastWindows is how many windows of a scale make an index of dispersion.
const leastWindows = 20

func within(scales []int, span float64) []int {
	var list []int
	for _, s := range scales {
		if span >= float64(leastWindows*s) {
			list = append(list, s)
		}
	}
	return list
}

// countsOf counts moments in windows of a second; a rest of the span that
// fills none is left out.
func countsOf(at []float64, span float64) []int64 {
	counts := make([]int64, int(span))
	for _, t := range at {
		if i := int(t); i < len(counts) {
			counts[i]++
		}
	}
	return counts
}

// sampleCounts counts one sample of a model in windows of a second.
func sampleCounts(m *traffic.Model, span float64, seed uint64) ([]int64, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	counts := make([]int64, int(span))
	for {
		at, ok := s.NextMoment()
		if !ok {
			return counts, nil
		}
		if i := int(at / 1e9); i < len(counts) {
			counts[i]++
		}
	}
}

// mostSampled bounds the arrivals of all samples of the whole model.
const mostSampled = 4_000_000

// dispersion holds the log against samples of the model and of a Poisson
// process of one rate, at all scales.
func dispersion(log []int64, m *traffic.Model, span float64, n int, seed uint64) ([]Dispersion, int, error) {
	scales := within(reportedScales[:], span)
	seeds := max(min(20, mostSampled/max(n, 1)), 3)
	model, poisson := make([][]float64, len(scales)), make([][]float64, len(scales))
	plain := plainPoisson(float64(n), span)
	for s := range seeds {
		key := stat.Key(seed, "dispersion", uint64(s))
		for k, m := range []*traffic.Model{m, plain} {
			counts, err := sampleCounts(m, span, key)
			if err != nil {
				return nil, 0, err
			}
			for i, scale := range scales {
				d := stat.IndexOfDispersion(stat.Coarser(counts, scale))
				if k == 0 {
					model[i] = append(model[i], d)
				} else {
					poisson[i] = append(poisson[i], d)
				}
			}
		}
	}
	out := make([]Dispersion, len(scales))
	for i, scale := range scales {
		slices.Sort(model[i])
		slices.Sort(poisson[i])
		out[i] = Dispersion{Scale: float64(scale), Log: stat.IndexOfDispersion(stat.Coarser(log, scale)),
			Model: stat.Quantile(model[i], .5), Low: model[i][0], High: model[i][seeds-1], Poisson: stat.Quantile(poisson[i], .5)}
	}
	return out, seeds, nil
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
