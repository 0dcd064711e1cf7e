package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// looks follows how often the sockets are looked at. It belongs to the
// goroutine of the tick, which looks at both sets.
type looks struct {
	last, before int64  // beginnings of the last two rounds that saw every socket
	coalesced    int64  // events that had met until then
	eager        uint64 // what the eager reader was doing then
}

// restart begins anew after a time in which there was nothing to look at.
func (l *looks) restart(p *poller) {
	now := p.clock.Now()
	*l = looks{last: now, before: now, coalesced: p.stats.coalesced.Load(), eager: p.eagerTurn.Load()}
}

// round notes a round that began at a moment. Events that met since the last
// look came at any moment since then: where that is longer than a healthy
// reader takes it is a pause. In a shorter one their stamps are off by no more
// than that.
func (l *looks) round(p *poller, began, every int64) {
	now := p.clock.Now()
	met := p.stats.coalesced.Load()
	// An eager reader that has held the same sockets for a whole round is held
	// up with them, and nobody else has seen them.
	turn := p.eagerTurn.Load()
	stuck := turn%2 == 1 && turn == l.eager
	l.eager = turn
	if stuck {
		return
	}
	if met != l.coalesced && now-l.last > 2*every+pauseLeast {
		p.pauses.add(Pause{l.before, now})
	}
	l.last, l.before, l.coalesced = began, l.last, met
}

// pauseLeast is how much more than two ticks a round may take.
const pauseLeast = int64(500 * time.Microsecond)

// Pauses returns, and forgets, the pauses.
func (p *poller) Pauses() []Pause { return p.pauses.take() }

// Sockets looks at up to n connections.
func (p *poller) Sockets(n int) []Socket {
	p.mu.Lock()
	some := make([]*conn, 0, n)
	for c := range p.open {
		if len(some) == n {
			break
		}
		some = append(some, c)
	}
	p.mu.Unlock()
	all := make([]Socket, 0, len(some))
	for _, c := range some {
		c.mu.Lock()
		if s, ok := c.socket(); ok {
			all = append(all, s)
		}
		c.mu.Unlock()
	}
	return all
}

// socket asks the kernel; false of what is no open TCP connection.
func (c *conn) socket() (Socket, bool) {
	if c.fd < 0 || !c.ready || !c.stamps {
		return Socket{}, false
	}
	info, err := unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return Socket{}, false
	}
	s := Socket{RTT: time.Duration(info.Rtt) * time.Microsecond, Retransmits: int64(info.Total_retrans)}
	if n, err := unix.IoctlGetInt(c.fd, unix.TIOCINQ); err == nil {
		s.Unread = int64(n)
	}
	return s, true
}

// handshakeEnd is when the connection became usable: by the kernel's own
// round-trip time of the handshake where it tells, since this process may hear
// of it late. dialled is when the handshake began.
func (c *conn) handshakeEnd(now int64) int64 {
	if !c.stamps || c.dialled == NotReached {
		return now
	}
	info, err := unix.GetsockoptTCPInfo(c.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Rtt == 0 || info.Total_retrans > 0 {
		return now // sent again: no round trip was measured
	}
	return min(now, c.dialled+int64(info.Rtt)*int64(time.Microsecond))
}
