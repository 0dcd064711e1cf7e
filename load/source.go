package load

// Due is a moment at which the next session, or lone request, ought to begin.
type Due struct {
	At    int64 // ns since the start of the load
	Index int64 // 0, 1, 2, … in the order in which dues are taken
	Stage int   // index of the stage it belongs to
	User  int64 // closed loop: which user, from 0; open loop: NoUser
}

// NoUser is the user of an open loop's dues.
const NoUser = int64(-1)

// State says what Peek found.
type State uint8

// The states of a source.
const (
	Ready    State = iota // the due is valid
	Waiting               // nothing until a user's session ends; nothing at all from Due.At on
	Finished              // nothing ever again
)

// Source yields moments in order of time. It belongs to one goroutine.
type Source interface {
	// Peek returns the earliest due that is known.
	Peek() (Due, State)
	// Pop takes the due that Peek returned.
	Pop()
	// Ended tells that the session of a closed loop's user ended at a moment.
	Ended(user, at int64)
}
