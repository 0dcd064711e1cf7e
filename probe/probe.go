package probe

import "github.com/tokamak-bench/tokamak/record"

// Clock is the part of the run's clock that a collector needs.
type Clock interface {
	// Now returns nanoseconds since the run's epoch.
	Now() int64
}

// Sink takes readings and events; a run directory's writer is one. It must
// allow calls from any goroutine.
type Sink interface {
	Sample(s record.Sample) error
	Event(e record.Event) error
}
