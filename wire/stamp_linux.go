package wire

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stampOptions ask for software receive stamps, for transmit stamps without
// the packet (only where a send asks for one), and number those by the
// stream's bytes.
const stampOptions = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE |
	unix.SOF_TIMESTAMPING_OPT_TSONLY | unix.SOF_TIMESTAMPING_OPT_ID

// enableStamps turns kernel stamps on for a connected TCP socket. The count of
// bytes that transmit stamps carry begins here.
func enableStamps(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampOptions); err != nil {
		return fmt.Errorf("kernel stamps: %w", err)
	}
	return nil
}

// holdStamps returns a socket that keeps the kernel's stamping switched on
// while it is open: the kernel turns it on a little after the first socket
// asks, so that packets until then carry no stamp. Close it with unix.Close;
// -1 where none could be had.
func holdStamps() int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING,
		unix.SOF_TIMESTAMPING_SOFTWARE|unix.SOF_TIMESTAMPING_RX_SOFTWARE)
	return fd
}

// controlSize holds a stamp (16 + 48 bytes), an extended error with its
// address, and something to spare.
const controlSize = 192

// readStamped receives from a stream socket without blocking. stamp is the
// kernel's, of the last packet that the bytes came from, in ns of
// CLOCK_REALTIME; 0 where it gave none. n is 0 with a nil error at the end of
// the stream; with nothing to read the error is unix.EAGAIN. It makes a raw
// call (no scheduling around it) and does not allocate.
func readStamped(fd int, buf []byte) (n int, stamp int64, err error) {
	var control [controlSize]byte
	var iov unix.Iovec
	var msg unix.Msghdr
	if len(buf) == 0 {
		return 0, 0, unix.EINVAL
	}
	iov.Base = &buf[0]
	iov.SetLen(len(buf))
	msg.Iov, msg.Iovlen = &iov, 1
	msg.Control = &control[0]
	msg.SetControllen(len(control))
	for {
		r, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
			stamp, _ = parseControl(control[:msg.Controllen])
			return int(r), stamp, nil
		case unix.EINTR:
		default:
			return -1, 0, errno
		}
	}
}

// readSentStamp takes one transmit stamp from the socket's error queue: the
// moment, in ns of CLOCK_REALTIME, at which the stream's byte with number id
// (from 0, since enableStamps) was handed to the device. Without one waiting
// the error is unix.EAGAIN.
func readSentStamp(fd int) (stamp int64, id uint32, err error) {
	var control [controlSize]byte
	var msg unix.Msghdr
	msg.Control = &control[0]
	msg.SetControllen(len(control))
	_, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, 0, errno
	}
	stamp, id = parseControl(control[:msg.Controllen])
	return stamp, id, nil
}

// parseControl finds the software stamp, and the byte number of an extended
// error, in a received control buffer.
func parseControl(b []byte) (stamp int64, id uint32) {
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(b) {
			return stamp, id
		}
		data := b[unix.CmsgLen(0):size]
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPING && len(data) >= int(unsafe.Sizeof(unix.Timespec{})):
			ts := (*unix.Timespec)(unsafe.Pointer(&data[0]))
			stamp = ts.Nano()
		case (h.Level == unix.SOL_IP && h.Type == unix.IP_RECVERR || h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_RECVERR) &&
			len(data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})):
			id = (*unix.SockExtendedErr)(unsafe.Pointer(&data[0])).Data
		}
		b = b[min(unix.CmsgSpace(size-unix.CmsgLen(0)), len(b)):]
	}
	return stamp, id
}
