package measure

import (
	"math"
	"slices"
	"strings"
)

// Metrics returns every metric of the view by name. A metric without its
// inputs is there, with a count of 0 and null figures.
func (v *View) Metrics() map[string]Metric {
	out := map[string]Metric{}
	v.overs() // counted once, before others read it
	var both [len(definitions)][2]Metric
	buffers := make([][]float64, len(definitions)) // of each worker
	inParallel(len(definitions), func(worker, i int) {
		buffers[worker] = v.eachInto(&definitions[i], buffers[worker][:0])
		s := slice(buffers[worker], v.overs())
		both[i][0], both[i][1] = s.metrics(definitions[i].unit)
	})
	for i := range definitions {
		d := &definitions[i]
		out[d.name] = both[i][0]
		if d.basis&latency != 0 {
			out[d.name+Adj] = both[i][1]
		}
	}
	for _, name := range pooled {
		if name == "icl" && v.oneEach() {
			out["icl"], out["icl"+Adj] = out["itl"], out["itl"+Adj]
			continue
		}
		s := v.pool(name)
		out[name], out[name+Adj] = s.metrics("ms")
	}
	v.addRates(out)
	return out
}

// Metric returns the metric called name; one that does not exist is empty.
func (v *View) Metric(name string) Metric {
	s, unit, ok := v.series(name)
	if ok {
		plain, adj := s.metrics(unit)
		if base(name) != name {
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

// Percentile returns the p-quantile of a metric of the view by nearest rank;
// absent where it has none or is a rate.
func (v *View) Percentile(name string, p float64) Value {
	s, _, ok := v.series(name)
	if !ok {
		return Value{}
	}
	finite := 1
	if base(name) != name {
		finite = 0
	}
	return Some(s.quantiles([]float64{p}, finite)[0])
}

// series returns the series of a metric that is no rate.
func (v *View) series(name string) (s series, unit string, ok bool) {
	b := base(name)
	if d := defined(b); d != nil {
		return v.each(d), d.unit, true
	}
	if slices.Contains(pooled[:], b) {
		return v.pool(b), "ms", true
	}
	return series{}, "", false
}

// each is the series of a metric with one value a request.
func (v *View) each(d *definition) series {
	return slice(v.eachInto(d, nil), v.overs())
}

// eachInto appends the values of a metric with one a request to values.
func (v *View) eachInto(d *definition, values []float64) []float64 {
	for _, r := range v.rows {
		if d.basis&anyOutcome == 0 && v.fate(r) != good {
			continue
		}
		if x := d.in(r); !math.IsNaN(x) {
			if cap(values) == 0 {
				values = make([]float64, 0, len(v.rows))
			}
			values = append(values, x)
		}
	}
	return values
}

// overs is how many requests count as +inf.
func (v *View) overs() int {
	if v.failed == nil {
		n := 0
		for _, r := range v.rows {
			if v.fate(r) == over {
				n++
			}
		}
		v.failed = &n
	}
	return *v.failed
}

// pool is the series of a pooled metric. Every failure brings as many infinite gaps as a
// success that has any has on average.
func (v *View) pool(name string) series {
	s := series{infinite: v.overs()}
	s.values = func(yield func([]float64) bool) {
		for _, r := range v.rows {
			if v.fate(r) == good && !yield(v.gapValues(name, r)) {
				return
			}
		}
	}
	with := 0
	for _, r := range v.rows {
		if v.fate(r) != good {
			continue
		}
		n := int(r.gaps.count)
		if !r.gaps.fixed {
			n = len(v.gapValues(name, r))
		}
		s.n += n
		if n > 0 {
			with++
		}
	}
	if with > 0 {
		s.infinite = int(math.Ceil(float64(s.infinite) * float64(s.n) / float64(with)))
	}
	if s.n > fewGaps {
		s.whole = &wholeGaps{v, name}
	}
	return s
}

// oneEach tells whether every arrival of the successes held one token, so that
// itl and icl are the same.
func (v *View) oneEach() bool {
	return !slices.ContainsFunc(v.rows, func(r *row) bool { return !r.oneEach && v.fate(r) == good })
}

// gapValues returns the values of a pooled metric in one request, in ms. They
// are the view's until the next call.
func (v *View) gapValues(name string, r *row) []float64 { return v.scratch.values(v.a, name, r) }

// scratch is memory for the values of one request.
type scratch struct {
	gaps  []gap
	batch []float64
}

// values are those of a pooled metric in one request, valid until the next call.
func (s *scratch) values(a *Accumulator, name string, r *row) []float64 {
	if r.gaps.fixed {
		s.batch = a.gaps.milliseconds(r.gaps, s.batch[:0])
		return s.batch
	}
	s.gaps = a.gaps.decode(r.gaps, s.gaps[:0])
	s.batch = s.batch[:0]
	if name != "icl" && !r.oneEach {
		s.batch = perToken(s.gaps, s.batch)
		return s.batch
	}
	for _, g := range s.gaps {
		s.batch = append(s.batch, float64(g.ns)/1e6)
	}
	return s.batch
}

// perToken appends the itl of a request's gaps to out.
func perToken(gaps []gap, out []float64) []float64 {
	// A gap before an arrival without a token of its own belongs to the next
	// arrival that has one.
	var carried int64
	for _, g := range gaps {
		switch {
		case g.tokens < 0:
			carried = 0
		case g.tokens == 0:
			carried += g.ns
		default:
			out = append(out, float64(g.ns+carried)/float64(g.tokens)/1e6)
			carried = 0
		}
	}
	return out
}
