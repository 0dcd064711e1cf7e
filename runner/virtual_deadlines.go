package runner

import (
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

// watch holds a call's deadlines in virtual time, by the same words as a
// transport does; the head of a response comes with its first token here.
func (v *Virtual) watch(c *virtualCall) {
	if at, _ := c.deadline(&v.Limits); at != clock.Forever {
		v.Clock.At(at, func() { v.look(c) })
	}
}

// look ends a call whose deadline has struck, or looks again at its next one.
func (v *Virtual) look(c *virtualCall) {
	row := &c.call.Row
	if row.Moments.Ended.Valid() {
		return
	}
	at, cause := c.deadline(&v.Limits)
	if v.Clock.Now() < at {
		v.watch(c)
		return
	}
	row.ErrorClass = cause.String()
	v.Cancel(c.call, record.Timeout)
}

// deadline is the moment of the next deadline and what it is called.
func (v *virtualCall) deadline(t *scenario.Timeouts) (int64, wire.Cause) {
	sent := v.call.Row.Sent.Or(0)
	at, cause := clock.Forever, wire.Completed
	earlier := func(from, d int64, name wire.Cause) {
		if d > 0 && from+d < at {
			at, cause = from+d, name
		}
	}
	if chunks := v.call.Row.Chunks.At; len(chunks) == 0 {
		earlier(sent, int64(t.FirstByte), wire.TimeoutFirstByte)
		earlier(sent, int64(t.FirstToken), wire.TimeoutFirstToken)
	} else {
		earlier(chunks[len(chunks)-1], int64(t.Stall), wire.TimeoutStall)
	}
	earlier(sent, int64(t.Total), wire.TimeoutTotal)
	return at, cause
}
