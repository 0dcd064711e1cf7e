package runner

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// RetryOn names the failures that are worth a further attempt, as a scenario
// does.
type RetryOn []string

// covers tells whether an attempt failed in one of the ways.
func (o RetryOn) covers(row *record.Attempt) bool {
	word := ""
	switch row.Outcome {
	case record.Rejected:
		word = "rejected"
	case record.HTTPError:
		if row.HTTPStatus.Or(0) >= 500 {
			word = "error"
		}
	case record.TransportError:
		word = "connection"
	case record.Timeout:
		word = "timeout"
	case record.StreamError, record.StreamBroken:
		word = "broken"
	case record.Abandoned:
		word = "abandoned"
	case record.OK, record.Cut, record.Cancelled, record.Unsent:
	}
	return word != "" && slices.Contains(o, word)
}

// observe tells an adaptive load of an attempt's end.
func (l *Loop) observe(row *record.Attempt, at int64) {
	if l.Adapt == "" {
		return
	}
	source, ok := l.Load.(load.Adaptive)
	if !ok {
		return
	}
	ms := measure.Own(l.Adapt, row)
	if math.IsNaN(ms) {
		return
	}
	level, news := source.Observe(at-l.start, ms*1e6)
	if o, ok := l.Observer.(interface {
		Level(at int64, v load.Level)
	}); ok && news {
		o.Level(at, level)
	}
}

// levelEvent marks a change of how many users an adaptive loop allows: detail
// has allowed, of, and the percentile that made it so in ns, null where too
// many failed. The first is of the load's beginning.
const levelEvent = "level"

// Level notes how many users are allowed.
func (w *watch) Level(at int64, v load.Level) {
	w.Live.Level(at, v)
	e := record.Event{At: at, Kind: levelEvent, Name: w.adapt.Metric, Detail: map[string]any{"allowed": v.Allowed, "of": v.Of, "latency": nil}}
	if !math.IsInf(v.Latency, 1) {
		e.Detail["latency"] = int64(v.Latency)
	}
	w.rec.course.note(&e)
	w.rec.event(e)
}

// course is how an adaptive loop's level went, from its events.
type course struct {
	known              bool
	began, at          int64
	allowed, of, least int64
	area               float64 // users · ns until at
	atLeast            int64   // ns at the least level until at
}

func (c *course) note(e *record.Event) {
	if e.Kind != levelEvent {
		return
	}
	allowed := detail(e, "allowed")
	if !c.known {
		*c = course{known: true, began: e.At, at: e.At, allowed: allowed, least: allowed}
	}
	c.until(e.At)
	if allowed < c.least {
		c.least, c.atLeast = allowed, 0
	}
	c.allowed, c.of = allowed, detail(e, "of")
}

// until counts the time up to a moment at the level in force.
func (c *course) until(at int64) {
	c.area += float64(c.allowed) * float64(at-c.at)
	if c.allowed == c.least {
		c.atLeast += at - c.at
	}
	c.at = at
}

// detail is a whole number of an event, as written or as read back.
func detail(e *record.Event, name string) int64 {
	switch d := e.Detail[name].(type) {
	case int64:
		return d
	case float64:
		return int64(d)
	}
	return 0
}

// report says how the level went until a moment; nil where there is none.
func (c *course) report(rule *load.Adapt, end int64) *report.Users {
	if !c.known || rule == nil {
		return nil
	}
	now := *c
	now.until(max(end, c.at))
	u := &report.Users{Rule: rule.String(), Of: c.of, Least: c.least, Last: c.allowed}
	if length := float64(now.at - c.began); length > 0 {
		u.Mean = measure.Some(now.area / length)
		u.AtFloor = measure.Some(0)
		if c.least == rule.Floor && c.of > rule.Floor {
			u.AtFloor = measure.Some(float64(now.atLeast) / length)
		}
	}
	return u
}

// flooredShare is from which share of the time at its floor on a rule is said to
// be pinned there.
const flooredShare = 0.5

// floored says that a loop stood at its floor for most of the time, and why as
// far as the figures tell; "" where it did not.
func floored(rule *load.Adapt, u *report.Users, res *measure.Result) string {
	if u == nil || u.AtFloor.Or(0) < flooredShare {
		return ""
	}
	users := "users"
	if rule.Floor == 1 {
		users = "user"
	}
	text := fmt.Sprintf("the adaptive load stood at its floor of %s %s, of %s, for %s of the time", measure.Count(rule.Floor), users,
		measure.Count(u.Of), measure.Percent(100*u.AtFloor.Or(0)))
	if n, all := endless(res.Attempts.ByOutcome); all > 0 && float64(n) > (1-rule.Percentile)*float64(all) {
		return fmt.Sprintf("%s: %s of the attempts failed, and each counts as infinite latency", text, measure.Share(n, all))
	}
	m := res.Metrics[rule.Metric]
	name, ms := "in the median", m.P50 // most of it was at the floor
	if latency(ms)-rule.Above <= rule.Step {
		name, ms = percentile(&m, rule.Percentile)
	}
	over := latency(ms) - rule.Above
	if over <= rule.Step {
		return text
	}
	above := ""
	if rule.Above > 0 {
		above = fmt.Sprintf(" above %v", rule.Above)
	}
	wider := *rule
	wider.Step = digits(over)
	return fmt.Sprintf("%s: %s is %v %s, %.0f steps of %v%s, and each step halves the users; a step of the order of the latency lets more through: adapt %s",
		text, rule.Metric, digits(latency(ms)), name, float64(over)/float64(rule.Step), rule.Step, above, wider.String())
}

// latency is a metric's value as a duration, 0 where there is none.
func latency(ms measure.Value) time.Duration { return time.Duration(ms.Or(0) * 1e6) }

// endless counts the attempts whose failure a rule takes for infinite latency,
// and all that it takes a latency of.
func endless(by map[string]int) (n, all int) {
	for outcome, k := range by {
		switch record.Outcome(outcome) {
		case record.OK, record.Abandoned:
			all += k
		case record.Rejected, record.HTTPError, record.TransportError, record.Timeout, record.StreamError, record.StreamBroken:
			n, all = n+k, all+k
		case record.Cut, record.Cancelled, record.Unsent:
		}
	}
	return n, all
}

// percentile is the one of a metric's that is next above, with its name.
func percentile(m *measure.Metric, p float64) (string, measure.Value) {
	switch {
	case p <= .9:
		return "at p90", m.P90
	case p <= .95:
		return "at p95", m.P95
	case p <= .99:
		return "at p99", m.P99
	}
	return "at most", m.Max
}

// digits keeps two of a duration.
func digits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}
