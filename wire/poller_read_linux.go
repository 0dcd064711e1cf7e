package wire

import (
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/wire/http1"
)

const (
	// roomWanted is how much room a segment must have to be read into.
	roomWanted = 1 << 10
	// scratchSize is how much one receive call may bring.
	scratchSize = 64 << 10
)

// reader is what a goroutine needs to read connections.
type reader struct {
	p       *poller
	scratch []byte
	events  []unix.EpollEvent
	minGap  int64 // smallest smoothed gap of what was read; 0: none

	chunks, coalesced, unstamped, reads int64
	delay                               [len(Stats{}.Delay)]int64
}

func newReader(p *poller) *reader {
	return &reader{p: p, scratch: make([]byte, scratchSize), events: make([]unix.EpollEvent, 256)}
}

// flush adds up what the reader counted.
func (r *reader) flush() {
	s := &r.p.stats
	s.chunks.Add(r.chunks)
	s.coalesced.Add(r.coalesced)
	s.unstamped.Add(r.unstamped)
	s.reads.Add(r.reads)
	for i := range r.delay {
		if r.delay[i] != 0 {
			s.delay[i].Add(r.delay[i])
		}
	}
	r.chunks, r.coalesced, r.unstamped, r.reads = 0, 0, 0, 0
	clear(r.delay[:])
}

// read takes what the socket holds: to a short read, or with toEnd until it
// says that there is no more, as it must be where it was told of the end.
func (c *conn) read(r *reader, toEnd bool) {
	for c.state == connBusy && !c.isHeld {
		room, ok := c.room()
		if !ok {
			c.hold()
			return
		}
		buf := r.scratch[:min(room, len(r.scratch))]
		n, stamp, err := readStamped(c.fd, buf)
		if err == unix.EAGAIN { //nolint:errorlint // a raw errno
			return
		}
		if !c.stamps {
			stamp = 0
		}
		at, now, stamped := r.p.realtime.Moment(stamp)
		switch {
		case err != nil:
			r.flush()
			c.lost(err, now)
			return
		case n == 0:
			r.flush()
			c.ended(now)
			return
		}
		r.reads++
		if stamped {
			r.delay[min(bits.Len64(uint64(now-at)), len(r.delay)-1)]++
		}
		c.take(r, buf[:n], at, stamped, toEnd)
		if n < len(buf) && !toEnd {
			return
		}
	}
}

// room returns how many bytes may be read so that their body fits the segment;
// false where the backlog is full.
func (c *conn) room() (int, bool) {
	if c.seg == nil {
		return segmentSize, true
	}
	if free := cap(c.seg.Data) - len(c.seg.Data); free >= roomWanted && len(c.seg.Events) < segmentEvents {
		return free, true
	}
	if len(c.seg.Events) > 0 {
		if !c.handOver() {
			return 0, false
		}
		if c.seg == nil {
			return segmentSize, true
		}
	}
	if c.x.ContentFraming == Whole && len(c.seg.Data) >= c.p.cfg.MaxBody {
		return scratchSize, true // what comes now is dropped
	}
	if free := cap(c.seg.Data) - len(c.seg.Data); free >= roomWanted {
		return free, true
	}
	grown := make([]byte, len(c.seg.Data), 2*cap(c.seg.Data))
	copy(grown, c.seg.Data)
	c.seg.Data = grown
	return cap(grown) - len(grown), true
}

// handOver gives the whole events to a worker and keeps the rest.
func (c *conn) handOver() bool {
	seg := c.seg
	var next *Segment
	rest := seg.Data[c.began:]
	if len(rest) > 0 {
		next = c.p.segments.get()
		next.Data = append(next.Data, rest...)
	}
	seg.Data = seg.Data[:c.began]
	if !c.p.backlog.put(c.id, work{x: c.x, segment: seg}) {
		seg.Data = seg.Data[:c.began+len(rest)]
		if next != nil {
			c.p.segments.put(next)
		}
		return false
	}
	c.framer.Moved(c.began)
	c.seg, c.began = next, 0
	return true
}

// hold leaves the stream unread until the backlog has room: the tick tries again.
func (c *conn) hold() {
	p := c.p
	if c.isHeld = true; !c.retried {
		p.stats.held.Add(1)
		c.heldAt = p.clock.Now()
	}
	p.heldMu.Lock()
	p.held = append(p.held, c)
	p.heldMu.Unlock()
	p.tickOne()
}

// take works through bytes that arrived at the moment at.
func (c *conn) take(r *reader, b []byte, at int64, stamped, toEnd bool) {
	x := c.x
	if x.FirstByte == NotReached {
		x.FirstByte = at
		if x.Sent != NotReached && !x.SentKernel {
			x.Sent = min(x.Sent, at) // the clock read after the send was late
		}
		if c.stamps {
			x.Stamps = KernelStamps
		}
	}
	c.bytesIn += int64(len(b))
	at = max(at, c.lastAt)
	c.lastRead, c.stamped = at, stamped
	var err error
	for len(b) > 0 && !c.parser.Done() && err == nil {
		var used int
		var body []byte
		used, body, err = c.parser.Next(b)
		b = b[used:]
		if !c.headSeen && err == nil {
			err = c.takeHead()
		}
		if len(body) > 0 {
			c.keep(body)
		}
	}
	waited := !c.token
	c.findEvents(r, at, stamped)
	if c.parser.Done() {
		r.flush() // the sink may look at the figures when it hears of the end
	}
	switch {
	case err != nil:
		c.finish(causeOf(err), err, at, false)
	case c.seg != nil && x.ContentFraming != Whole && len(c.seg.Data)-c.began > c.p.cfg.MaxEvent:
		c.finish(TooLong, fmt.Errorf("an event of more than %d bytes", c.p.cfg.MaxEvent), at, false)
	case c.parser.Done():
		c.complete(at, c.parser.KeepAlive() && len(b) == 0 && !toEnd)
	case c.token:
		if waited {
			c.setDeadline() // silence counts from here
		}
		if stamped && !c.inTick && !c.writing {
			c.moveToTick()
		}
	}
}

