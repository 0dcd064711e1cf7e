package clock

import (
	"testing"
	"time"
)

// twoClocks is a machine whose civil time can be set.
type twoClocks struct{ now, offset int64 }

func (c *twoClocks) mono() int64 { c.now += 20; return c.now }
func (c *twoClocks) both() (m, w int64) {
	c.now += 30
	return c.now, c.now + c.offset
}

func TestRealtimeConvertsStamps(t *testing.T) {
	c := &twoClocks{offset: 1_700_000_000e9}
	r := newRealtime(c.mono, c.both)
	c.now = 5e9
	arrived := c.now
	c.now += 20e6 // the reader is late
	at, now, ok := r.Moment(arrived + c.offset)
	if !ok || at-arrived > r.Error() || arrived-at > r.Error() {
		t.Errorf("arrival %d became %d (ok %v), error said to be at most %d", arrived, at, ok, r.Error())
	}
	if now < arrived+20e6 {
		t.Errorf("now %d is before the read", now)
	}
	if at, now, ok := r.Moment(0); ok || at != now {
		t.Errorf("a missing stamp became %d at %d, ok %v", at, now, ok)
	}
}

func TestRealtimeNoticesSetTime(t *testing.T) {
	for _, step := range []int64{3600e9, -3600e9, 1e6, -1e6, 30e3} {
		c := &twoClocks{offset: 1_700_000_000e9}
		r := newRealtime(c.mono, c.both)
		c.now = 5e9
		before := c.now + c.offset
		c.now += 1e6
		c.offset += step
		if at, now, ok := r.Moment(before); ok || at != now {
			t.Errorf("step %v: a stamp from before it was believed", time.Duration(step))
		}
		if r.Steps() != 1 {
			t.Errorf("step %v: counted %d steps", time.Duration(step), r.Steps())
		}
		c.now += settle
		arrived := c.now
		c.now += 1e3
		at, _, ok := r.Moment(arrived + c.offset)
		if !ok || at-arrived > r.Error() || arrived-at > r.Error() {
			t.Errorf("step %v: after it %d became %d, ok %v", time.Duration(step), arrived, at, ok)
		}
	}
}

func TestRealtimeDistrustsWhatCameBeforeAStep(t *testing.T) {
	for _, c := range []struct {
		name              string
		step, early, late int64 // of the clock; stamped before the step; read after it
	}{
		{"set back, read soon", -50e6, 10e6, 60e6},
		{"set forward, read late", 1e6, 10e6, 300e6},
	} {
		m := &twoClocks{offset: 1_700_000_000e9}
		r := newRealtime(m.mono, m.both)
		m.now = 5e9
		stamp := m.now - c.early + m.offset
		m.offset += c.step
		r.Check()
		m.now = 5e9 + c.late
		if at, now, ok := r.Moment(stamp); ok || at != now {
			t.Errorf("%s: a stamp from before the step was believed", c.name)
		}
	}
}

func TestRealtimeDistrustsTheFuture(t *testing.T) {
	c := &twoClocks{offset: 1e18}
	r := newRealtime(c.mono, c.both)
	if _, _, ok := r.Moment(c.now + c.offset + 1e6); ok {
		t.Error("a stamp of the future was believed")
	}
}

func TestRealtimeCheckSeesSmallSteps(t *testing.T) {
	c := &twoClocks{offset: 1e18}
	r := newRealtime(c.mono, c.both)
	if r.Check() {
		t.Error("a step was seen where there was none")
	}
	c.offset += 500
	if !r.Check() {
		t.Error("a step of 500 ns was not seen")
	}
}

func TestRealtimeOfTheMachine(t *testing.T) {
	real := NewReal()
	defer real.Close()
	r := NewRealtime(real)
	before := real.Now()
	at, _, ok := r.Moment(time.Now().UnixNano())
	if !ok || at < before-2*r.Error() || at > real.Now()+2*r.Error() {
		t.Errorf("now became %d, between %d and %d, ok %v", at, before, real.Now(), ok)
	}
}
