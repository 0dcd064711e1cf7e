package record

// Event is one line of events.jsonl: something that happened once, such as the
// start of a stage, a fault, an abort or a notice to the user.
type Event struct {
	At     int64          `json:"at"`               // ns since the run's epoch
	Kind   string         `json:"kind"`             // one of the kinds below, or a probe's own
	Name   string         `json:"name"`             // which of its kind
	Detail map[string]any `json:"detail,omitempty"` // what else is known; durations in ns
}

// Kinds of events that the core writes.
const (
	StageEvent   = "stage"   // a stage of the load began or ended
	AbortEvent   = "abort"   // an abort rule struck, or the user interrupted
	NoticeEvent  = "notice"  // something the user should read
	StoppedEvent = "stopped" // the client itself stood still; detail has ns
	ClockEvent   = "clock"   // the realtime clock was set during the run
)
