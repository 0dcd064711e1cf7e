package clock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// kernelWaiter sleeps in ppoll on an eventfd: the Go runtime's timers are
// late by about 0.6 ms in the median, since its poller waits in whole
// milliseconds, where a thread of its own with a timer slack of 1 ns is late
// by 0.05 to 0.1 ms.
type kernelWaiter struct {
	fd      int
	pending atomic.Bool
	// mu keeps a late wake-up from writing into a descriptor that was closed
	// and given to someone else.
	mu     sync.Mutex
	closed bool
	// set and delay are the arguments of ppoll, kept so that a wait allocates
	// nothing.
	set   [1]unix.PollFd
	delay unix.Timespec
}

// newKernelWaiter falls back to the runtime's timers where the process has no
// file descriptor left for an eventfd.
func newKernelWaiter() waiter {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return newTimerWaiter()
	}
	return &kernelWaiter{fd: fd}
}

func (w *kernelWaiter) wait(d time.Duration) bool {
	if w.pending.Load() {
		w.drain()
		return true
	}
	if d <= 0 {
		return false
	}
	w.set[0] = unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN}
	w.delay = unix.NsecToTimespec(int64(d))
	// EINTR (the runtime's preemption signal) is an early end: the caller
	// computes the remaining time again.
	n, _ := unix.Ppoll(w.set[:], &w.delay, nil)
	if n > 0 {
		w.drain()
		return true
	}
	return false
}

// drain forgets the wake-up before the caller looks at what woke it, so that
// a Wake after this point is never lost.
func (w *kernelWaiter) drain() {
	var b [8]byte
	_, _ = unix.Read(w.fd, b[:])
	w.pending.Swap(false) // and not Store: it must see what came before the wake-up
}

func (w *kernelWaiter) wake() {
	if w.pending.Swap(true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		one := [8]byte{1}
		_, _ = unix.Write(w.fd, one[:])
	}
}

func (w *kernelWaiter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		_ = unix.Close(w.fd)
	}
}

// Pin locks the calling goroutine to its thread and asks the kernel for exact
// timers on it. Call the returned function when done.
func (r *Real) Pin() (release func()) {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return func() {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)
		runtime.UnlockOSThread()
	}
}
