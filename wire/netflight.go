package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// flight is an exchange under way.
type flight struct {
	t      *netHTTP
	x      *Exchange
	lane   int64
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   assembly
	// limits and sendErr are set once the request has left over HTTP/1.1.
	limits  *readLimits
	sendErr error

	mu     sync.Mutex
	killed bool
	conn   *netConn // to be cut by kill
}

// causeError is a Cause as the cause of a context's end.
type causeError Cause

func (c causeError) Error() string { return fmt.Sprintf("ended by the client: %v", Cause(c)) }

// kill ends the flight early. Only the first cause counts.
func (f *flight) kill(cause Cause) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return
	}
	f.killed = true
	f.cancel(causeError(cause))
	if f.conn != nil {
		f.conn.cut()
	}
}

// attach makes c the connection that kill cuts.
func (f *flight) attach(c *netConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn = c
	if f.killed && c != nil {
		c.cut()
	}
}

// fly runs the exchange and hands its end to a worker.
func (f *flight) fly() {
	defer f.t.wg.Done()
	x, r := f.x, f.x.Request
	f.body = assembly{maxEvent: f.t.cfg.MaxEvent, maxBody: f.t.cfg.MaxBody, hand: f.hand, spare: f.t.spare, newest: NotReached}
	if r.Limits.Total > 0 {
		var stop context.CancelFunc
		f.ctx, stop = context.WithTimeoutCause(f.ctx, r.Limits.Total, causeError(TimeoutTotal))
		defer stop()
	}
	var cause Cause
	var err error
	if f.t.h2 != nil {
		cause, err = f.http2()
	} else {
		cause, err = f.http1()
	}
	x.Cause, x.Err = f.verdict(cause, err)
	x.End = f.t.cfg.Clock.Now()
	f.t.mu.Lock()
	delete(f.t.live, x)
	f.t.mu.Unlock()
	f.cancel(nil)
	last := work{x: x, segment: f.body.take(), last: true, gzipped: f.gzipped()}
	f.t.counters.count(last.segment)
	f.t.work.put(f.lane, last)
}

// verdict puts what we did ourselves above what came of it.
func (f *flight) verdict(cause Cause, err error) (Cause, error) {
	if err == nil {
		return Completed, nil
	}
	var ended causeError
	if errors.As(err, &ended) || errors.As(context.Cause(f.ctx), &ended) {
		return Cause(ended), ended
	}
	return cause, err
}

// hand gives a segment to a worker, and waits while too many wait there: the
// stream is not read meanwhile.
func (f *flight) hand(s *Segment) {
	f.t.counters.count(s)
	if f.t.work.put(f.lane, work{x: f.x, segment: s}) {
		return
	}
	f.t.counters.held.Add(1)
	for !f.t.work.put(f.lane, work{x: f.x, segment: s}) {
		time.Sleep(time.Millisecond)
	}
}

// gzipped tells whether a whole body is still to be unzipped.
func (f *flight) gzipped() bool {
	if f.x.Status == 0 {
		return false
	}
	gzipped, _ := f.x.contentCoding()
	return gzipped
}

// begun takes the head of the response.
func (f *flight) begun(status int, protocol string, header []Field) error {
	x := f.x
	x.Status, x.Protocol, x.Header = status, protocol, header
	x.ContentFraming = x.framing()
	if _, err := x.contentCoding(); err != nil {
		return err
	}
	f.body.begin(x)
	return nil
}
