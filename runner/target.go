package runner

import (
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

// Target is the service under test as the loop sees it.
type Target interface {
	// Prepare does what can be done before the call's moment, such as
	// writing its text. It may be called well before Start, from any goroutine.
	Prepare(c *Call) error
	// Start begins the call and returns at once; sink.Ended(c) is called
	// exactly once, from any goroutine, when its Row is complete but for
	// what the loop itself knows.
	Start(c *Call, sink Sink)
	// Cancel ends a call early with the outcome Cut or Abandoned.
	Cancel(c *Call, why record.Outcome)
}

// Sink hears of the end of calls.
type Sink interface{ Ended(c *Call) }

// Call is one attempt under way. The loop owns it until Start and from Ended
// on, the target in between.
type Call struct {
	Spec   *workload.Request
	Row    record.Attempt
	Answer workload.Answer // for the session's next turn
	// Again is set by the target when the attempt failed only because of a
	// field that tokamak added by itself: the same request is to be sent once
	// more at once.
	Again bool

	session  workload.Session
	number   int64 // of the session
	user     int64
	at       int64 // moment of a turn or retry
	retries  int
	leaves   int64 // when its user gives up; 0: never
	place    int   // in the queue that holds it, from 1; 0: none does
	prepared any   // the target's
	inFlight any   // the target's
}

// Recorder takes what happened. It is called from the loop only.
type Recorder interface {
	Dispatched(a *record.Attempt) error
	Ended(a *record.Attempt) error
}
