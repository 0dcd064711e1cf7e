package wiretest

import (
	"bytes"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// Event is one event as a sink saw it.
type Event struct {
	Data  []byte
	At    int64
	Flags uint8
}

// Recording is a sink that keeps everything and notices calls out of order.
type Recording struct {
	// X is the exchange; read it after Wait.
	X wire.Exchange
	// Events are all events in order.
	Events []Event
	// OnSegment, where set, is called with each segment.
	OnSegment func(*wire.Segment)

	mu      sync.Mutex
	busy    bool
	ended   int
	trouble []string
	done    chan struct{}
}

// Start begins r on tr and returns the recording of it.
func Start(tr wire.Transport, r *wire.Request) *Recording {
	rec := NewRecording(r)
	tr.Start(&rec.X)
	return rec
}

// NewRecording returns a recording whose exchange is ready for a Start.
func NewRecording(r *wire.Request) *Recording {
	rec := &Recording{done: make(chan struct{})}
	rec.X.Reset(r, rec)
	return rec
}

// Segment keeps the events of s.
func (r *Recording) Segment(x *wire.Exchange, s *wire.Segment) {
	defer r.enter(x, "Segment")()
	if r.OnSegment != nil {
		r.OnSegment(s)
	}
	end := int32(0)
	for _, e := range s.Events {
		if e.Start != end || e.End <= e.Start || int(e.End) > len(s.Data) {
			r.trouble = append(r.trouble, fmt.Sprintf("event %d:%d after %d in %d bytes", e.Start, e.End, end, len(s.Data)))
		}
		end = e.End
		r.Events = append(r.Events, Event{bytes.Clone(s.Data[e.Start:e.End]), e.At, e.Flags})
	}
}

// Ended notes the end.
func (r *Recording) Ended(x *wire.Exchange) {
	defer r.enter(x, "Ended")()
	if r.ended++; r.ended == 1 {
		close(r.done)
	}
}

// enter checks that calls come one at a time, for the right exchange, and
// none after the end.
func (r *Recording) enter(x *wire.Exchange, call string) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.trouble = append(r.trouble, call+" while another call is under way")
	}
	if r.ended > 0 {
		r.trouble = append(r.trouble, call+" after Ended")
	}
	if x != &r.X {
		r.trouble = append(r.trouble, call+" for another exchange")
	}
	r.busy = true
	return func() { r.mu.Lock(); r.busy = false; r.mu.Unlock() }
}

// patience is how long a test waits for what ought to come at once.
const patience = 30 * time.Second

// Wait waits for the end.
func (r *Recording) Wait(t testing.TB) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatal("the exchange never ended")
	}
}

// Check fails the test where the calls or the moments were out of order.
func (r *Recording) Check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.trouble {
		t.Error(s)
	}
	if r.ended != 1 {
		t.Errorf("Ended %d times, want once", r.ended)
	}
	x := &r.X
	last, lastName := wire.NotReached, "start"
	for _, m := range []struct {
		name string
		at   int64
	}{{"ConnStart", x.ConnStart}, {"ConnReady", x.ConnReady}, {"WriteStart", x.WriteStart}, {"Sent", x.Sent}, {"End", x.End}} {
		if m.at == wire.NotReached {
			continue
		}
		if m.at < last {
			t.Errorf("%s at %d is before %s at %d", m.name, m.at, lastName, last)
		}
		last, lastName = m.at, m.name
	}
	if x.End == wire.NotReached {
		t.Error("no End")
	}
	if (x.Cause == wire.Completed) != (x.Err == nil) {
		t.Errorf("cause %v with error %v", x.Cause, x.Err)
	}
	if len(r.Events) > 0 {
		r.checkStamps(t)
	}
}

// checkStamps allows kernel stamps the error that they state.
func (r *Recording) checkStamps(t testing.TB) {
	t.Helper()
	x := &r.X
	if x.FirstByte == wire.NotReached || x.Status == 0 {
		t.Errorf("events without a first byte (%d) or a status (%d)", x.FirstByte, x.Status)
	}
	slack := x.ClockError + int64(time.Millisecond)
	at := x.FirstByte
	for i, e := range r.Events {
		if e.At < at-slack || e.At > x.End+slack {
			t.Fatalf("event %d at %d is not between %d and the end at %d", i, e.At, at, x.End)
		}
		at = e.At
	}
}

// Post returns a streaming request of a chat at base.
func Post(base string, limits wire.Limits) *wire.Request {
	u, err := url.Parse(base + "/v1/chat/completions")
	if err != nil {
		panic(err) // a test's own mistake
	}
	return &wire.Request{Method: "POST", URL: u, Framing: wire.SSE, Limits: limits, IsToken: HasData,
		Header: []wire.Field{{Name: "Content-Type", Value: "application/json"}},
		Body:   []byte(`{"model":"fault-model","stream":true,"stream_options":{"include_usage":true},"max_tokens":8,"messages":[{"role":"user","content":"one two three"}]}`)}
}

// HasData tells that an event has a data field: not a comment.
func HasData(event []byte) bool { return bytes.Contains(event, []byte("data:")) }
