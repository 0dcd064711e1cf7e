package check

import (
	"context"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
)

// maxBody bounds what is kept of a body.
const maxBody = 4 << 20

// reply is an exchange that has ended.
type reply struct {
	x      wire.Exchange
	body   []byte         // where nothing decodes it
	answer *engine.Answer // where a driver does
	// limit cancels a stream after so many events; 0: never.
	limit  int
	events int
	keep   *Transcript // where raw events go; nil: nowhere

	decoder engine.Decoder
	t       wire.Transport
	done    chan struct{}
}

// Segment takes the next events.
func (r *reply) Segment(x *wire.Exchange, s *wire.Segment) {
	r.events += len(s.Events)
	r.keep.add(s)
	if r.limit > 0 && r.events > r.limit {
		r.t.Cancel(x, wire.Cancelled)
	}
	if r.decoder != nil {
		r.decoder.Segment(s)
		return
	}
	r.body = append(r.body, s.Data[:min(len(s.Data), maxBody-len(r.body))]...)
	if len(r.body) == maxBody { // no answer that is looked at is so long
		r.t.Cancel(x, wire.Cancelled)
	}
}

// Ended is the last call.
func (r *reply) Ended(x *wire.Exchange) {
	if r.decoder != nil {
		r.answer = r.decoder.End(x)
	}
	close(r.done)
}

func (r *reply) cause() string {
	s := r.x.Cause.String()
	if r.x.Err == nil {
		return s
	}
	if text := r.x.Err.Error(); strings.HasPrefix(text, s) { // a deadline's names itself
		return text
	}
	return s + ": " + r.x.Err.Error()
}

// ok tells whether a 2xx came whole.
func (r *reply) ok() bool {
	return r.x.Cause == wire.Completed && r.x.Status >= 200 && r.x.Status <= 299
}

// send sends a request and waits for its end, which comes early with ctx's.
func send(ctx context.Context, t wire.Transport, req *wire.Request) *reply {
	return (&reply{t: t}).run(ctx, req)
}

// call sends a call through a driver.
func call(ctx context.Context, t wire.Transport, d *openai.Driver, c *engine.Call, limit int) (*reply, error) {
	req, err := d.Encode(c)
	if err != nil {
		return nil, err
	}
	r := &reply{t: t, limit: limit, decoder: d.Decoder(c)}
	return r.run(ctx, req), nil
}

func (r *reply) run(ctx context.Context, req *wire.Request) *reply {
	r.done = make(chan struct{})
	r.x.Reset(req, r)
	r.t.Start(&r.x)
	select {
	case <-r.done:
	case <-ctx.Done():
		r.t.Cancel(&r.x, wire.Cancelled)
		<-r.done
	}
	return r
}
