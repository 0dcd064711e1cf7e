package wire

import (
	"errors"
	"fmt"
)

// errTooLong marks an event over Config.MaxEvent.
var errTooLong = errors.New("event over the limit")

// assembly makes events and segments of the bytes of one body.
type assembly struct {
	x        *Exchange
	framer   Framer
	segment  *Segment
	start    int // of the event under way, in segment.Data
	maxEvent int
	maxBody  int
	last     uint64 // the read that the event before ended in
	token    bool   // the first token was seen
	newest   int64  // arrival of the newest event
	hand     func(*Segment)
	spare    *segments
}

// begin takes the framing from the response's head.
func (a *assembly) begin(x *Exchange) {
	a.x = x
	a.framer = NewFramer(x.ContentFraming)
	a.segment = a.spare.get()
}

// add takes the next bytes of the body, which arrived as st says.
func (a *assembly) add(b []byte, st arrival) error {
	if a.x.ContentFraming == Whole {
		a.keep(b)
		a.newest = st.at
		return nil
	}
	// A full segment leaves only when another read begins: until then an
	// event of it may turn out to have met another.
	if st.read != a.last && (len(a.segment.Data)+len(b) > segmentSize || len(a.segment.Events) >= segmentEvents) {
		a.flush()
	}
	a.segment.Data = append(a.segment.Data, b...)
	for end := a.framer.Next(a.segment.Data); end >= 0; end = a.framer.Next(a.segment.Data) {
		if end-a.start > a.maxEvent {
			return fmt.Errorf("%w: %d bytes, at most %d", errTooLong, end-a.start, a.maxEvent)
		}
		a.event(end, st)
	}
	if events := a.segment.Events; a.last == st.read && len(events) > 0 && a.framer.Partial() {
		// The first bytes of another event behind it share its stamp too.
		events[len(events)-1].Flags |= Coalesced
	}
	if n := len(a.segment.Data) - a.start; n > a.maxEvent {
		return fmt.Errorf("%w: over %d bytes without an end", errTooLong, a.maxEvent)
	}
	return nil
}

// keep takes the bytes of a Whole body up to the limit.
func (a *assembly) keep(b []byte) {
	if room := a.maxBody - len(a.segment.Data); len(b) > room {
		b = b[:room]
		a.x.BodyTruncatedAt = int64(a.maxBody)
	}
	a.segment.Data = append(a.segment.Data, b...)
}

// event ends an event of the segment.
func (a *assembly) event(end int, st arrival) {
	s := a.segment
	flags := st.flags
	if st.read == a.last && st.read != 0 {
		flags |= Coalesced
		if n := len(s.Events); n > 0 {
			s.Events[n-1].Flags |= Coalesced
		}
	}
	a.last = st.read
	s.Events = append(s.Events, Event{Start: int32(a.start), End: int32(end), At: st.at, Flags: flags})
	if !a.token {
		is := a.x.Request.IsToken
		a.token = is == nil || is(s.Data[a.start:end])
	}
	a.start, a.newest = end, st.at
}

// flush hands the whole events on and keeps what is left of the next one.
func (a *assembly) flush() {
	s := a.segment
	if len(s.Events) == 0 {
		return
	}
	a.segment = a.spare.get()
	a.segment.Data = append(a.segment.Data, s.Data[a.start:]...)
	s.Data = s.Data[:a.start]
	a.framer.Moved(a.start)
	a.start = 0
	a.hand(s)
}

// end makes the last event of what is left when the body is complete.
func (a *assembly) end(st arrival) {
	n := len(a.segment.Data)
	whole := a.x.ContentFraming == Whole && n > 0
	if !whole && (n == a.start || !a.framer.Partial()) {
		return
	}
	a.event(n, st)
}

// take returns the last segment, nil where it holds no event.
func (a *assembly) take() *Segment {
	s := a.segment
	a.segment = nil
	if s == nil {
		return nil
	}
	if len(s.Events) == 0 {
		a.spare.put(s)
		return nil
	}
	s.Data = s.Data[:a.start]
	return s
}