// errCoding marks a content coding that cannot be read.
type errCoding struct{ error }

func causeOf(err error) Cause {
	var coding errCoding
	switch {
	case errors.Is(err, http1.ErrHead), errors.Is(err, http1.ErrHeadLong):
		return BadHead
	case errors.As(err, &coding):
		return BadEncoding
	}
	return BadBody
}

// takeHead takes the head over, once it is complete.
func (c *conn) takeHead() error {
	h := c.parser.Head()
	if h == nil {
		return nil
	}
	x := c.x
	c.headSeen = true
	x.Status, x.Header, x.Protocol = h.Status, h.Header, "http/1.1"
	if h.Minor == 0 {
		x.Protocol = "http/1.0"
	}
	x.ContentFraming = x.framing()
	c.framer = NewFramer(x.ContentFraming)
	var err error
	if c.gzipped, err = x.contentCoding(); err != nil {
		return errCoding{err}
	}
	return nil
}

// keep appends a piece of the body to the segment.
func (c *conn) keep(body []byte) {
	if c.seg == nil {
		c.seg = c.p.segments.get()
	}
	if c.x.ContentFraming == Whole {
		left := c.p.cfg.MaxBody - len(c.seg.Data)
		if len(body) > left {
			c.x.BodyTruncatedAt = int64(c.p.cfg.MaxBody)
			body = body[:max(left, 0)]
		}
	}
	c.seg.Data = append(c.seg.Data, body...)
}

// findEvents notes the events that the last bytes completed.
func (c *conn) findEvents(r *reader, at int64, stamped bool) {
	seg, x := c.seg, c.x
	if seg == nil || x.ContentFraming == Whole {
		return
	}
	var flags uint8
	if !stamped && c.stamps {
		flags = Unstamped
	}
	first := len(seg.Events)
	for end := c.framer.Next(seg.Data); end >= 0; end = c.framer.Next(seg.Data) {
		seg.Events = append(seg.Events, Event{Start: int32(c.began), End: int32(end), At: at, Flags: flags})
		if !c.token {
			c.token = x.Request.IsToken == nil || x.Request.IsToken(seg.Data[c.began:end])
		}
		c.began = end
	}
	n := len(seg.Events) - first
	if n == 0 {
		return
	}
	r.chunks += int64(n)
	if flags != 0 {
		r.unstamped += int64(n)
	}
	// An event with another's first bytes behind it shares its stamp too.
	if n > 1 || c.began < len(seg.Data) {
		for i := first; i < len(seg.Events); i++ {
			seg.Events[i].Flags |= Coalesced
		}
		r.coalesced += int64(n)
	}
	c.noteGap(r, at, n)
	c.lastAt = at
}

// noteGap follows how far apart the stream's events are, for the tick.
func (c *conn) noteGap(r *reader, at int64, n int) {
	if !c.inTick || c.lastAt == NotReached {
		return
	}
	gap := max((at-c.lastAt)/int64(n), 1)
	if c.gap == 0 {
		c.gap = gap
	} else {
		c.gap += (gap - c.gap) / 8
	}
	if r.minGap == 0 || c.gap < r.minGap {
		r.minGap = max(c.gap, 1)
	}
}

// partial tells whether what follows the last event is one too, though not ended.
func (c *conn) partial() bool {
	if c.x.ContentFraming == Whole {
		return len(c.seg.Data) > 0
	}
	return c.framer.Partial()
}

// complete ends the exchange as its framing says; what is left is an event.
func (c *conn) complete(at int64, keep bool) {
	if seg := c.seg; seg != nil && c.partial() {
		e := Event{Start: int32(c.began), End: int32(len(seg.Data)), At: at}
		if c.stamps && !c.stamped {
			e.Flags = Unstamped
		}
		seg.Events = append(seg.Events, e)
	}
	c.finish(Completed, nil, at, keep && !c.writing && !c.broken && len(c.out[0])+len(c.out[1]) == 0)
}

var (
	errNoResponse = errors.New("the connection ended before a response")
	errCut        = errors.New("the connection ended within the response")
)

// ended is called at the end of the stream.
func (c *conn) ended(now int64) {
	switch {
	case c.parser.Started() && c.parser.Close() == nil:
		c.complete(c.lastRead, false)
	case c.parser.Started():
		c.finish(ResetLate, errCut, now, false)
	default:
		c.lost(errNoResponse, now)
	}
}

// lost is called when the connection broke.
func (c *conn) lost(err error, now int64) {
	cause := ResetEarly
	switch {
	case c.x.FirstByte != NotReached:
		cause = ResetLate
	case c.x.ConnReused:
		cause = StaleConnection
	}
	c.finish(cause, err, now, false)
}
