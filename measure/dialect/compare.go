package dialect

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// Comparison says what every tool would have printed of one run, and why they differ.
type Comparison struct {
	Tools []Column `json:"tools"`
	Rows  []Row    `json:"rows"`
	// Unsent requests are in our figures alone: no tool knows them.
	Unsent int `json:"unsent"`
}

// Column names a dialect.
type Column struct {
	Name    string `json:"name"`
	Tool    string `json:"tool"`
	Version string `json:"version"`
}

// Row is one metric in every dialect. Latencies are in ms.
type Row struct {
	Metric string        `json:"metric"`
	Unit   string        `json:"unit,omitempty"`
	Ours   measure.Value `json:"ours"`
	Cells  []Cell        `json:"cells"`
}

// Cell is a metric in one dialect.
type Cell struct {
	Dialect string        `json:"dialect"`
	Value   measure.Value `json:"value"`
	// Reason says why there is no value.
	Reason string `json:"reason,omitempty"`
	// Difference from ours in percent of ours; absent where either is, or ours is 0.
	Difference measure.Value `json:"difference_percent"`
	// Causes are the rules that make a difference of more than Apart percent,
	// the strongest first.
	Causes []Cause `json:"causes,omitempty"`
}

// Cause is one rule of a tool, and what its figure would be under ours instead.
type Cause struct {
	Rule    string        `json:"rule"`
	Without measure.Value `json:"without"`
}

// Apart is from how many percent on a difference is explained.
const Apart = 5.0

// metricRow is a row that a comparison has.
type metricRow struct{ metric, unit string }

// Metrics returns the metrics of a comparison with their units, in order.
func Metrics() []string {
	var out []string
	for _, m := range rowsOf() {
		out = append(out, m.metric)
	}
	return out
}

func rowsOf() []metricRow {
	rows := []metricRow{{"requests.ok", ""}, {"requests.failed", ""}}
	for _, name := range []string{"ttft", "tpot", "itl", "icl", "e2e"} {
		for _, s := range []string{"mean", "p50", "p95", "p99"} {
			rows = append(rows, metricRow{name + "." + s, "ms"})
		}
	}
	return append(rows, metricRow{"request_rate", "req/s"}, metricRow{"output_rate", "tok/s"}, metricRow{"input_rate", "tok/s"},
		metricRow{"total_rate", "tok/s"}, metricRow{"output_peak", "tok/s"}, metricRow{"goodput", "req/s"}, metricRow{"goodput_share", "%"})
}

// Ours returns tokamak's own figure of a metric of a comparison, or of any
// other by measure's name: a distribution with a statistic, or a rate.
func Ours(r *measure.Result, metric string) measure.Value {
	name, statistic, _ := strings.Cut(metric, ".")
	switch metric {
	case "requests.ok":
		return measure.Some(float64(r.Requests.OK))
	case "requests.failed":
		return measure.Some(float64(r.Requests.Failed))
	case "output_rate", "input_rate":
		return r.Metrics[strings.Replace(metric, "_", "_token_", 1)].Value
	case "total_rate":
		in, out := r.Metrics["input_token_rate"].Value, r.Metrics["output_token_rate"].Value
		x, okX := in.Get()
		y, okY := out.Get()
		if okX && okY {
			return measure.Some(x + y)
		}
		return measure.Value{}
	}
	m, ok := r.Metrics[name]
	if ok && m.Rate {
		return m.Value
	}
	if !ok {
		return measure.Value{}
	}
	v, _ := m.Stat(statistic)
	return v
}

// Compare computes every dialect's figures beside ours and explains what lies apart.
func (t *Trace) Compare(ours *measure.Result) Comparison {
	out := Comparison{Unsent: t.unsent}
	for _, m := range rowsOf() {
		out.Rows = append(out.Rows, Row{Metric: m.metric, Unit: m.unit, Ours: Ours(ours, m.metric)})
	}
	for _, d := range Dialects() {
		out.Tools = append(out.Tools, Column{d.Name, d.Tool, d.Version})
		t.column(&d, out.Rows)
	}
	return out
}

// printed are the metrics that a tool prints.
func (d *Dialect) printed(metric string) bool {
	return slices.ContainsFunc(d.Prints, func(p Print) bool { return p.Metric == metric })
}

