package wire

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// send writes what the socket takes of the request; the rest follows when it
// takes more. The last send asks the kernel to stamp its last byte.
func (c *conn) send() {
	x := c.x
	if x.WriteStart == NotReached {
		x.WriteStart = c.p.clock.Now()
	}
	for len(c.out[0])+len(c.out[1]) > 0 {
		n, errno := c.sendmsg()
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			if !c.writing {
				c.writing = true
				_ = c.watch(c.p.eagerFd, unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLOUT)
			}
			return
		case errno != 0:
			// There may be an answer all the same, one that came too early.
			c.writing, c.broken = false, true
			r := newReader(c.p)
			c.read(r, true)
			r.flush()
			if c.x == x {
				c.lost(errno, c.p.clock.Now())
			}
			return
		default:
			c.sentTotal += uint32(n)
			c.bytesOut += int64(n)
			k := min(n, len(c.out[0]))
			c.out[0] = c.out[0][k:]
			c.out[1] = c.out[1][n-k:]
		}
	}
	x.Sent = c.p.clock.Now()
	if c.writing {
		c.writing = false
		_ = c.watch(c.p.eagerFd, unix.EPOLL_CTL_MOD, unix.EPOLLIN)
	}
	if c.stamps {
		c.takeSentStamp()
	}
	c.setDeadline()
}

// sendmsg sends once. It asks for a transmit stamp each time: of several the
// one with the last byte's number is kept.
func (c *conn) sendmsg() (int, unix.Errno) {
	var iov [2]unix.Iovec
	var msg unix.Msghdr
	for _, b := range c.out {
		if len(b) > 0 {
			iov[msg.Iovlen].Base = &b[0]
			iov[msg.Iovlen].SetLen(len(b))
			msg.Iovlen++
		}
	}
	msg.Iov = &iov[0]
	var control struct {
		header unix.Cmsghdr
		flags  uint32
		_      uint32
	}
	if c.stamps {
		control.header.Level = unix.SOL_SOCKET
		control.header.Type = unix.SO_TIMESTAMPING
		control.header.SetLen(unix.CmsgLen(4))
		control.flags = unix.SOF_TIMESTAMPING_TX_SOFTWARE
		msg.Control = (*byte)(unsafe.Pointer(&control))
		msg.SetControllen(unix.CmsgSpace(4))
	}
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	return int(n), errno
}

// takeSentStamp empties the error queue: what waits there keeps the socket
// signalled.
func (c *conn) takeSentStamp() {
	for {
		stamp, number, err := readSentStamp(c.fd)
		if err != nil {
			return
		}
		x := c.x
		if x == nil || x.Sent == NotReached || x.SentKernel || number != c.sentTotal-1 {
			continue
		}
		at, _, ok := c.p.realtime.Moment(stamp)
		if ok && at >= x.WriteStart-c.p.realtime.Error() {
			x.Sent, x.SentKernel = max(at, x.WriteStart), true
		}
	}
}
