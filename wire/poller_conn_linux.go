package wire

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire/http1"
)

type connState uint8

const (
	connNew        connState = iota // not dialled
	connLooking                     // waits for addresses
	connConnecting                  // waits for the handshake
	connIdle
	connBusy // carries an exchange
	connClosed
)

// conn is a connection and the exchange on it. What reading a chunk touches
// stands together.
type conn struct {
	mu       sync.Mutex
	fd       int
	gen      uint32 // tells this use of fd from another
	state    connState
	ready    bool // was connected
	stamps   bool // the kernel stamps
	inTick   bool
	isHeld   bool // not read until the backlog has room
	retried  bool // being tried again after it was held
	token    bool // the first token came
	headSeen bool
	writing  bool
	broken   bool // the request could not be written
	x        *Exchange
	seg      *Segment
	began    int // in seg: where the event under way begins
	lastAt   int64
	lastRead int64 // arrival of what was read last
	gap      int64 // smoothed time between events; 0: not known
	heldAt   int64 // since when it is not read
	resumed  int64 // when it was last read again after being held
	stamped  bool  // what was read last
	bytesIn  int64
	bytesOut int64
	parser   http1.Parser
	framer   Framer

	p         *poller
	host      *host
	id        int64
	born      int64
	dialled   int64 // when the handshake that succeeded began
	parked    int64
	used      bool // has carried an exchange
	idleIndex int  // in host.idle; -1: not there
	address   int  // of the host's, tried next
	lastErr   error
	opened    func(error) // opened ahead: hears how the dial went
	deadline  deadline

	start     int64
	gzipped   bool
	head      []byte // buffer of request heads
	out       [2][]byte
	sentTotal uint32 // bytes sent on the connection
}

// begin puts x on the connection and starts sending, or dialling.
func (c *conn) begin(x *Exchange, start int64) {
	c.x, c.start = x, start
	c.p.tickOne()
	c.token, c.headSeen, c.writing, c.broken, c.gzipped = false, false, false, false, false
	c.seg, c.began, c.bytesIn, c.bytesOut = nil, 0, 0, 0
	c.lastAt, c.lastRead, c.resumed, c.gap = NotReached, NotReached, NotReached, 0
	c.parser.Reset(x.Request.Method)
	x.ConnID, x.ConnReused = c.id, c.ready
	var err error
	if c.head, err = appendHead(c.head[:0], x.Request, c.p.cfg.Reuse == Fresh); err != nil {
		c.finish(LocalFailure, err, c.p.clock.Now(), false)
		return
	}
	c.out = [2][]byte{c.head, x.Request.Body}
	if c.ready {
		c.state = connBusy
		c.send()
	} else {
		x.ConnStart = c.p.clock.Now()
		c.dial()
	}
	c.setDeadline()
}

// finish ends the exchange at the moment at: it fills what is left of x, keeps
// or closes the connection, and lets the sink hear of it.
func (c *conn) finish(cause Cause, err error, at int64, keep bool) {
	x, seg := c.x, c.seg
	c.x, c.seg = nil, nil
	c.p.ticking.Add(-1)
	x.Cause, x.Err = cause, err
	x.End = max(at, x.Sent)
	x.BytesIn, x.BytesOut = c.bytesIn, c.bytesOut
	if x.Stamps == KernelStamps || x.SentKernel {
		x.ClockError = c.p.realtime.Error()
	}
	c.out = [2][]byte{}
	c.used = true
	p := c.p
	p.mu.Lock()
	delete(p.live, x)
	p.mu.Unlock()
	if keep = keep && c.park(p.clock.Now()); keep {
		c.moveToEager()
		c.setDeadline()
	} else {
		c.close()
	}
	p.backlog.put(c.id, work{x: x, segment: seg, last: true, gzipped: c.gzipped})
}

