//go:build !linux

package clock

func newKernelWaiter() waiter { return newTimerWaiter() }

// Pin prepares the calling goroutine for precise waiting; here it does nothing.
func (r *Real) Pin() (release func()) { return func() {} }
