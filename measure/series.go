package measure

import (
	"iter"
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// series is the values of a metric, to be walked in batches as often as need
// be, and how many infinite ones its _adj form has besides.
type series struct {
	values   iter.Seq[[]float64]
	n        int
	infinite int
	whole    *wholeGaps // the same values of a large pool; else nil
}

// percentiles are those that a distribution shows.
var percentiles = [...]float64{0.5, 0.9, 0.95, 0.99, 0.999, 1}

type figures = [len(percentiles)]float64

// metrics returns the distribution of the series and its _adj form.
func (s *series) metrics(unit string) (plain, adj Metric) {
	plain, adj = Metric{Unit: unit, Count: s.n}, Metric{Unit: unit, Count: s.n + s.infinite}
	if s.n > 0 {
		mean, sd := s.moments()
		plain.Mean, plain.SD = Some(mean), Some(sd)
	}
	if s.infinite > 0 {
		adj.Mean = Some(math.Inf(1))
	} else {
		adj.Mean, adj.SD = plain.Mean, plain.SD
	}
	ps := append(percentiles[:], percentiles[:]...)
	q := s.quantiles(ps, len(percentiles))
	if s.n > 0 {
		plain.set(figures(q))
	}
	if adj.Count > 0 {
		adj.set(figures(q[len(percentiles):]))
	}
	return plain, adj
}

func (m *Metric) set(q figures) {
	m.P50, m.P90, m.P95 = Some(q[0]), Some(q[1]), Some(q[2])
	m.P99, m.P999, m.Max = Some(q[3]), Some(q[4]), Some(q[5])
}

// quantiles returns the given quantiles, the first so many of the finite values alone, the
// rest with the infinite ones; NaN where there are none.
func (s *series) quantiles(ps []float64, finite int) []float64 {
	out := make([]float64, len(ps))
	var ranks, where []int
	for i, p := range ps {
		n := s.n
		if i >= finite {
			n += s.infinite
		}
		if n == 0 {
			out[i] = math.NaN()
			continue
		}
		if r := stat.Rank(n, p); r <= s.n {
			ranks, where = append(ranks, r), append(where, i)
		} else {
			out[i] = math.Inf(1)
		}
	}
	if len(ranks) > 0 {
		for i, x := range s.ranked(ranks) {
			out[where[i]] = x
		}
	}
	return out
}

// ranked are the finite values of the given ranks.
func (s *series) ranked(ranks []int) []float64 {
	if s.whole != nil {
		return s.whole.ranked(ranks)
	}
	return stat.Select(s.values, s.n, ranks)
}

// moments returns mean and sample standard deviation of the finite values.
func (s *series) moments() (mean, sd float64) {
	if s.whole != nil {
		return s.whole.moments()
	}
	var sum, squares float64
	for batch := range s.values {
		for _, x := range batch {
			sum += x
		}
	}
	mean = sum / float64(s.n)
	if s.n < 2 {
		return mean, math.NaN()
	}
	for batch := range s.values {
		for _, x := range batch {
			d := x - mean
			squares += float64(d * d)
		}
	}
	return mean, math.Sqrt(squares / float64(s.n-1))
}

// at returns a percentile of the finite values, or their mean where p is 0;
// NaN of none.
func (s *series) at(p float64) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if p == 0 {
		mean, _ := s.moments()
		return mean
	}
	return s.quantiles([]float64{p}, 1)[0]
}

// slice is the series of values at hand.
func slice(values []float64, infinite int) series {
	return series{values: stat.Batch(values), n: len(values), infinite: infinite}
}
