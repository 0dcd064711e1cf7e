package wire

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/clock"
)

// poller is the transport for plain HTTP/1.1: sockets of its own in two epoll
// sets. In the eager set every event is seen at once: connects, the head, the
// first token. From its first token on a stream is in the tick set, which is
// looked at every few milliseconds: the kernel has stamped what came, so that
// nothing is lost by reading it later, and one wake-up serves many chunks. The
// tick looks at the eager set too: one thread that gets no CPU does not hold
// everything up, and it is known how long nobody looked.
//
// Locks: conn.mu before poller.mu; those of deadlines, backlog and segments
// are innermost. A connection's state, and the exchange on it, belong to its
// conn.mu; whoever holds it may read and write the socket: the goroutine that
// starts a request sends it.
type poller struct {
	cfg       Config
	clock     *clock.Real
	realtime  *clock.Realtime
	stampHold int // keeps the kernel's stamping on
	eager     *os.File
	eagerFd   int
	tickFd    int
	ticker    *os.File // a timer that ticks
	conns     connTable
	nextGen   atomic.Uint32
	nextID    atomic.Int64
	deadlines *deadlines
	segments  segments
	backlog   *backlog
	stats     counters

	// ticking counts what needs the tick: connections in its set or held, and
	// exchanges, whose sockets it looks at too.
	ticking   atomic.Int64
	eagerTurn atomic.Uint64 // odd while the eager reader is at work
	pauses    pauseList
	ticked    chan struct{} // closed when the tick's reader has ended
	tickWake  chan struct{}
	stop      chan struct{}
	loops     sync.WaitGroup
	lookups   sync.WaitGroup
	ctx       context.Context // of name lookups
	cancel    context.CancelFunc

	heldMu sync.Mutex
	held   []*conn // not read because the backlog was full

	mu     sync.Mutex
	hosts  map[string]*host
	live   map[*Exchange]*conn
	open   map[*conn]struct{}
	closed bool
}

