package wire

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns a connected TCP socket of our own and the other side.
func pair(t *testing.T) (fd int, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	a := l.Addr().(*net.TCPAddr)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	peer, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	return fd, peer
}

// await polls fd until it has events.
func await(t *testing.T, fd int, events int16) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	for {
		n, err := unix.Poll(fds, 5000)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			t.Fatalf("nothing came: %v", err)
		}
		return
	}
}

func TestReadStampedTellsArrivalNotRead(t *testing.T) {
	hold := holdStamps()
	defer unix.Close(hold)
	fd, peer := pair(t)
	if err := enableStamps(fd); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	stamp := int64(0)
	var before, after time.Time
	// The kernel may leave the first packets without a stamp.
	for range 100 {
		before = time.Now()
		if _, err := peer.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		after = time.Now()
		await(t, fd, unix.POLLIN)
		time.Sleep(5 * time.Millisecond)
		n, s, err := readStamped(fd, buf)
		if err != nil || string(buf[:n]) != "hello" {
			t.Fatalf("read %q, %v", buf[:max(n, 0)], err)
		}
		if stamp = s; stamp != 0 {
			break
		}
	}
	if stamp < before.UnixNano() || stamp > after.UnixNano()+int64(4*time.Millisecond) {
		t.Errorf("stamp %d is not of the sending between %d and %d", stamp, before.UnixNano(), after.UnixNano())
	}
	if _, _, err := readStamped(fd, buf); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("nothing to read gave %v", err)
	}
	peer.Close()
	await(t, fd, unix.POLLIN)
	if n, _, err := readStamped(fd, buf); n != 0 || err != nil {
		t.Errorf("end of stream gave %d, %v", n, err)
	}
}

func TestReadStampedDoesNotAllocate(t *testing.T) {
	fd, _ := pair(t)
	buf := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = readStamped(fd, buf) }); n != 0 {
		t.Errorf("%v allocations a read", n)
	}
}
