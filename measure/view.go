package measure

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
)

// Metrics returns every metric of the view by name. A metric without its
// inputs is there, with a count of 0 and null figures.
func (v *View) Metrics() map[string]Metric {
	out := map[string]Metric{}
	for i := range definitions {
		d := &definitions[i]
		values := v.values(d)
		out[d.name] = distribution(d.unit, values)
		if d.basis&latency != 0 {
			out[d.name+Adj] = distribution(d.unit, adjusted(values, v.overs()))
		}
	}
	for _, name := range pooled {
		out[name], out[name+Adj] = v.pool(name)
	}
	v.addRates(out)
	return out
}

// values returns a metric's values, ascending.
func (v *View) values(d *definition) []float64 {
	out := make([]float64, 0, len(v.rows))
	for _, r := range v.rows {
		if d.basis&anyOutcome == 0 && v.fate(r) != good {
			continue
		}
		if x := d.in(r); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// overs is how many requests count as +inf.
func (v *View) overs() int {
	n := 0
	for _, r := range v.rows {
		if v.fate(r) == over {
			n++
		}
	}
	return n
}

func adjusted(ascending []float64, failures int) []float64 {
	out := slices.Grow(slices.Clip(ascending), failures)
	for range failures {
		out = append(out, math.Inf(1))
	}
	return out
}

// gapValues walks the values of a pooled metric in one request, in ms.
func (v *View) gapValues(name string, r *row, yield func(float64) bool) bool {
	if name == "icl" {
		return v.a.gaps.each(r.gaps, func(g gap) bool { return yield(float64(g.ns) / 1e6) })
	}
	// A gap before an arrival without a token of its own belongs to the next
	// arrival that has one.
	var carried int64
	return v.a.gaps.each(r.gaps, func(g gap) bool {
		switch {
		case g.tokens < 0:
			carried = 0
			return true
		case g.tokens == 0:
			carried += g.ns
			return true
		}
		ns := g.ns + carried
		carried = 0
		return yield(float64(ns) / float64(g.tokens) / 1e6)
	})
}

// pooledValues walks the values of a pooled metric in all successes.
func (v *View) pooledValues(name string) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for _, r := range v.rows {
			if v.fate(r) == good && !v.gapValues(name, r, yield) {
				return
			}
		}
	}
}

// pool returns a pooled metric and its form in which every failure brings as
// many infinite gaps as a success that has any has on average.
func (v *View) pool(name string) (plain, adj Metric) {
	plain.Unit, adj.Unit = "ms", "ms"
	values := v.pooledValues(name)
	var sum, squares float64
	for x := range values {
		plain.Count++
		sum += x
	}
	_, infinite := v.poolSize(name)
	adj.Count = plain.Count + infinite
	if plain.Count > 0 {
		mean := sum / float64(plain.Count)
		for x := range values {
			d := x - mean
			squares += float64(d * d)
		}
		plain.Mean = Some(mean)
		if plain.Count > 1 {
			plain.SD = Some(math.Sqrt(squares / float64(plain.Count-1)))
		}
	}
	v.pooledQuantiles(values, &plain, &adj)
	return plain, adj
}

// withGaps counts the successes that have a value of a pooled metric.
func (v *View) withGaps(name string) int {
	n := 0
	for _, r := range v.rows {
		if v.fate(r) == good && !v.gapValues(name, r, func(float64) bool { return false }) {
			n++
		}
	}
	return n
}

func (v *View) pooledQuantiles(values iter.Seq[float64], plain, adj *Metric) {
	var ranks []int
	for _, m := range []*Metric{plain, adj} {
		for _, p := range percentiles {
			if m.Count > 0 {
				ranks = append(ranks, min(stat.Rank(m.Count, p), plain.Count))
			}
		}
	}
	if adj.Count == 0 {
		return
	}
	var q [2 * len(percentiles)]float64
	if plain.Count > 0 {
		copy(q[:], stat.Select(values, plain.Count, ranks))
		plain.quantiles([len(percentiles)]float64(q[:len(percentiles)]))
	}
	if adj.Count == plain.Count {
		*adj = *plain
		return
	}
	adj.Mean = Some(math.Inf(1))
	var a [len(percentiles)]float64
	for i, p := range percentiles {
		a[i] = math.Inf(1)
		if stat.Rank(adj.Count, p) <= plain.Count {
			a[i] = q[len(percentiles)+i]
		}
	}
	adj.quantiles(a)
}

// Metric returns the metric called name; one that does not exist is empty.
func (v *View) Metric(name string) Metric {
	b := base(name)
	if d := defined(b); d != nil {
		values := v.values(d)
		if b != name {
			values = adjusted(values, v.overs())
		}
		return distribution(d.unit, values)
	}
	if slices.Contains(pooled[:], b) {
		plain, adj := v.pool(b)
		if b != name {
			return adj
		}
		return plain
	}
	for i := range rates {
		if rates[i].name == strings.TrimSuffix(name, perGPU) {
			return Metric{Unit: rates[i].unit, Value: v.Rate(name), Rate: true}
		}
	}
	return Metric{}
}
