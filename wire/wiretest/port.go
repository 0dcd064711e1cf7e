package wiretest

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// deafPort returns an address that nobody accepts on: refused at once, or,
// where full is set, with an accept queue that has no room so that connecting
// hangs. The port stays taken until the test ends.
func deafPort(t testing.TB, full bool) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatalf("deaf port: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatalf("deaf port: %v", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatalf("deaf port: %v", err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	if full {
		fill(t, fd, address)
	}
	return address
}

// fill listens with a queue of one place and takes it.
func fill(t testing.TB, fd int, address string) {
	t.Helper()
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatalf("deaf port: %v", err)
	}
	c, err := net.Dial("tcp4", address)
	if err != nil {
		t.Fatalf("deaf port: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
}
