package clock

import "time"

// Clock tells a run's time and waits for moments of it.
type Clock interface {
	// Now returns nanoseconds since the epoch.
	Now() int64
	// Wait returns at the moment until, or earlier with true if Wake was
	// called since the last Wait returned. Only one goroutine may wait.
	Wait(until int64) (woken bool)
	// Wake ends the current Wait, or the next one at once. It may be called
	// from any goroutine.
	Wake()
	// Epoch is the moment 0 in civil time.
	Epoch() time.Time
}

// Loop runs callbacks one at a time, in order of their moments.
type Loop interface {
	// Now returns nanoseconds since the epoch.
	Now() int64
	// At calls f at the moment t, or as soon as possible after it. Callbacks
	// of one moment run in the order in which they were given.
	// It may be called only from inside a callback of this loop.
	At(t int64, f func())
	// Post calls f as soon as possible. It may be called from any goroutine.
	Post(f func())
}

// Forever is a moment that never comes.
const Forever = int64(1<<63 - 1)
