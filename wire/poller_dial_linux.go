package wire

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// dial begins to open the connection, once the host's addresses are known.
func (c *conn) dial() {
	p := c.p
	p.mu.Lock()
	addrs := c.host.addrs
	if addrs == nil && !p.closed {
		c.state = connLooking
		c.host.waiting = append(c.host.waiting, c)
		if !c.host.looking {
			c.host.looking = true
			p.lookups.Go(func() { p.lookUp(c.host) })
		}
	}
	p.mu.Unlock()
	if addrs != nil {
		c.connect(addrs)
	}
}

// connect tries the addresses in turn, from where it stopped.
func (c *conn) connect(addrs []unix.Sockaddr) {
	c.state = connConnecting
	for c.address < len(addrs) {
		sa := addrs[c.address]
		c.address++
		switch err := c.connectTo(sa); {
		case err == nil:
			return
		case isLocal(err):
			c.dialFailed(LocalFailure, connectError(sa, err))
			return
		default:
			c.lastErr = connectError(sa, err)
		}
	}
	c.dialFailed(Refused, c.lastErr)
}

// connectError says what could not be connected to, where the URL does not.
func connectError(sa unix.Sockaddr, err error) error {
	if u, ok := sa.(*unix.SockaddrUnix); ok {
		return fmt.Errorf("connect to %s: %w", u.Name, err)
	}
	return fmt.Errorf("connect: %w", err)
}

// isLocal tells errors that are this machine's own want.
func isLocal(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.EADDRNOTAVAIL, unix.ENOBUFS, unix.ENOMEM, unix.EACCES, unix.EPERM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// connectTo begins a handshake; established or the eager set goes on from there.
func (c *conn) connectTo(sa unix.Sockaddr) error {
	family := unix.AF_INET
	switch sa.(type) {
	case *unix.SockaddrInet6:
		family = unix.AF_INET6
	case *unix.SockaddrUnix:
		family = unix.AF_UNIX
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if family != unix.AF_UNIX {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	c.dialled = c.p.clock.Now()
	err = unix.Connect(fd, sa)
	if err == unix.EAGAIN {
		_ = unix.Close(fd)
		c.again(sa)
		return nil
	}
	if err != nil && err != unix.EINPROGRESS {
		_ = unix.Close(fd)
		return err
	}
	c.fd, c.gen = fd, c.p.nextGen.Add(1)
	c.p.conns.set(fd, c)
	if err == nil {
		c.established(unix.EPOLL_CTL_ADD)
		return nil
	}
	return c.watch(c.p.eagerFd, unix.EPOLL_CTL_ADD, unix.EPOLLIN|unix.EPOLLOUT)
}

// again connects to a Unix socket a little later: its kind does not queue.
func (c *conn) again(sa unix.Sockaddr) {
	c.p.lookups.Go(func() {
		time.Sleep(time.Millisecond)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.state == connConnecting {
			c.connect([]unix.Sockaddr{sa})
		}
	})
	c.address = 0
}

// watch puts the socket into an epoll set, or changes what is awaited of it.
// It is told of changes only (edge-triggered): an unread socket doesn't come again.
func (c *conn) watch(set, op int, events uint32) error {
	ev := unix.EpollEvent{Events: events | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(c.fd), Pad: int32(c.gen)}
	return unix.EpollCtl(set, op, c.fd, &ev)
}

// connected is called when the handshake has come to an end.
func (c *conn) connected() {
	code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err == nil {
		c.established(unix.EPOLL_CTL_MOD)
		return
	}
	c.lastErr = fmt.Errorf("connect: %w", err)
	c.closeSocket()
	if isLocal(err) {
		c.dialFailed(LocalFailure, c.lastErr)
		return
	}
	c.p.mu.Lock()
	addrs := c.host.addrs
	c.p.mu.Unlock()
	c.connect(addrs)
}

// established makes the connection ready, sends what waits for it, or parks it.
func (c *conn) established(op int) {
	// A socket that cannot be stamped (a Unix one) is read all the same.
	c.stamps = enableStamps(c.fd) == nil && c.p.cfg.UnixSocket == ""
	c.ready = true
	now := c.p.clock.Now()
	if err := c.watch(c.p.eagerFd, op, unix.EPOLLIN); err != nil {
		c.dialFailed(LocalFailure, fmt.Errorf("epoll: %w", err))
		return
	}
	opened := c.opened
	c.opened = nil
	if c.x != nil {
		c.x.ConnReady = max(c.x.ConnStart, c.handshakeEnd(now))
		c.state = connBusy
		c.send()
		if c.x != nil {
			c.setDeadline()
		}
	} else if !c.park(now) {
		c.close()
	} else {
		c.setDeadline()
	}
	if opened != nil {
		opened(nil)
	}
}

// dialFailed ends the connection before it was one, and its exchange.
func (c *conn) dialFailed(cause Cause, err error) {
	c.lastErr = err
	if c.x != nil {
		c.finish(cause, err, c.p.clock.Now(), false)
		return
	}
	c.close()
}
