package wire

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// The tick's bounds. It is a quarter of the smallest usual gap between
	// events, so that two seldom meet in a socket, where one loses its stamp.
	tickMin = int64(time.Millisecond)
	tickMax = 4 * int64(time.Millisecond)
	// tickWindow is over how many rounds the smallest gap is looked for
	// before the tick may become longer.
	tickWindow = 64
)

// ready asks an epoll set what has happened, without waiting. It is a raw
// call: the runtime does not give the processor away for it.
func ready(set int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(set), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// readEagerly serves the eager set until the poller is closed.
func (p *poller) readEagerly() {
	raw, err := p.eager.SyscallConn()
	if err != nil {
		return // closed already
	}
	r := newReader(p)
	n := 0
	poll := func(fd uintptr) bool {
		p.eagerTurn.Add(1)
		if n = ready(int(fd), r.events); n == 0 {
			p.eagerTurn.Add(1)
		}
		return n > 0
	}
	for raw.Read(poll) == nil {
		r.serve(n)
		p.eagerTurn.Add(1)
	}
}

// serve acts on n events.
func (r *reader) serve(n int) {
	for i := range r.events[:n] {
		ev := &r.events[i]
		c := r.p.conns.get(ev.Fd)
		if c == nil {
			continue
		}
		c.mu.Lock()
		if c.fd == int(ev.Fd) && c.gen == uint32(ev.Pad) {
			c.event(r, ev.Events)
		}
		c.mu.Unlock()
	}
	r.flush()
}

// event acts on one event of the connection's socket.
func (c *conn) event(r *reader, mask uint32) {
	const ends = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	switch c.state {
	case connConnecting:
		if mask&(unix.EPOLLOUT|ends) != 0 {
			c.connected()
		}
	case connIdle:
		if c.stamps && mask&unix.EPOLLERR != 0 {
			c.takeSentStamp()
		}
		c.alive()
	case connBusy:
		if c.stamps && mask&unix.EPOLLERR != 0 {
			c.takeSentStamp()
		}
		if c.writing && mask&(unix.EPOLLOUT|ends) != 0 {
			c.send()
		}
		if mask&(unix.EPOLLIN|ends) != 0 {
			c.read(r, mask&ends != 0)
		}
	}
}

// readOnTick serves the tick set until the poller is closed.
func (p *poller) readOnTick() {
	raw, err := p.ticker.SyscallConn()
	if err != nil {
		return // closed already
	}
	r := newReader(p)
	tick := ticker{raw: raw}
	smallest, rounds := int64(0), 0
	var l looks
	for {
		if p.ticking.Load() == 0 {
			tick.set(0)
			select {
			case <-p.stop:
				return
			case <-p.tickWake:
			}
			smallest, rounds = 0, 0
			l.restart(p)
			continue
		}
		if tick.every == 0 {
			tick.set(tickMin)
		}
		// The wait is also the round's safepoint for the collector.
		if raw.Read(ticked) != nil {
			return
		}
		began := p.clock.Now()
		p.round(r)
		l.round(p, began, tick.every)
		if r.minGap > 0 && (smallest == 0 || r.minGap < smallest) {
			smallest = r.minGap
			tick.set(min(tick.every, tickOf(smallest)))
		}
		r.minGap = 0
		if rounds++; rounds == tickWindow {
			tick.set(tickOf(smallest))
			smallest, rounds = 0, 0
		}
	}
}

// ticked takes the ticks that passed off the timer; false: none yet.
func ticked(timer uintptr) bool {
	var n [8]byte
	_, _, errno := unix.RawSyscall(unix.SYS_READ, timer, uintptr(unsafe.Pointer(&n[0])), uintptr(len(n)))
	return errno == 0
}

// ticker is a timer of the kernel's, waited for in the runtime's poller: a
// sleep of the runtime's own wakes up to three threads each time.
type ticker struct {
	raw   syscall.RawConn
	every int64 // ns; 0: it stands still
}

// set makes it tick at another interval; 0 stops it.
func (t *ticker) set(every int64) {
	if t.every == every {
		return
	}
	t.every = every
	spec := unix.ItimerSpec{Interval: unix.NsecToTimespec(every), Value: unix.NsecToTimespec(every)}
	_ = t.raw.Control(func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &spec, nil) })
}

// tickOf returns the tick for a smallest gap; without one the shortest.
func tickOf(gap int64) int64 { return min(max(gap/4, tickMin), tickMax) }

// round reads all that waits in both sets.
func (p *poller) round(r *reader) {
	p.stats.rounds.Add(1)
	p.readHeld(r)
	for _, set := range [...]int{p.tickFd, p.eagerFd} {
		for n := len(r.events); n == len(r.events); {
			n = ready(set, r.events)
			r.serve(n)
		}
	}
}

// readHeld tries again to read what the full backlog held up.
func (p *poller) readHeld(r *reader) {
	p.heldMu.Lock()
	held := p.held
	p.held = nil
	p.heldMu.Unlock()
	for _, c := range held {
		p.ticking.Add(-1)
		c.mu.Lock()
		if c.isHeld {
			c.isHeld, c.retried = false, true
			c.resumed = p.clock.Now()
			p.pauses.add(Pause{c.heldAt, c.resumed})
			c.read(r, true)
			c.retried = false
			if c.x != nil {
				c.setDeadline()
			}
		}
		c.mu.Unlock()
	}
}

// tickOne counts one more connection that needs the tick.
func (p *poller) tickOne() {
	if p.ticking.Add(1) == 1 {
		select {
		case p.tickWake <- struct{}{}:
		default:
		}
	}
}

// moveToTick has the stream read on the tick from now on. What waits in the
// socket is told again by the set it joins.
func (c *conn) moveToTick() {
	if c.move(c.p.eagerFd, c.p.tickFd) {
		c.inTick = true
		c.p.tickOne()
	}
}

// moveToEager undoes it.
func (c *conn) moveToEager() {
	if c.inTick && c.move(c.p.tickFd, c.p.eagerFd) {
		c.inTick = false
		c.p.ticking.Add(-1)
	}
}

// move takes the socket from one set to another; where it cannot, it stays.
func (c *conn) move(from, to int) bool {
	if c.watch(to, unix.EPOLL_CTL_ADD, unix.EPOLLIN) != nil {
		return false
	}
	_ = unix.EpollCtl(from, unix.EPOLL_CTL_DEL, c.fd, nil)
	return true
}
