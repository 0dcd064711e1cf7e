package measure

import (
	"math"

	"github.com/tokamak-bench/tokamak/record"
)

// Own returns one attempt's value of a metric with one value a request, in the
// metric's unit, as if the attempt were the whole request. One that its user
// gave up has the time that it had taken by then: the value would have been at
// least that. One that failed otherwise is +Inf where the metric is a latency.
// NaN: it has none, or the metric is of another form.
func Own(name string, a *record.Attempt) float64 {
	d := defined(name)
	if d == nil {
		return math.NaN()
	}
	var r row
	r.fill(a)
	switch {
	case a.Outcome == record.OK:
		return d.in(&r)
	case a.Outcome == record.Abandoned && d.floor != nil:
		return d.floor(&r) / d.scale()
	case fateOf(a.Outcome) == over && a.Outcome != record.Abandoned && d.basis&latency != 0:
		return math.Inf(1)
	}
	return math.NaN()
}
