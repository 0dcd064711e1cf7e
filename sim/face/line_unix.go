//go:build unix

package face

import "syscall"

// once is one system call; a full buffer is no error.
func (l *line) once(fd uintptr) bool {
	for {
		n, err := syscall.Write(int(fd), l.b)
		switch err {
		case nil:
			l.n = n
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			l.err = err
		}
		return true
	}
}
