package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/clock"
)

// stamper makes stamping connections of a transport.
type stamper struct {
	clock    *clock.Real
	realtime *clock.Realtime
	hold     int // keeps the kernel's stamping on
	counters *netCounters
	checked  atomic.Int64 // when the clocks were last compared
}

func newStamper(c *clock.Real, counters *netCounters) *stamper {
	return &stamper{clock: c, realtime: clock.NewRealtime(c), hold: holdStamps(), counters: counters}
}

func (s *stamper) close() {
	if s.hold >= 0 {
		_ = unix.Close(s.hold)
	}
}

// clockError returns by how many ns kernel stamps may be off.
func (s *stamper) clockError() int64 { return s.realtime.Error() }

// check compares the clocks about once a second while something is read.
func (s *stamper) check(now int64) {
	last := s.checked.Load()
	if now-last >= int64(time.Second) && s.checked.CompareAndSwap(last, now) {
		s.realtime.Check()
	}
}

// steps returns how often someone set CLOCK_REALTIME.
func (s *stamper) steps() int64 { return s.realtime.Steps() }

// stampSocket reads a socket past the net package, which knows no stamps, but
// waits in its poller.
type stampSocket struct {
	raw     syscall.RawConn
	stamper *stamper
	receive func(fd uintptr) bool // made once: a closure a read would allocate
	buf     []byte
	n       int
	stamp   int64
	err     error
}

func (s *stamper) wrap(c net.Conn) *stampConn {
	s.counters.open.Add(1)
	sc := &stampConn{Conn: c, clock: s.clock, counters: s.counters}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return sc // the kernel stamps no Unix sockets
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return sc
	}
	enabled := error(nil)
	if err := raw.Control(func(fd uintptr) { enabled = enableStamps(int(fd)) }); err != nil || enabled != nil {
		return sc
	}
	socket := &stampSocket{raw: raw, stamper: s}
	socket.receive = func(fd uintptr) bool {
		socket.n, socket.stamp, socket.err = readStamped(int(fd), socket.buf)
		return !errors.Is(socket.err, unix.EAGAIN)
	}
	sc.socket = socket
	return sc
}

func (c *stampConn) readStamped(b []byte) (int, error) {
	s := c.socket
	s.buf = b
	err := s.raw.Read(s.receive)
	s.buf = nil
	switch {
	case err != nil:
		return 0, err
	case s.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("recvmsg", s.err)}
	case s.n == 0:
		return 0, io.EOF
	}
	at, now, ok := s.stamper.realtime.Moment(s.stamp)
	s.stamper.check(now)
	c.last = arrival{at: at, read: c.last.read + 1}
	if ok {
		c.good++
		c.counters.read(now - at)
	} else {
		c.last.flags = Unstamped
		c.counters.read(-1)
	}
	return s.n, nil
}

// waiting tells whether something lies in the socket to be read.
func (c *stampConn) waiting() bool { return c.poll()&unix.POLLIN != 0 }

// dead tells that the other side has closed or reset the connection. What it
// sent before that, such as TLS session tickets, does not matter.
func (c *stampConn) dead() bool {
	return c.poll()&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}

func (c *stampConn) poll() (events int16) {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return unix.POLLNVAL
	}
	err = raw.Control(func(fd uintptr) {
		fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		if _, err := unix.Poll(fds[:], 0); err == nil {
			events = fds[0].Revents
		}
	})
	if err != nil {
		return unix.POLLNVAL
	}
	return events
}
