package wiretest

import (
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// Fault is one way for a server to misbehave and what is to be said of it.
type Fault struct {
	// Name is the fault's name and the first segment of its path.
	Name string
	// URL is the base URL at which the fault happens, without /v1.
	URL string
	// Cause is how the exchange ends.
	Cause wire.Cause
	// Status is the HTTP status of the answer; 0 where no head comes.
	Status int
	// Outcome is the row's outcome in record's words.
	Outcome string
	// ErrorClass is the row's error_class: wire's word for the cause, else
	// that of the OpenAI driver; empty where the row has none.
	ErrorClass string
	// Violations and Notes are words the row must hold; it may hold more.
	Violations, Notes []string
	// Limits are deadlines under which the fault ends soon; only the one that
	// is to strike is set.
	Limits wire.Limits
	// Warmups is how many requests must have gone over the same connection
	// before the fault shows.
	Warmups int
	// Coalesced tells that events share writes and must be flagged.
	Coalesced bool

	serve func(*peer) (keep bool)
}

// soon is the deadline of faults that wait for one.
const soon = 250 * time.Millisecond

// faults lists everything that happens on an ordinary connection.
func faults() []Fault {
	var all []Fault
	for _, group := range [][]Fault{connectionFaults(), headFaults(), bodyFaults(), streamFaults(), statusFaults()} {
		all = append(all, group...)
	}
	for i := range all {
		all[i].complete()
	}
	return all
}

// complete fills what follows from the cause and the status.
func (f *Fault) complete() {
	if f.ErrorClass == "" && f.Cause != wire.Completed {
		f.ErrorClass = f.Cause.String()
	}
	if f.Outcome == "" {
		f.Outcome = outcomeOf(f.Cause)
	}
}

func outcomeOf(c wire.Cause) string {
	switch c {
	case wire.Completed:
		return "ok"
	case wire.TimeoutConnect, wire.TimeoutFirstByte, wire.TimeoutFirstToken, wire.TimeoutStall, wire.TimeoutTotal:
		return "timeout"
	case wire.ResetLate, wire.BadBody, wire.TooLong, wire.BadEncoding:
		return "stream_broken"
	}
	return "transport_error"
}
