package dialect

import (
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// quantiles that are computed of every latency, by their names.
var (
	shares     = [...]float64{0.5, 0.9, 0.95, 0.99}
	statistics = [...]string{"p50", "p90", "p95", "p99"}
)

// values are figures by metric: latencies in ms, rates per second.
type values map[string]float64

// family is a group of metrics that one walk yields.
type family uint8

const (
	latencies family = 1 << iota
	pools
	throughput
	peaks
	everything = latencies | pools | throughput | peaks
)

// tally is a run under one set of rules while it is walked.
type tally struct {
	t      *Trace
	rules  *Rules
	limits []measure.Limit

	ttft, tpot, itl, icl, e2e sample
	n                         counts
	window, own               stretch
	requests                  int
	input, output             float64
	inputKnown, outputKnown   bool
	okOutput, okInput         float64
	firstStart                int64
	buf                       []float64
}

// stretch is a time that grows.
type stretch struct{ from, to int64 }

func noTime() stretch { return stretch{absent, absent} }

func (s *stretch) grow(from, to int64) {
	if from == absent || to == absent {
		return
	}
	if s.from == absent || from < s.from {
		s.from = from
	}
	s.to = max(s.to, to)
}

func (s stretch) seconds() float64 {
	if s.from == absent || s.to <= s.from {
		return nan()
	}
	return float64(s.to-s.from) / 1e9
}

// evaluate returns the figures of the run under rules.
func (t *Trace) evaluate(rules *Rules, want family) values {
	y := &tally{t: t, rules: rules, limits: t.opt.Limits, window: noTime(), own: noTime(), firstStart: absent}
	from, to := t.load()
	if rules.Window.Of.load || rules.Window.Of.begins {
		y.window.from = from
	}
	if rules.Window.Of.load {
		y.window.to = to
	}
	t.each(func(r *request) { y.add(r, want) })
	out := values{}
	y.latencies(out, want)
	if want&throughput != 0 {
		y.rates(out)
	}
	if want&peaks != 0 {
		y.peak(out)
	}
	return out
}

// look makes what the rules see of a request.
func (y *tally) look(r *request) (s seen, ok bool) {
	rules := y.rules
	s = seen{start: rules.Start.Of(r), first: absent, last: absent}
	for _, e := range r.events {
		if e.kind&rules.Sees.Of == 0 {
			continue
		}
		if s.chunks == 0 {
			s.first = e.at
		}
		s.last = e.at
		s.chunks++
	}
	s.end = rules.End.Of(r, &s)
	s.output = rules.Output.Of(r, &s)
	return s, !rules.Fails.Of(r, &s)
}

func (y *tally) add(r *request, want family) {
	s, ok := y.look(r)
	y.n.sent++
	switch {
	case ok:
		y.n.ok++
	case r.ending == stopped:
		y.n.stopped++
	default:
		y.n.failed++
	}
	var own own
	if ok {
		own = y.latenciesOf(r, &s, want)
	}
	if want&throughput != 0 {
		y.carry(r, &s, ok)
		if ok && y.good(&own) {
			y.n.good++
		}
	}
	if want&peaks != 0 && ok && s.start != absent && (y.firstStart == absent || s.start < y.firstStart) {
		y.firstStart = s.start
	}
}

// own is what a request's latencies are, in ms; NaN where it has none.
type own struct{ ttft, tpot, itl, e2e float64 }

func (y *tally) latenciesOf(r *request, s *seen, want family) own {
	o := own{nan(), nan(), nan(), nan()}
	rules := y.rules
	if v, w, has := rules.TTFT.Of(r, s); has {
		y.ttft.add(v, w)
		o.ttft = v / 1e6
	}
	if rules.TPOT.Of != nil {
		if v, w, has := rules.TPOT.Of(r, s); has {
			y.tpot.add(v, w)
			o.tpot = v / 1e6
		}
	}
	if s.start != absent && s.end != absent {
		y.e2e.add(float64(s.end-s.start), 1)
		o.e2e = float64(s.end-s.start) / 1e6
	}
	o.itl = y.latency(&y.itl, rules.ITL.Of, r, s, want)
	y.latency(&y.icl, rules.ICL.Of, r, s, want)
	return o
}

// latency adds what a request has of ITL or ICL and returns its own mean.
func (y *tally) latency(into *sample, l latency, r *request, s *seen, want family) float64 {
	switch {
	case l.one != nil:
		if v, w, has := l.one(r, s); has {
			into.add(v, w)
			return v / 1e6
		}
	case l.gaps != nil && want&(pools|throughput) != 0:
		y.buf = l.gaps(r, y.rules.Sees.Of, y.buf[:0])
		var sum float64
		for _, g := range y.buf {
			into.count(g, 1)
			sum += g
		}
		if len(y.buf) > 0 {
			return sum / float64(len(y.buf)) / 1e6
		}
	}
	return nan()
}

// gapsOf walks the pooled gaps of every success once more.
func (y *tally) gapsOf(l latency) func(yield func([]float64) bool) {
	return func(yield func([]float64) bool) {
		var buf []float64
		done := false
		y.t.each(func(r *request) {
			if done {
				return
			}
			if _, ok := y.look(r); !ok {
				return
			}
			buf = l.gaps(r, y.rules.Sees.Of, buf[:0])
			done = !yield(buf)
		})
	}
}

// latencies puts the distributions among the figures, in ms.
func (y *tally) latencies(out values, want family) {
	put := func(name string, s *sample, rule quantile) {
		out[name+".mean"] = s.mean() / 1e6
		out[name+".max"] = nan()
		if s.n > 0 {
			out[name+".max"] = s.max / 1e6
		}
		for i, q := range s.quantiles(rule, shares[:]) {
			out[name+"."+statistics[i]] = q / 1e6
		}
	}
	rule := y.rules.Quantile.Of
	if want&latencies != 0 {
		put("ttft", &y.ttft, rule)
		put("e2e", &y.e2e, rule)
		if y.rules.TPOT.Of != nil {
			put("tpot", &y.tpot, rule)
		}
	}
	for _, p := range []struct {
		name string
		s    *sample
		l    latency
	}{{"itl", &y.itl, y.rules.ITL.Of}, {"icl", &y.icl, y.rules.ICL.Of}} {
		switch {
		case p.l.one != nil && want&latencies != 0:
			put(p.name, p.s, rule)
		case p.l.gaps != nil && want&pools != 0:
			p.s.pool = y.gapsOf(p.l)
			put(p.name, p.s, rule)
		}
	}
}

// peak is the largest number of output events that fell into one second, the
// seconds counted from the first start of a success.
func (y *tally) peak(out values) {
	out["output_peak"] = nan()
	if y.firstStart == absent {
		return
	}
	buckets := map[int64]int{}
	y.t.each(func(r *request) {
		if _, ok := y.look(r); !ok {
			return
		}
		for _, e := range r.events {
			if e.kind&y.rules.Sees.Of != 0 {
				buckets[(e.at-y.firstStart)/1e9]++
			}
		}
	})
	most := 0
	for _, n := range buckets {
		most = max(most, n)
	}
	out["output_peak"] = float64(most)
}

// good tells whether a success meets every objective by the tool's rule.
func (y *tally) good(o *own) bool {
	g := &y.rules.Good.Of
	verdict := true
	for i := range y.limits {
		l := &y.limits[i]
		x := nan()
		switch metricOf(*l) {
		case "ttft":
			x = o.ttft
		case "e2e":
			x = o.e2e
		case "itl":
			x = o.itl
		case "tpot":
			x = o.tpot
			if g.tpot == ofITL {
				x = o.itl
			}
		}
		switch {
		case !math.IsNaN(x):
			verdict = verdict && x <= l.Value
		case g.absentIs == undetermined:
			return false
		case g.absentIs == unmet:
			verdict = false
		}
	}
	y.n.determined++
	return verdict
}

// takes tells whether the tool can be given every objective of the run.
func (g *goodput) takesAll(limits []measure.Limit) bool {
	return len(limits) > 0 && !slices.ContainsFunc(limits, func(l measure.Limit) bool {
		return l.Above || !slices.Contains(g.takes, metricOf(l))
	})
}

// metricOf is the metric of an objective, whichever form it names.
func metricOf(l measure.Limit) string { return strings.TrimSuffix(l.Metric, measure.Adj) }
