package check

import (
	"bytes"
	"context"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// Event is one event of a body as it came: field names, line ends and all. A
// whole body is one event.
type Event struct {
	Data []byte
	At   int64 // arrival of its last byte, ns since the transport's epoch
}

// Transcript is an exchange that has ended.
type Transcript struct {
	Exchange wire.Exchange
	Answer   *engine.Answer // nil without a decoder
	// Events are the whole body up to 4 MiB.
	Events []Event

	size int
}

// add keeps the events of a segment; a nil transcript keeps none.
func (t *Transcript) add(s *wire.Segment) {
	if t == nil {
		return
	}
	for _, e := range s.Events {
		if t.size += int(e.End - e.Start); t.size > maxBody {
			return
		}
		t.Events = append(t.Events, Event{bytes.Clone(s.Data[e.Start:e.End]), e.At})
	}
}

// Send sends a request and waits for its end, which comes early with ctx's, or
// after so many events where limit is not 0. d, where it is not nil, reads the response
// besides.
func Send(ctx context.Context, t wire.Transport, req *wire.Request, d engine.Decoder, limit int) *Transcript {
	out := &Transcript{}
	r := (&reply{t: t, limit: limit, decoder: d, keep: out}).run(ctx, req)
	out.Exchange, out.Answer = r.x, r.answer
	out.Exchange.Sink = nil
	return out
}
