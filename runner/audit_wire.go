package runner

import (
	"math"
	"slices"
	"sync"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/wire"
)

// pausedEvent marks a time in which the reader looked at no socket and events
// met in one: detail has ns.
const pausedEvent = "paused"

// socketsLooked is how many connections of a transport are asked each second.
const socketsLooked = 64

// wireAudit reads a transport's own figures.
type wireAudit struct {
	transport wire.Transport
	last      wire.Stats
}

// read emits how the transport stands, and what it did since the last reading.
func (w *wireAudit) read(emit func(name, unit string, value float64)) {
	counter, ok := w.transport.(wire.Statistics)
	if !ok {
		return
	}
	s := counter.Stats()
	count := func(name string, value int64) { emit(name, "count", float64(value)) }
	count("in_flight", int64(s.InFlight))
	count("connections", int64(s.Open))
	count("backlog", int64(s.Backlog))
	count("chunks", s.Chunks)
	count("coalesced", s.Coalesced)
	count("unstamped", s.Unstamped)
	count("reads", s.Reads)
	count("held_streams", s.Held)
	count("clock_steps", s.ClockSteps)
	if n := s.Chunks - w.last.Chunks; n > 0 {
		emit("coalesced_share", "ratio", float64(s.Coalesced-w.last.Coalesced)/float64(n))
	}
	for i := range s.Delay {
		w.last.Delay[i] = s.Delay[i] - w.last.Delay[i]
	}
	for _, q := range quantiles {
		if edge, ok := delayEdge(&w.last.Delay, q.p); ok {
			emit("read_delay_"+q.name, "ns", edge)
		}
	}
	w.last = s
	w.sockets(emit)
}

var quantiles = [...]struct {
	name string
	p    float64
}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}}

// delayEdge returns the upper edge, in ns, of the bucket that holds a quantile
// of delays; false where nothing was counted.
func delayEdge(counts *[len(wire.Stats{}.Delay)]int64, p float64) (float64, bool) {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	if total <= 0 {
		return 0, false
	}
	rank := max(1, int64(math.Ceil(p*float64(total))))
	for i, n := range counts {
		if rank -= n; rank <= 0 {
			return float64(int64(1) << i), true
		}
	}
	return 0, false
}

// sockets emits what the kernel says of some connections.
func (w *wireAudit) sockets(emit func(name, unit string, value float64)) {
	auditor, ok := w.transport.(wire.Auditor)
	if !ok {
		return
	}
	all := auditor.Sockets(socketsLooked)
	if len(all) == 0 {
		return
	}
	var rtt, unread []float64
	var again int64
	for _, s := range all {
		rtt, unread = append(rtt, float64(s.RTT)), append(unread, float64(s.Unread))
		again += s.Retransmits
	}
	slices.Sort(rtt)
	emit("rtt_p50", "ns", stat.Quantile(rtt, 0.5))
	emit("rtt_max", "ns", stat.Quantile(rtt, 1))
	emit("unread_max", "bytes", slices.Max(unread))
	emit("retransmits", "count", float64(again))
}

// lags gathers how late requests were handed over, of each second.
type lags struct {
	mu sync.Mutex
	ns []float64
}

// add takes a request at its handing over. The wait for a slot that the user
// asked for is no lateness.
func (l *lags) add(a *record.Attempt) {
	at, ok := a.Dispatched.Get()
	intended, known := a.Intended.Get()
	if !ok || !known || a.Identity.Attempt > 1 { // a retry counts from its first sending
		return
	}
	l.mu.Lock()
	l.ns = append(l.ns, float64(at-intended-a.Held.Or(0)))
	l.mu.Unlock()
}

// read emits the quantiles of what was handed over since the last reading.
func (l *lags) read(emit func(name, unit string, value float64)) {
	l.mu.Lock()
	ns := l.ns
	l.ns = nil
	l.mu.Unlock()
	if len(ns) == 0 {
		return
	}
	slices.Sort(ns)
	for _, q := range quantiles {
		emit("schedule_lag_"+q.name, "ns", stat.Quantile(ns, q.p))
	}
}