// close closes the socket and forgets the connection. Closing twice is harmless.
func (c *conn) close() {
	if c.state == connClosed {
		return
	}
	c.closeSocket()
	c.state = connClosed
	c.p.deadlines.drop(&c.deadline)
	replace := c.forget()
	if c.opened != nil {
		c.opened(errors.Join(errors.New("no connection"), c.lastErr))
		c.opened = nil
	}
	if replace {
		c.p.openAhead(c.host, func(error) {})
	}
}

func (c *conn) closeSocket() {
	if c.inTick {
		c.inTick = false
		c.p.ticking.Add(-1)
	}
	if c.fd >= 0 {
		c.p.conns.set(c.fd, nil)
		_ = unix.Close(c.fd)
		c.fd = -1
	}
}

// alive looks whether an idle connection is still open, and closes it if not:
// whatever there is to read now is no answer.
func (c *conn) alive() bool {
	var b [1]byte
	_, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EAGAIN {
		return true
	}
	c.close()
	return false
}

// setDeadline makes sure that the connection is looked at in time.
func (c *conn) setDeadline() {
	at, _ := c.nextDeadline()
	c.p.deadlines.set(&c.deadline, at)
}

// nextDeadline returns what strikes next if nothing happens.
func (c *conn) nextDeadline() (at int64, cause Cause) {
	at = clock.Forever
	if c.x == nil {
		switch c.state {
		case connIdle:
			return c.parked + c.idleTime(), Completed
		case connLooking, connConnecting:
			return c.born + int64(dialPatience), Completed
		}
		return at, Completed
	}
	l := &c.x.Request.Limits
	sooner := func(from int64, limit time.Duration, why Cause) {
		if limit > 0 && from != NotReached && from+int64(limit) < at {
			at, cause = from+int64(limit), why
		}
	}
	sooner(c.start, l.Total, TimeoutTotal)
	switch {
	case !c.ready:
		sooner(c.x.ConnStart, l.Connect, TimeoutConnect)
	case c.isHeld: // not the server's silence
	case c.token:
		sooner(max(c.lastAt, c.resumed), l.Stall, TimeoutStall)
	default:
		if c.x.FirstByte == NotReached {
			sooner(c.x.Sent, l.FirstByte, TimeoutFirstByte)
		}
		sooner(c.x.Sent, l.FirstToken, TimeoutFirstToken)
	}
	return at, cause
}

func (c *conn) idleTime() int64 {
	if c.used {
		return int64(idleUsed)
	}
	return int64(idleNew)
}

// due acts on a deadline, after a last look at the socket: what came in time
// counts.
func (c *conn) due(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, _ := c.nextDeadline(); at <= now && c.x != nil && c.state == connBusy && !c.isHeld {
		r := newReader(c.p)
		c.read(r, true)
		r.flush()
	}
	at, cause := c.nextDeadline()
	if at > now {
		c.p.deadlines.set(&c.deadline, at)
		return
	}
	if c.x == nil {
		c.lastErr = errors.New("the dial took too long")
		c.close()
		return
	}
	c.finish(cause, fmt.Errorf("%s after %v", cause, time.Duration(now-c.start).Round(time.Millisecond)), now, false)
}

// connTable finds connections by file descriptor without a lock.
type connTable struct {
	mu    sync.Mutex
	slots atomic.Pointer[[]atomic.Pointer[conn]]
}

func (t *connTable) get(fd int32) *conn {
	slots := t.slots.Load()
	if slots == nil || int(fd) >= len(*slots) {
		return nil
	}
	return (*slots)[fd].Load()
}

func (t *connTable) set(fd int, c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slots := t.slots.Load()
	if slots == nil || fd >= len(*slots) {
		grown := make([]atomic.Pointer[conn], max(1024, 2*fd))
		if slots != nil {
			for i := range *slots {
				grown[i].Store((*slots)[i].Load())
			}
		}
		t.slots.Store(&grown)
		slots = &grown
	}
	(*slots)[fd].Store(c)
}
