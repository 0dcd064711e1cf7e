package clock

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// policy is the scheduling policy of a thread; 0 is the calling one.
func policy(t *testing.T, thread int) uint32 {
	t.Helper()
	a, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a.Policy
}

// TestLead: the thread that leads is ahead of others, and gives all of it back.
func TestLead(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if policy(t, 0) != unix.SCHED_NORMAL {
		t.Skip("the tests have a priority of their own")
	}
	t.Setenv("GOMAXPROCS", "")
	procs := runtime.GOMAXPROCS(0)
	may := MayLead()
	if got := policy(t, 0); got != unix.SCHED_NORMAL {
		t.Fatalf("the question leaves policy %d", got)
	}
	c := NewReal()
	defer c.Close()
	release, first := c.Lead()
	if first != may {
		t.Errorf("allowed: %v, said before: %v", first, may)
	}
	want := uint32(unix.SCHED_NORMAL)
	if first {
		want = unix.SCHED_FIFO
	}
	if got := policy(t, 0); got != want {
		t.Errorf("policy %d while leading, want %d", got, want)
	}
	if got := runtime.GOMAXPROCS(0); got != procs+spareProcs {
		t.Errorf("%d of Go's processors while leading, %d before", got, procs)
	}
	var inherited uint32
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		inherited = policy(t, 0)
	}()
	<-done
	if inherited != unix.SCHED_NORMAL {
		t.Errorf("another goroutine's thread has policy %d", inherited)
	}
	release()
	if got := policy(t, 0); got != unix.SCHED_NORMAL {
		t.Errorf("policy %d after", got)
	}
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("%d of Go's processors after, %d before", got, procs)
	}
}

// TestLeadHeedsGOMAXPROCS: who set the number of processors gets that number.
func TestLeadHeedsGOMAXPROCS(t *testing.T) {
	t.Setenv("GOMAXPROCS", "3")
	c := NewReal()
	defer c.Close()
	procs := runtime.GOMAXPROCS(0)
	release, _ := c.Lead()
	defer release()
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("%d of Go's processors while leading, %d before", got, procs)
	}
}
