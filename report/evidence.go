package report

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// evidence writes how far the figures can be trusted: intervals, the smallest
// change that the run could tell, whether it was over-saturated, what changed
// while it ran, and what came from the server's cache.
func (p *page) evidence() {
	if p.s.Requests.Due >= shownFrom {
		p.intervals()
		p.saturation()
		p.changes()
	}
	c := &p.s.Cache
	if c.Warning != "" {
		p.painted("cache", red, c.Warning, ": "+c.Reason)
	} else if c.Observed.Or(0) > 0 || c.Possible.Or(0) > 0 {
		p.line("cache", string(c.Verdict)+": "+c.Reason)
	}
}

// shownFrom is how many requests a run has at least for which it is shown
// what cannot be told of it; of fewer that goes without saying.
const shownFrom = 100

// shownIntervals are the figures whose intervals the summary shows.
var shownIntervals = []struct{ metric, stat, label string }{
	{"ttft", "p50", "ttft p50"}, {"ttft", "p99", "ttft p99"}, {"itl", "p50", "itl p50"}, {"itl", "p99", "itl p99"},
	{"e2e", "p50", "e2e p50"}, {"output_token_rate", "value", "out"},
}

func (p *page) intervals() {
	all := &p.s.Evidence.Intervals
	if all.Reason != "" {
		p.line("intervals", "none: "+all.Reason)
		return
	}
	var sure, tells, none []string
	for _, s := range shownIntervals {
		i, ok := all.Metrics[s.metric][s.stat]
		m := p.s.Metrics[s.metric]
		v, _ := m.Stat(s.stat)
		switch {
		case !ok || !v.Valid():
		case !i.Low.Valid():
			none = append(none, s.label)
		default:
			sure = append(sure, fmt.Sprintf("%s %s to %s", s.label, figure(i.Low, m.Unit), figure(i.High, m.Unit)))
			if d, ok := i.Detectable.Get(); ok {
				tells = append(tells, s.label+" "+measure.Percent(d))
			}
		}
	}
	if len(sure) > 0 {
		p.line(measure.Percent(100*all.Level)+" sure", strings.Join(sure, ", "))
	}
	if len(tells) > 0 {
		p.line("would tell", "changes from here to another such run of "+strings.Join(tells, ", "))
	}
	if len(none) > 0 {
		p.line("unsure", "too little independent evidence for an interval: "+strings.Join(none, ", "))
	}
}

func (p *page) saturation() {
	s := &p.s.Evidence.Saturation
	switch s.Verdict {
	case measure.OverSaturated:
		p.painted("load", red, "OVER-SATURATED", ": "+s.Reason)
	case measure.Stable, measure.CannotTell:
		p.line("steadiness", string(s.Verdict)+": "+s.Reason)
	}
}

// mostChanges is how many changes are shown.
const mostChanges = 4

func (p *page) changes() {
	label := "changed"
	found := p.s.Evidence.Changes.Found
	for i, c := range found {
		if i == mostChanges {
			p.line("", fmt.Sprintf("and %d more in summary.json", len(found)-i))
			return
		}
		p.painted(label, yellow, fmt.Sprintf("%s from %s to %s at %s", c.Metric, figure(c.Before, c.Unit), figure(c.After, c.Unit), figure(c.At, "ms")), "")
		label = ""
	}
}
