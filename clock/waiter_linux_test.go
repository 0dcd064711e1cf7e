package clock

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A descriptor's number is given out again as soon as it is closed: a late
// wake-up must not end up in someone else's connection.
func TestWakeAfterClose(t *testing.T) {
	c := NewReal()
	c.Close()
	stranger, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(stranger)
	if w, ok := c.waiter.(*kernelWaiter); !ok || w.fd != stranger {
		t.Skip("the number was not given out again")
	}
	c.Wake()
	c.Close()
	var b [8]byte
	if n, err := unix.Read(stranger, b[:]); n > 0 || err != unix.EAGAIN {
		t.Errorf("%d bytes were written into a stranger's descriptor (%v)", n, err)
	}
}

func TestPinSetsExactTimers(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := NewReal()
		defer c.Close()
		slack := func() int {
			n, _, _ := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_TIMERSLACK, 0, 0)
			return int(n)
		}
		before := slack()
		release := c.Pin()
		if got := slack(); got != 1 {
			t.Errorf("slack is %d ns while pinned", got)
		}
		release()
		if got := slack(); got != before {
			t.Errorf("slack is %d ns after, %d before", got, before)
		}
	}()
	<-done
}

func TestWaitAllocatesNothing(t *testing.T) {
	c := NewReal()
	defer c.Close()
	if n := testing.AllocsPerRun(20, func() { c.Wait(c.Now() + int64(50*time.Microsecond)) }); n > 0 {
		t.Errorf("%v allocations a wait", n)
	}
}