// newPoller returns the poller. It fails where the process has no file
// descriptor left.
func newPoller(cfg Config) (warmTransport, error) {
	p := &poller{cfg: cfg, clock: cfg.Clock, realtime: clock.NewRealtime(cfg.Clock), stampHold: holdStamps(),
		deadlines: newDeadlines(), tickWake: make(chan struct{}, 1), stop: make(chan struct{}), ticked: make(chan struct{}),
		hosts: map[string]*host{}, live: map[*Exchange]*conn{}, open: map[*conn]struct{}{}}
	if err := p.openSets(); err != nil {
		return nil, err
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.backlog = newBacklog(cfg.Workers, cfg.MaxBody, &p.segments)
	p.loops.Go(p.readEagerly)
	p.loops.Go(func() { defer close(p.ticked); p.readOnTick() })
	p.loops.Go(func() { p.deadlines.run(p.clock.Now, func() { p.realtime.Check() }, p.stop) })
	return p, nil
}

// openSets makes the epoll sets and the ticking timer. The eager set and the
// timer are waited for in the runtime's own poller: that costs no thread.
func (p *poller) openSets() error {
	eager, err1 := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	tick, err2 := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	ticker, err3 := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	err := errors.Join(err1, err2, err3)
	if err == nil {
		err = unix.SetNonblock(eager, true)
	}
	if err != nil {
		for _, fd := range []int{eager, tick, ticker, p.stampHold} {
			if fd >= 0 {
				_ = unix.Close(fd)
			}
		}
		return fmt.Errorf("a poller: %w", err)
	}
	p.eagerFd, p.tickFd = eager, tick
	p.eager = os.NewFile(uintptr(eager), "epoll")
	p.ticker = os.NewFile(uintptr(ticker), "timerfd")
	return nil
}

// Start sends x at once where a connection is idle, else when one is open.
func (p *poller) Start(x *Exchange) {
	start := p.clock.Now()
	for {
		c, err := p.take(x.Request.URL)
		if err != nil {
			p.refuse(x, start, err)
			return
		}
		c.mu.Lock()
		if c.state != connIdle && c.state != connNew || c.state == connIdle && !c.alive() {
			c.mu.Unlock()
			continue // the server closed it a moment ago
		}
		p.mu.Lock()
		closed := p.closed
		if !closed {
			p.live[x] = c
		}
		p.mu.Unlock()
		if closed {
			c.close()
			c.mu.Unlock()
			continue
		}
		c.begin(x, start)
		c.mu.Unlock()
		return
	}
}

// take returns an idle connection to u's host, or a new one that is yet to be
// dialled.
func (p *poller) take(u *url.URL) (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	h, err := p.host(u)
	if err != nil {
		return nil, err
	}
	if n := len(h.idle); n > 0 && p.cfg.Reuse != Fresh {
		c := h.idle[n-1]
		h.removeIdle(c)
		return c, nil
	}
	return p.newConn(h), nil
}

// refuse ends an exchange that never had a connection.
func (p *poller) refuse(x *Exchange, start int64, err error) {
	x.Cause, x.Err, x.End = LocalFailure, err, max(p.clock.Now(), start)
	if errors.Is(err, errClosed) {
		x.Cause = Cut
		go x.Sink.Ended(x) // the workers may be gone
		return
	}
	p.backlog.put(0, work{x: x, last: true})
}

// Cancel ends x where it is under way.
func (p *poller) Cancel(x *Exchange, cause Cause) {
	p.mu.Lock()
	c := p.live[x]
	p.mu.Unlock()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x == x {
		c.finish(cause, errEnded, p.clock.Now(), false)
	}
}

var errEnded = errors.New("ended by the client")

// Close cuts what is under way, waits until every sink has heard so, and frees
// everything. It must not be called from a sink.
func (p *poller) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	open := make([]*conn, 0, len(p.open))
	for c := range p.open {
		open = append(open, c)
	}
	p.mu.Unlock()
	p.cancel()
	for _, c := range open {
		c.mu.Lock()
		if c.x != nil {
			c.finish(Cut, errEnded, p.clock.Now(), false)
		}
		c.close()
		c.mu.Unlock()
	}
	p.lookups.Wait()
	close(p.stop)
	_ = p.ticker.Close()
	<-p.ticked // it looks at the eager set: nobody may get that number before
	_ = p.eager.Close()
	p.loops.Wait()
	p.backlog.close()
	_ = unix.Close(p.tickFd)
	if p.stampHold >= 0 {
		_ = unix.Close(p.stampHold)
	}
}

// counters are Stats under way.
type counters struct {
	chunks, coalesced, unstamped, reads, held, rounds atomic.Int64
	delay                                             [len(Stats{}.Delay)]atomic.Int64
}

// Stats returns the figures of this moment.
func (p *poller) Stats() Stats {
	p.mu.Lock()
	s := Stats{Open: len(p.open), InFlight: len(p.live)}
	p.mu.Unlock()
	s.Backlog = int(p.backlog.waiting.Load())
	c := &p.stats
	s.Chunks, s.Coalesced, s.Unstamped = c.chunks.Load(), c.coalesced.Load(), c.unstamped.Load()
	s.Reads, s.Held, s.Rounds = c.reads.Load(), c.held.Load(), c.rounds.Load()
	s.ClockSteps = p.realtime.Steps()
	for i := range s.Delay {
		s.Delay[i] = c.delay[i].Load()
	}
	return s
}

const (
	// idleUsed is how long a used connection is kept idle: common servers
	// close theirs after 5 s.
	idleUsed = 4 * time.Second
	// idleNew is the same for one that has carried no request, which servers
	// leave open far longer.
	idleNew = 30 * time.Second
	// dialPatience ends dials that no exchange waits for.
	dialPatience = 10 * time.Second
)
