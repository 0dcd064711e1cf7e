package runner

import (
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

const (
	// abortWindow is over how many of the last attempts a rule on a metric looks.
	abortWindow = 500
	// abortLeast is from how many attempts on it looks at all.
	abortLeast = 20
	// abortEvery is how often it looks, in time of the run.
	abortEvery = int64(time.Second)
	// unauthorizedAfter is how many refusals of the credential, without one
	// success, end every run: more of them would only lock an account.
	unauthorizedAfter = 10
	// goneAfter is how many refused connections in a row mean that the target
	// is gone.
	goneAfter = 10
)

// abortRules decides from what has ended whether the run must stop.
type abortRules struct {
	rules   []scenario.AbortRule
	metrics bool // a rule looks at a metric
	last    []*record.Attempt
	next    int
	looked  int64
	failed  int64
	refused int
	denied  int  // answers 401 and 403
	worked  bool // something succeeded
}

var _ Aborter = (*abortRules)(nil)

func newAbortRules(rules []scenario.AbortRule) *abortRules {
	a := &abortRules{rules: rules, looked: -abortEvery}
	for _, r := range rules {
		a.metrics = a.metrics || r.Objective != nil
	}
	return a
}

// Observe takes an ended attempt and returns the rule that holds, or "".
func (a *abortRules) Observe(row *record.Attempt) string {
	a.count(row)
	if a.denied >= unauthorizedAfter && !a.worked {
		return fmt.Sprintf("the target refused the credential %d times", a.denied)
	}
	for _, r := range a.rules {
		switch {
		case r.Errors > 0 && a.failed >= r.Errors:
			return fmt.Sprintf("%s: %s requests failed", r.Text, measure.Count(a.failed))
		case r.Gone && a.refused >= goneAfter:
			return fmt.Sprintf("%s: %s connections in a row were refused", r.Text, measure.Count(int64(a.refused)))
		}
	}
	if at := row.Moments.Ended.Or(0); a.metrics && len(a.last) >= abortLeast && at-a.looked >= abortEvery {
		a.looked = at
		return a.look()
	}
	return ""
}

func (a *abortRules) count(row *record.Attempt) {
	switch row.Outcome {
	case record.OK:
		a.worked = true
	case record.Cut, record.Cancelled:
	default:
		a.failed++
	}
	if status := row.HTTPStatus.Or(0); status == 401 || status == 403 {
		a.denied++
	}
	a.refused++
	if row.Outcome != record.TransportError || row.ErrorClass != wire.Refused.String() {
		a.refused = 0
	}
	if !a.metrics {
		return
	}
	if len(a.last) < abortWindow {
		a.last = append(a.last, row)
		return
	}
	a.last[a.next] = row
	a.next = (a.next + 1) % abortWindow
}

// look measures the last attempts and holds the rules on metrics against them.
func (a *abortRules) look() string {
	sums := measure.New(measure.Options{})
	for _, row := range a.last {
		sums.Add(row)
	}
	metrics := sums.All().Metrics()
	for _, r := range a.rules {
		if r.Objective == nil {
			continue
		}
		m, ok := metrics[r.Objective.Metric.Name]
		if !ok {
			continue
		}
		if v, ok := m.Stat(string(r.Objective.Stat)); ok {
			if x, ok := v.Get(); ok && r.Objective.Holds(x) {
				return fmt.Sprintf("%s: %s over the last %s attempts", r.Text, measure.Figure(v, m.Unit), measure.Count(len(a.last)))
			}
		}
	}
	return ""
}
