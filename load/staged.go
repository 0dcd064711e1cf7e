package load

import (
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// never is a moment that does not come.
const never = int64(math.MaxInt64)

// span is a stage with its place in time.
type span struct {
	Stage
	start, end int64 // ns; end is never where only a number of requests ends it
}

// staged is a plan of stages: the open ones yield their moments one after the
// other, the users of the closed ones wait in a queue, and the earlier is due.
type staged struct {
	open   openTrack
	closed closedTrack
	index  int64
	limit  int64
	next   Due
	from   track
	known  bool // next and from are valid
}

type track uint8

const (
	neither track = iota
	openPart
	closedPart
)

func newStaged(p Plan) *staged {
	s := &staged{limit: p.MaxRequests}
	spans := place(p)
	s.open = newOpenTrack(p, spans)
	s.closed = newClosedTrack(p, spans)
	return s
}

// place finds when each stage begins and ends. Where a number of requests ends
// an open stage in front of others, its arrivals are drawn for it.
func place(p Plan) []span {
	spans := make([]span, len(p.Stages))
	at := int64(0)
	arrivals := newArrivals(p)
	for i, g := range p.Stages {
		s := span{Stage: g, start: at, end: never}
		if g.Duration > 0 {
			s.end = at + int64(g.Duration)
		}
		last := i == len(p.Stages)-1
		if g.Mode == OpenLoop && !last {
			at = arrivals.cross(&s)
		} else {
			at = s.end
		}
		s.end = at
		spans[i] = s
	}
	return spans
}

// Peek returns the earliest due that is known.
func (s *staged) Peek() (Due, State) {
	if s.limit > 0 && s.index >= s.limit {
		return Due{}, Finished
	}
	if !s.known {
		s.choose()
	}
	if s.from != neither {
		return s.next, Ready
	}
	if s.closed.busy > 0 && !s.closed.over() {
		return Due{At: s.closed.end, User: NoUser}, Waiting
	}
	return Due{}, Finished
}

func (s *staged) choose() {
	s.known, s.from = true, neither
	if d, ok := s.open.peek(); ok {
		s.next, s.from = d, openPart
	}
	if d, ok := s.closed.peek(); ok && (s.from == neither || d.At < s.next.At) {
		s.next, s.from = d, closedPart
	}
	s.next.Index = s.index
}

// Pop takes the due that Peek returned.
func (s *staged) Pop() {
	if !s.known {
		s.choose()
	}
	switch s.from {
	case openPart:
		s.open.pop()
	case closedPart:
		s.closed.pop()
	default:
		return
	}
	s.index++
	s.known = false
}

// Ended tells that a user's session is over.
func (s *staged) Ended(user, at int64) {
	s.closed.ended(user, at)
	s.known = false
}

// Observe tells the rule of [Plan.Adapt] of an attempt's end.
func (s *staged) Observe(at int64, latency float64) (Level, bool) {
	s.known = false
	return s.closed.observe(at, latency)
}

// unit is one request in the fixed-point numbers of operational time: sums of
// gaps in them are exact, whatever the order.
const unit = 1 << 32

// arrivals is a unit-rate arrival process in operational time, walked through
// stages whose rates map it to moments.
type arrivals struct {
	arrival Arrival
	seed    uint64
	index   uint64 // of the pending arrival
	at      uint64 // operational time of the pending arrival
	base    uint64 // operational time at the stage's start
	taken   int64  // arrivals of the present stage
}

func newArrivals(p Plan) arrivals {
	a := arrivals{arrival: p.Arrival, seed: p.Seed}
	if a.arrival.Process != EvenGaps {
		a.at = a.gap()
	}
	return a
}

// gap draws the gap in front of the pending arrival.
func (a *arrivals) gap() uint64 {
	var g float64
	switch a.arrival.Process {
	case EvenGaps:
		return unit
	case GammaGaps:
		g = stat.Gamma{Average: 1, CV: a.arrival.CV}.Sample(stat.Random(a.seed, "arrival", a.index))
	default:
		g = stat.Exponential{Average: 1}.Sample(stat.Random(a.seed, "arrival", a.index))
	}
	return uint64(min(float64(g*unit), 1<<50))
}

func (a *arrivals) next() {
	a.index++
	a.taken++
	a.at += a.gap()
}

// moment returns when the pending arrival comes under a stage's rate, or
// never if the stage is over before.
func (a *arrivals) moment(s *span) int64 {
	if s.Requests > 0 && a.taken >= s.Requests {
		return never
	}
	t := a.within(s)
	if t >= s.end {
		return never
	}
	return t
}

func (a *arrivals) within(s *span) int64 {
	x := 0.0
	if a.at > a.base {
		x = float64(a.at-a.base) / unit
	}
	r := ramp{from: s.From, slope: s.slope()}
	ns := math.Floor(float64(r.inverse(x)*1e9) + 0.5)
	if !(ns < math.MaxInt64/2) {
		return never
	}
	return s.start + int64(ns)
}

// leave moves to the stage after s.
func (a *arrivals) leave(s *span) {
	if s.Requests > 0 && a.taken >= s.Requests {
		a.base = a.at // the pending arrival opens the next stage
	} else {
		r := ramp{from: s.From, slope: s.slope()}
		a.base += uint64(float64(r.integral(s.Duration.Seconds()) * unit))
	}
	a.taken = 0
}

// cross walks through an open stage and returns its end.
func (a *arrivals) cross(s *span) int64 {
	end := s.end
	if s.Requests > 0 {
		for a.moment(s) != never {
			a.next()
		}
		if a.taken >= s.Requests {
			end = min(end, a.within(s))
		}
	}
	a.leave(s)
	return end
}

// openTrack yields the moments of the open stages in turn.
type openTrack struct {
	arrivals
	spans   []span
	present int
}

func newOpenTrack(p Plan, spans []span) openTrack {
	return openTrack{arrivals: newArrivals(p), spans: spans}
}

func (o *openTrack) peek() (Due, bool) {
	for ; o.present < len(o.spans); o.present++ {
		s := &o.spans[o.present]
		if s.Mode != OpenLoop {
			continue
		}
		if t := o.moment(s); t != never {
			return Due{At: t, Stage: o.present, User: NoUser}, true
		}
		o.leave(s)
	}
	return Due{}, false
}

func (o *openTrack) pop() { o.next() }
