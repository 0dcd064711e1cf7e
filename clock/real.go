package clock

import "time"

// waiter blocks the calling goroutine until a delay has passed or wake is called.
type waiter interface {
	wait(d time.Duration) (woken bool)
	wake()
	close()
}

// Real is the machine's monotonic clock, counted from the moment of its making.
type Real struct {
	epoch  time.Time
	waiter waiter
}

var _ Clock = (*Real)(nil)

// NewReal returns a clock that starts now and waits in the kernel where that
// is more precise than the runtime's timers (Linux). The goroutine that waits
// on it should be locked to its thread ([Real.Pin]).
func NewReal() *Real { return &Real{epoch: time.Now(), waiter: newKernelWaiter()} }

// NewPortable returns a clock that starts now and waits with the runtime's
// timers, so that it follows the fake time of testing/synctest.
func NewPortable() *Real { return &Real{epoch: time.Now(), waiter: newTimerWaiter()} }

// Now returns nanoseconds since the epoch.
func (r *Real) Now() int64 { return int64(time.Since(r.epoch)) }

// Epoch returns the civil time of moment 0.
func (r *Real) Epoch() time.Time { return r.epoch }

// Wait blocks until the moment until or until Wake.
func (r *Real) Wait(until int64) bool {
	for {
		d := time.Duration(until - r.Now())
		if until == Forever {
			d = time.Hour
		}
		if r.waiter.wait(max(d, 0)) {
			return true
		}
		if until != Forever && r.Now() >= until {
			return false
		}
	}
}

// Wake ends the current or the next Wait.
func (r *Real) Wake() { r.waiter.wake() }

// Close frees the waiter; no Wait may be under way.
func (r *Real) Close() { r.waiter.close() }

type timerWaiter struct{ woken chan struct{} }

func newTimerWaiter() waiter { return &timerWaiter{woken: make(chan struct{}, 1)} }

func (w *timerWaiter) wait(d time.Duration) bool {
	select {
	case <-w.woken:
		return true
	default:
	}
	if d <= 0 {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w.woken:
		return true
	case <-t.C:
		return false
	}
}

func (w *timerWaiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *timerWaiter) close() {}
