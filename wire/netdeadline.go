package wire

import (
	"errors"
	"os"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// never is a deadline that is not set.
const never = clock.Forever

// grace is how long a read may take after a deadline when bytes already lay in
// the socket: a client that was held up must not call its own lateness the
// server's.
const grace = 100 * time.Millisecond

// readLimits watches the limits of one exchange over HTTP/1.1. The connection's
// read deadline is moved only when it strikes: an event that moves the stall
// deadline costs nothing.
type readLimits struct {
	flight *flight
	conn   *netConn
	armed  int64 // what the connection's read deadline is set to; 0: unknown
	graced int64 // the deadline for which grace was given
}

// time converts a moment of the run to what the net package takes.
func (d *readLimits) time(at int64) time.Time {
	return d.flight.t.cfg.Clock.Epoch().Add(time.Duration(at))
}

// total returns the moment at which Limits.Total is over.
func (d *readLimits) total() int64 {
	return after(d.flight.x.ConnStart, d.flight.x.Request.Limits.Total)
}

// after returns from+limit, never where either is not set.
func after(from int64, limit time.Duration) int64 {
	if limit <= 0 || from == NotReached {
		return never
	}
	return from + int64(limit)
}

// next returns the earliest deadline in the present phase and its cause.
func (f *flight) next() (at int64, cause Cause) {
	x, l := f.x, &f.x.Request.Limits
	at, cause = after(x.ConnStart, l.Total), TimeoutTotal
	consider := func(t int64, c Cause) {
		if t < at {
			at, cause = t, c
		}
	}
	switch {
	case f.body.token:
		consider(after(f.body.newest, l.Stall), TimeoutStall)
	default:
		consider(after(x.Sent, l.FirstToken), TimeoutFirstToken)
		if x.FirstByte == NotReached {
			consider(after(x.Sent, l.FirstByte), TimeoutFirstByte)
		}
	}
	return at, cause
}

// arm sets the read deadline where a limit is nearer than what is set.
func (d *readLimits) arm() {
	at, _ := d.flight.next()
	if d.armed == 0 || at < d.armed && at != d.graced {
		d.set(at)
	}
}

func (d *readLimits) set(at int64) {
	d.armed = at
	if at == never {
		_ = d.conn.SetReadDeadline(time.Time{})
		return
	}
	_ = d.conn.SetReadDeadline(d.time(at))
}

// struck is called when the read deadline has passed. over is false where the
// limit has moved on meanwhile, or something is there to be read.
func (d *readLimits) struck() (cause Cause, over bool) {
	at, cause := d.flight.next()
	now := d.flight.t.cfg.Clock.Now()
	switch {
	case at > now:
		d.set(at)
		return cause, false
	case d.graced != at && d.conn.stamps.waiting():
		d.set(now + int64(grace))
		d.graced = at
		return cause, false
	}
	return cause, true
}

// causeOf classifies an error of the connection.
func (d *readLimits) causeOf(err error) (Cause, error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return TimeoutTotal, causeError(TimeoutTotal) // only a write's deadline comes here
	}
	return d.flight.endCause(err), err
}
