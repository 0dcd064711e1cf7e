package dialect

import (
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// Look is what a dialect's tool would have recorded of one sending. It is valid
// until the next.
type Look struct {
	OK                      bool       // a success by the tool's rule
	Start, First, Last, End record.Int // moments in ns; absent where the tool has none
	Input, Output           record.Int // tokens
	// Gaps are those between events in ns that the tool pools or lists, and
	// nil where it keeps none.
	Gaps []float64
}

// Each hands over every sending as the dialect's tool sees it, in the order in
// which they were added, those that were never sent left out.
func (t *Trace) Each(d *Dialect, yield func(*Look)) {
	y := &tally{t: t, rules: &d.Rules}
	gaps := d.Rules.ICL.Of.gaps
	if gaps == nil {
		gaps = d.Rules.ITL.Of.gaps
	}
	var l Look
	t.each(func(r *request) {
		s, ok := y.look(r)
		l = Look{OK: ok, Start: known(s.start), First: known(s.first), Last: known(s.last), End: known(s.end), Gaps: l.Gaps[:0]}
		if s.output >= 0 {
			l.Output = record.Some(s.output)
		}
		if n := d.Rules.Input.Of(r); n >= 0 {
			l.Input = record.Some(n)
		}
		if gaps != nil {
			l.Gaps = gaps(r, d.Rules.Sees.Of, l.Gaps)
		}
		yield(&l)
	})
}

func known(at int64) record.Int {
	if at == absent {
		return record.Int{}
	}
	return record.Some(at)
}

// Values returns every figure that the dialect's rules yield, whether its tool
// prints it or not, by metric: ttft.p99, request_rate. Latencies are in ms.
func (t *Trace) Values(d *Dialect) map[string]measure.Value {
	out := map[string]measure.Value{}
	for name, x := range t.figures(d).values {
		out[name] = measure.Some(x)
	}
	return out
}

// Linear returns the q-quantiles of values between two neighbours in
// proportion, as numpy takes them; absent of nothing. It reorders values.
func Linear(values []float64, qs ...float64) []measure.Value {
	s := &sample{values: values, n: len(values)}
	out := make([]measure.Value, len(qs))
	for i, q := range s.quantiles(linear().Of, qs) {
		out[i] = measure.Some(q)
	}
	return out
}
