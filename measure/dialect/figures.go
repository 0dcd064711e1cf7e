package dialect

import (
	"math"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// Figure is one figure that a tool would have printed.
type Figure struct {
	Name   string        `json:"name"`   // as the tool prints it
	Metric string        `json:"metric"` // which it is, as the comparison names it
	Unit   string        `json:"unit,omitempty"`
	Value  measure.Value `json:"value"`
	// Reason says why there is no value.
	Reason string `json:"reason,omitempty"`
	// Decimals is how many the tool prints.
	Decimals int `json:"decimals"`
}

// Figures returns what the dialect's tool would have printed of the run.
func (t *Trace) Figures(d *Dialect) []Figure {
	got := t.figures(d)
	out := make([]Figure, 0, len(d.Prints))
	for _, p := range d.Prints {
		f := Figure{Name: p.Name, Metric: p.Metric, Unit: p.Unit, Decimals: p.Decimals}
		if x, ok := got.values[p.Metric]; ok {
			f.Value = measure.Some(x * scale(p.Unit, p.Metric))
		}
		if !f.Value.Valid() {
			f.Reason = t.reason(d, &got, p.Metric)
		}
		out = append(out, f)
	}
	return out
}

// got is a dialect's figures in the units of the comparison.
type got struct {
	values values
	needs  string // why there is none
}

func (t *Trace) figures(d *Dialect) got {
	v := t.evaluate(&d.Rules, everything)
	g := got{values: v}
	if d.Needs != nil {
		n := counts{failed: int(v["requests.failed"]), ok: int(v["requests.ok"]), sent: int(v["requests.sent"])}
		n.stopped = n.sent - n.ok - n.failed
		if g.needs = d.Needs(&n); g.needs != "" {
			g.values = values{}
		}
	}
	return g
}

// scale turns the unit of evaluation into that of a print: latencies are in ms.
func scale(unit, metric string) float64 {
	name, _, _ := strings.Cut(metric, ".")
	switch name {
	case "ttft", "tpot", "itl", "icl", "e2e":
	default:
		return 1
	}
	switch unit {
	case "s":
		return 1e-3
	case "ns":
		return 1e6
	}
	return 1
}

// reason says why a tool has no value of a metric.
func (t *Trace) reason(d *Dialect, g *got, metric string) string {
	name, _, _ := strings.Cut(metric, ".")
	for _, key := range []string{metric, name} {
		if why := d.Lacks[key]; why != "" {
			return why
		}
	}
	switch {
	case g.needs != "":
		return g.needs
	case name == "goodput" || name == "goodput_share":
		if len(t.opt.Limits) == 0 {
			return "the run has no objective on a latency"
		}
		return "it cannot take the run's objectives"
	case len(t.heads) == 0:
		return "nothing was sent"
	}
	if x, ok := g.values[metric]; ok && math.IsNaN(x) {
		return "no request has a value"
	}
	return "it does not print it"
}
