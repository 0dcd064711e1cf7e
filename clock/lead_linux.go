package clock

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// leadPriority is the lowest of the real-time ones: any of them is ahead of
// every ordinary thread.
const leadPriority = 1

// spareProcs is how many of Go's processors are added for a thread that leads:
// one that waits in the kernel has lent its own, and would wait up to a
// preemption (10 ms) for another where goroutines keep all of them busy.
const spareProcs = 2

// Lead pins as [Real.Pin] does, adds to GOMAXPROCS where the environment does
// not set it, and gives the thread a real-time priority, so that neither
// another process nor a server that its own write has just woken takes the
// processor from it. first is false where the system does not allow that
// priority (it takes root, CAP_SYS_NICE or an RLIMIT_RTPRIO), and on a single
// processor, where a thread that never lets go would keep the readers of
// answers from running.
func (r *Real) Lead() (release func(), first bool) {
	procs := 0
	if os.Getenv("GOMAXPROCS") == "" {
		procs = spareProcs
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + procs)
	unpin := r.Pin()
	back, first := lead()
	return func() {
		back()
		unpin()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - procs)
	}, first
}

// MayLead says whether Lead would be allowed a real-time priority.
func MayLead() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	back, first := lead()
	back()
	return first
}

// lead raises the calling thread; back puts it where it was.
func lead() (back func(), ok bool) {
	back = func() {}
	if runtime.NumCPU() < 2 {
		return back, false
	}
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil || before.Policy != unix.SCHED_NORMAL {
		return back, false
	}
	// What the thread starts must not be ahead of the others too.
	ahead := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: leadPriority, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, &ahead, 0) != nil {
		return back, false
	}
	return func() { _ = unix.SchedSetAttr(0, before, 0) }, true
}
