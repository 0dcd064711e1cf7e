package measure

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// Steady is the block of the steady window. Where none was found, From and To are
// absent and Reason says why.
type Steady struct {
	Found    bool              `json:"-"`
	From     Value             `json:"from_ms"` // since the start of the load
	To       Value             `json:"to_ms"`
	Rule     string            `json:"rule"`
	Reason   string            `json:"reason,omitempty"`
	Requests Requests          `json:"requests"`
	Metrics  map[string]Metric `json:"metrics"`
}

// minSteady is how many requests a steady window needs.
const minSteady = 50

// Steady returns the view of the steady window and the rule that cut it; a nil
// view comes with the reason.
func (a *Accumulator) Steady() (v *View, rule, reason string) {
	all := a.All()
	if a.opt.Stages > 1 {
		return nil, "", "the load has several stages"
	}
	if len(all.rows) < minSteady {
		return nil, "", fmt.Sprintf("%d requests are too few to look for one; it takes %d", len(all.rows), minSteady)
	}
	from, rule, reason := a.warm(all)
	if reason != "" {
		return nil, rule, reason
	}
	to := all.to
	if median, ok := all.Percentile("e2e_send", 0.5).Get(); ok {
		to -= int64(median * 1e6)
	}
	rule += "; end: the median e2e_send before the load's end"
	if to-from < (all.to-all.from)/4 {
		return nil, rule, "less than a quarter of the load's time would be left"
	}
	v = all.part(from, to)
	if len(v.rows) < minSteady/2 {
		return nil, rule, "too few requests would be left"
	}
	return v, rule, ""
}

// warm returns the end of the warm-up.
func (a *Accumulator) warm(all *View) (from int64, rule, reason string) {
	switch {
	case a.opt.Warmup > 0:
		return all.from + int64(a.opt.Warmup), fmt.Sprintf("start: the first %v left out as asked", a.opt.Warmup), ""
	case a.opt.WarmupRequests > 0:
		rule = fmt.Sprintf("start: the first %d requests left out as asked", a.opt.WarmupRequests)
		if a.opt.WarmupRequests >= len(all.rows) {
			return 0, rule, "nothing would be left"
		}
		return all.rows[a.opt.WarmupRequests].intended, rule, ""
	}
	rule = "start: MSER-5 of ttft and of e2e, the later"
	from = all.from
	for _, name := range []string{"ttft", "e2e"} {
		at, ok := all.settled(defined(name))
		if !ok {
			return 0, rule, name + " did not settle in the first half"
		}
		from = max(from, at)
	}
	return from, rule, ""
}

// settled returns the intended time of the first request after a metric's
// transient.
func (v *View) settled(d *definition) (int64, bool) {
	var series []float64
	var at []int64
	for _, r := range v.rows {
		if v.a.outcomeOf(r) != record.OK {
			continue
		}
		if x := d.in(r); !math.IsNaN(x) {
			series, at = append(series, x), append(at, r.intended)
		}
	}
	skip, ok := stat.MSER5(series)
	if !ok {
		return 0, false
	}
	if skip == 0 {
		return v.from, true
	}
	return at[skip], true
}

func (a *Accumulator) steadyBlock() Steady {
	v, rule, reason := a.Steady()
	if v == nil {
		return Steady{Rule: rule, Reason: reason, Requests: Requests{ByOutcome: map[string]int{}}, Metrics: map[string]Metric{}}
	}
	start, _ := a.All().Window()
	return Steady{
		Found: true,
		From:  Some(float64(v.from-start) / 1e6), To: Some(float64(v.to-start) / 1e6), Rule: rule,
		Requests: v.Requests(), Metrics: v.Metrics(),
	}
}
