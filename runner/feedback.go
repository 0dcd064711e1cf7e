package runner

import (
	"math"
	"slices"

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
}

func (c *course) note(e *record.Event) {
	if e.Kind != levelEvent {
		return
	}
	allowed := detail(e, "allowed")
	if !c.known {
		*c = course{known: true, began: e.At, at: e.At, least: allowed}
	}
	c.area += float64(c.allowed) * float64(e.At-c.at)
	c.at, c.allowed, c.of, c.least = e.At, allowed, detail(e, "of"), min(c.least, allowed)
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
	u := &report.Users{Rule: rule.String(), Of: c.of, Least: c.least, Last: c.allowed}
	if end = max(end, c.at); end > c.began {
		u.Mean = measure.Some((c.area + float64(c.allowed)*float64(end-c.at)) / float64(end-c.began))
	}
	return u
}
