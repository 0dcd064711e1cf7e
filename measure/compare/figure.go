package compare

import (
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// Figure is one statistic of a metric: ttft.p99, or a rate alone.
type Figure struct {
	Metric string
	Stat   string // mean, p50, p90, p95, p99, …; value for a rate
}

// Value is the statistic of a rate, which has no other.
const Value = "value"

// String returns the figure as it is written: ttft.p99, error_rate.
func (f Figure) String() string {
	if f.Stat == Value {
		return f.Metric
	}
	return f.Metric + "." + f.Stat
}

// of returns the figure's value in a run, and whether there is one.
func (f Figure) of(r *Run) (float64, bool) {
	m, ok := r.Metrics[f.Metric]
	if !ok {
		return 0, false
	}
	v, ok := m.Stat(f.Stat)
	if !ok {
		return 0, false
	}
	return v.Get()
}

// direction is +1 where more is better, −1 where less is, 0 where neither.
func (f Figure) direction() int {
	name := strings.TrimSuffix(f.Metric, measure.Adj)
	switch strings.TrimSuffix(name, "_per_gpu") {
	case "request_rate", "output_token_rate", "input_token_rate", "goodput", "goodput_share", "tokens_per_s_user", "cached_share":
		return 1
	case "ttft", "ttft_send", "ttft_answer", "ttfb", "itl", "icl", "jitter", "stall_max", "tpot", "e2e", "e2e_send", "connect", "error_rate":
		return -1
	}
	return 0
}

// tail tells whether the figure lies so far out that its margin is the wider
// one.
func (f Figure) tail() bool {
	return strings.HasPrefix(f.Stat, "p99") || f.Stat == "max"
}

// known tells whether runs have such a figure.
func (f Figure) known() bool {
	k, ok := measure.Find(f.Metric)
	if !ok {
		return false
	}
	if k.Form == measure.Rate {
		return f.Stat == Value
	}
	var m measure.Metric
	_, ok = m.Stat(f.Stat)
	return ok
}

// Statistics are those of a distribution that a comparison can look at.
func Statistics() []string { return []string{"mean", "sd", "p50", "p90", "p95", "p99", "p999", "max"} }

// DefaultPrimary are the figures that decide where none are declared.
func DefaultPrimary() []Figure {
	return []Figure{{"ttft", "p50"}, {"ttft", "p95"}, {"itl", "p50"}, {"itl", "p95"}, {"e2e", "p50"}, {"e2e", "p95"},
		{"output_token_rate", Value}, {"error_rate", Value}}
}

// reported are the figures that are compared besides the primary ones.
func reported() []Figure {
	var all []Figure
	for _, metric := range []string{"ttft", "itl", "tpot", "e2e"} {
		for _, stat := range []string{"mean", "p50", "p90", "p95", "p99"} {
			all = append(all, Figure{metric, stat})
		}
	}
	for _, rate := range []string{"request_rate", "output_token_rate", "goodput", "goodput_share", "error_rate"} {
		all = append(all, Figure{rate, Value})
	}
	return all
}

// figures returns those to compare in the order of reported, other ones last,
// and how many of them are primary.
func (o *Options) figures() (all []Figure, primary map[Figure]bool) {
	primary = map[Figure]bool{}
	for _, f := range o.Primary {
		primary[f] = true
	}
	all = reported()
	for _, f := range append(slices.Clone(o.Primary), o.Extra...) {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, primary
}

// Directed tells whether more or less of the figure is better.
func (f Figure) Directed() bool { return f.direction() != 0 }

// trust is that of the figure's own statistic, where there is one for it.
func (f Figure) trust(v measure.Validity) measure.Trust {
	judged := slices.Contains([]string{"p50", "p90", "p95", "p99"}, f.Stat)
	if !judged || len(v.ByStat) == 0 {
		return v.Trust
	}
	if t, ok := v.ByStat[f.Stat]; ok {
		return t
	}
	return measure.Valid
}
