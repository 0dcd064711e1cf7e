package clock

import (
	"container/heap"
	"sync/atomic"
	"time"
)

// Virtual is a clock whose time advances only while someone waits on it: Wait
// runs the callbacks that are due before the awaited moment, each at its own
// time. It belongs to one goroutine.
type Virtual struct {
	now   int64
	epoch time.Time
	queue eventQueue
	order uint64
	awake atomic.Bool
}

var (
	_ Clock = (*Virtual)(nil)
	_ Loop  = (*Virtual)(nil)
)

// NewVirtual returns a virtual clock that stands at 0, which is epoch in civil time.
func NewVirtual(epoch time.Time) *Virtual { return &Virtual{epoch: epoch} }

// Now returns the virtual time.
func (v *Virtual) Now() int64 { return v.now }

// Epoch returns the civil time of moment 0.
func (v *Virtual) Epoch() time.Time { return v.epoch }

// Wake makes the Wait under way return after the callback that called it.
func (v *Virtual) Wake() { v.awake.Store(true) }

// At calls f when the virtual time reaches t; a moment in the past means now.
func (v *Virtual) At(t int64, f func()) {
	v.order++
	heap.Push(&v.queue, event{at: max(t, v.now), order: v.order, f: f})
}

// Post calls f at the present moment, after what is already due at it.
func (v *Virtual) Post(f func()) { v.At(v.now, f) }

// Wait advances the time to until, running what is due on the way, and stops
// early, at the time of the callback, when one of them calls Wake.
// Waiting for Forever with nothing left to happen returns false at once.
func (v *Virtual) Wait(until int64) bool {
	for !v.awake.Load() && len(v.queue) > 0 && v.queue[0].at <= until {
		e := heap.Pop(&v.queue).(event)
		v.now = e.at
		e.f()
	}
	if v.awake.Swap(false) {
		return true
	}
	if until != Forever && until > v.now {
		v.now = until
	}
	return false
}

type event struct {
	at    int64
	order uint64
	f     func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	old := *q
	n := len(old) - 1
	e := old[n]
	old[n] = event{}
	*q = old[:n]
	return e
}
