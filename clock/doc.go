// Package clock is a run's time.
//
// Every moment in tokamak is an int64 number of nanoseconds since the run's
// epoch, on a monotonic clock. Two things can be asked of it: what time it is
// and to wait ([Clock]), and to call a function at a moment ([Loop]). [Real]
// and [RealLoop] follow the machine's clock; [Virtual] is both at once and
// jumps from event to event, so that an hour passes in the time that its
// events take to compute. Under testing/synctest a Real made with the
// portable waiter follows the bubble's fake time.
package clock
