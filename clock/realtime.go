package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Realtime converts the kernel's packet stamps, which are of CLOCK_REALTIME,
// to moments of a run's clock. The two clocks are slewed together, so their
// distance changes only when someone sets the time: it is measured once, by
// reading the one between two reads of the other, and watched at every use.
// It is safe for concurrent use.
type Realtime struct {
	mono  func() int64         // the run's clock
	both  func() (m, w int64)  // the run's clock and CLOCK_REALTIME, read together
	cur   atomic.Pointer[span] // what is believed now
	mu    sync.Mutex           // held while measuring again
	steps atomic.Int64
}

// span is the distance of the two clocks and since when it holds.
type span struct {
	offset   int64 // CLOCK_REALTIME less the run's clock, ns
	err      int64 // by which offset may be off, ns
	since    int64 // stamps from before are of another span
	settling int64 // until this moment data from before the step may still be read
}

const (
	// stepNoticed is the change of the distance, in ns, that Moment takes for
	// a set clock; Check, which brackets, sees smaller ones.
	stepNoticed = int64(20 * time.Microsecond)
	// settle is how long after a step stamps are distrusted: by then what
	// arrived before it has been read.
	settle   = int64(100 * time.Millisecond)
	brackets = 32
)

// NewRealtime measures the distance between CLOCK_REALTIME and the clock of r.
func NewRealtime(r *Real) *Realtime {
	epoch := r.epoch
	return newRealtime(r.Now, func() (int64, int64) {
		t := time.Now()
		return int64(t.Sub(epoch)), t.UnixNano()
	})
}

func newRealtime(mono func() int64, both func() (m, w int64)) *Realtime {
	r := &Realtime{mono: mono, both: both}
	s := r.measure()
	s.since, s.settling = -1<<63, -1<<63
	r.cur.Store(&s)
	return r
}

// measure returns the tightest of several bracketed readings: half the width
// of its bracket is by how much it can be off.
func (r *Realtime) measure() span {
	best := span{err: 1<<63 - 1}
	for range brackets {
		a := r.mono()
		_, w := r.both()
		b := r.mono()
		if half := (b - a + 1) / 2; half < best.err {
			best = span{offset: w - (a + (b-a)/2), err: half}
		}
	}
	return best
}

// Moment converts a stamp of CLOCK_REALTIME in ns to the run's clock. It also
// reads the clock: now is the moment of the call. ok is false, and at is now,
// where the stamp is 0 (none), lies in the future, or cannot be trusted
// because the time was set not long before.
func (r *Realtime) Moment(stamp int64) (at, now int64, ok bool) {
	now, wall := r.both()
	s := r.cur.Load()
	if d := wall - now - s.offset; d > stepNoticed || d < -stepNoticed {
		r.Check()
		s = r.cur.Load()
	}
	if stamp == 0 || now < s.settling {
		return now, now, false
	}
	at = stamp - s.offset
	if at < s.since || at > now+stepNoticed {
		return now, now, false
	}
	return min(at, now), now, true
}

// Check measures the distance again and tells whether the time was set since
// the last measurement. Call it about once a second.
func (r *Realtime) Check() (stepped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, s := r.cur.Load(), r.measure()
	d := max(s.offset-old.offset, old.offset-s.offset)
	if d <= s.err+old.err+1 {
		return false
	}
	s.since = r.mono()
	s.settling = s.since + settle
	r.cur.Store(&s)
	r.steps.Add(1)
	return true
}

// Error returns by how many ns a converted moment may be off.
func (r *Realtime) Error() int64 { return r.cur.Load().err }

// Steps returns how often the time was set.
func (r *Realtime) Steps() int64 { return r.steps.Load() }