func (t *Trace) column(d *Dialect, rows []Row) {
	got := t.figures(d)
	var apart []int
	for i := range rows {
		r := &rows[i]
		c := Cell{Dialect: d.Name}
		if x, ok := got.values[r.Metric]; ok && d.printed(r.Metric) {
			c.Value = measure.Some(x)
		}
		if !c.Value.Valid() {
			c.Reason = t.reason(d, &got, r.Metric)
		}
		if x, ok := c.Value.Get(); ok {
			if y, ok := r.Ours.Get(); ok && y != 0 && !math.IsInf(y, 0) {
				c.Difference = measure.Some(100 * (x - y) / y)
			}
		}
		r.Cells = append(r.Cells, c)
		if math.Abs(c.Difference.Or(0)) > Apart {
			apart = append(apart, i)
		}
	}
	if len(apart) > 0 {
		t.explain(d, rows, apart)
	}
}

// explain switches one rule after the other to ours and says what that does to
// the figures that lie apart.
func (t *Trace) explain(d *Dialect, rows []Row, apart []int) {
	var want family
	for _, i := range apart {
		want |= familyOf(rows[i].Metric)
	}
	for _, s := range switches() {
		said, house := s.says(&d.Rules), House()
		if said == "" || said == s.says(&house) {
			continue
		}
		changed := d.Rules
		s.set(&changed, &house)
		v := t.evaluate(&changed, want)
		for _, i := range apart {
			c := &rows[i].Cells[len(rows[i].Cells)-1]
			without, ok := v[rows[i].Metric]
			if !ok || math.IsNaN(without) {
				continue
			}
			if x := c.Value.Or(0); math.Abs(x-without) > 0.01*math.Abs(rows[i].Ours.Or(x)) {
				c.Causes = append(c.Causes, Cause{said, measure.Some(without)})
			}
		}
	}
	for _, i := range apart {
		c := &rows[i].Cells[len(rows[i].Cells)-1]
		x := c.Value.Or(0)
		slices.SortStableFunc(c.Causes, func(a, b Cause) int {
			return cmp.Compare(math.Abs(x-b.Without.Or(x)), math.Abs(x-a.Without.Or(x)))
		})
	}
}

// familyOf is what must be walked for a metric.
func familyOf(metric string) family {
	switch name, _, _ := strings.Cut(metric, "."); name {
	case "ttft", "tpot", "e2e":
		return latencies
	case "itl", "icl":
		return latencies | pools
	case "output_peak":
		return peaks
	}
	return throughput
}

// rule is one field of Rules, to be read and switched.
type rule struct {
	says func(*Rules) string
	set  func(to, from *Rules)
}

func switches() []rule {
	return []rule{
		{func(r *Rules) string { return r.Fails.Says }, func(to, from *Rules) { to.Fails = from.Fails }},
		{func(r *Rules) string { return r.Start.Says }, func(to, from *Rules) { to.Start = from.Start }},
		{func(r *Rules) string { return r.Sees.Says }, func(to, from *Rules) { to.Sees = from.Sees }},
		{func(r *Rules) string { return r.End.Says }, func(to, from *Rules) { to.End = from.End }},
		{func(r *Rules) string { return r.Output.Says }, func(to, from *Rules) { to.Output = from.Output }},
		{func(r *Rules) string { return r.Input.Says }, func(to, from *Rules) { to.Input = from.Input }},
		{func(r *Rules) string { return r.TTFT.Says }, func(to, from *Rules) { to.TTFT = from.TTFT }},
		{func(r *Rules) string { return r.TPOT.Says }, func(to, from *Rules) { to.TPOT = from.TPOT }},
		{func(r *Rules) string { return r.ITL.Says }, func(to, from *Rules) { to.ITL = from.ITL }},
		{func(r *Rules) string { return r.ICL.Says }, func(to, from *Rules) { to.ICL = from.ICL }},
		{func(r *Rules) string { return r.Carried.Says }, func(to, from *Rules) { to.Carried = from.Carried }},
		{func(r *Rules) string { return r.Window.Says }, func(to, from *Rules) { to.Window = from.Window }},
		{func(r *Rules) string { return r.Quantile.Says }, func(to, from *Rules) { to.Quantile = from.Quantile }},
		{func(r *Rules) string { return r.Good.Says }, func(to, from *Rules) { to.Good = from.Good }},
	}
}
