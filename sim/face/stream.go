package face

import (
	"context"
	"net/http"
	"sync"
)

// outflow is the way of a stream to its client. Two may write, never at once:
// the emitter, which never waits, straight to the connection; and the
// goroutine of the request wherever the emitter cannot: the head of the
// response, what a connection did not take at once, and everything where there
// is no direct line.
type outflow struct {
	x     *Exchange
	f     Frames
	w     http.ResponseWriter
	flush *http.ResponseController
	line  *line // nil: there is none

	turn    sync.Mutex // held to write, and to change whose turn it is
	byHand  bool       // the request's goroutine writes
	headed  bool       // the head of the response is out
	blocked bool       // the client does not read, or did not
	over    bool       // nobody writes any more
	done    bool       // all is written
	rest    []byte     // of a write that the connection did not take whole
	err     error
}

// begin makes the way of a stream, before the engine has the request.
func (x *Exchange) begin(ctx context.Context, w http.ResponseWriter) {
	if x.ask.Stream == nil {
		return
	}
	x.out = &outflow{x: x, f: x.ask.Stream(x), w: w, flush: http.NewResponseController(w), byHand: true}
	if x.service.Emitter != nil {
		x.out.line = lineTo(ctx, w)
	}
}

// run writes the stream, or lets the emitter do it, until its end or until the
// client is gone.
func (o *outflow) run(ctx context.Context) error {
	defer o.leave()
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	if o.x.ask.ContentType != "" {
		h.Set("Content-Type", o.x.ask.ContentType)
	}
	h.Set("Cache-Control", "no-cache")
	buf := make([]byte, 0, 512)
	if f, ok := o.f.(Opener); ok {
		buf = f.Open(buf, o.x)
	}
	if !o.x.ask.LateHeaders {
		o.w.WriteHeader(http.StatusOK)
		if err := o.send(buf); err != nil {
			return err
		}
		buf = buf[:0]
		o.release()
	}
	for {
		if err := o.x.wait(ctx); err != nil {
			return err
		}
		done, err := o.hand(buf)
		if done || err != nil {
			return err
		}
		if o.headed {
			buf = buf[:0]
		}
	}
}

// leave keeps the emitter from a connection that is net/http's again.
func (o *outflow) leave() {
	o.turn.Lock()
	o.over = true
	o.turn.Unlock()
}

// hand does what is the request's goroutine's to do; done tells that all is
// written, by whomever. What stands in buf goes before the first token.
func (o *outflow) hand(buf []byte) (done bool, err error) {
	o.turn.Lock()
	byHand, rest := o.byHand, o.rest
	done, err = o.done, o.err
	o.rest = nil
	o.turn.Unlock()
	if len(rest) > 0 && err == nil {
		_, err = o.line.conn.Write(rest)
	}
	if !byHand || err != nil || done {
		return done, err
	}
	if o.line == nil || !o.headed {
		buf, tokens, since, done := o.render(buf)
		if len(buf) == 0 && tokens == 0 && !done {
			return false, nil
		}
		o.x.stamp(tokens, since, false)
		if err := o.send(buf); err != nil || done {
			return done, err
		}
	}
	o.release()
	return false, nil
}

// release gives the turn to the emitter, where there is a line.
func (o *outflow) release() {
	o.headed = true
	if o.line == nil {
		return
	}
	o.turn.Lock()
	o.byHand = false
	news := o.x.news()
	o.turn.Unlock()
	if news {
		o.x.tell()
	}
}

// send writes through net/http.
func (o *outflow) send(b []byte) error {
	if len(b) > 0 {
		if _, err := o.w.Write(b); err != nil {
			return err
		}
	}
	return o.flush.Flush()
}

// emit writes what is new, with buf as its memory, from a writer of the
// emitter. It never waits.
func (o *outflow) emit(buf []byte) []byte {
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.byHand || o.over {
		o.x.heard()
		o.x.wake()
		return buf
	}
	if o.done || o.err != nil {
		return buf
	}
	b, tokens, since, done := o.render(append(buf[:0], "----------"[:room]...))
	buf = b
	o.x.stamp(tokens, since, o.blocked)
	o.blocked = false
	if len(b) > room {
		b = o.line.frame(b)
		n, err := o.line.write(b)
		if o.err = err; err == nil && n < len(b) {
			o.rest = append([]byte(nil), b[n:]...)
			o.byHand, o.blocked = true, true
		}
	}
	o.done = done
	if o.done || o.byHand || o.err != nil {
		o.x.wake()
	}
	return buf
}

// render appends what the face makes of the choices' tokens and ends, all at
// one moment. since is the engine's moment of the oldest of the tokens.
func (o *outflow) render(b []byte) (_ []byte, tokens, since int64, done bool) {
	since, done = o.x.take()
	for i := range o.x.Choices {
		c := &o.x.Choices[i]
		tokens += c.taken.tokens
		b = c.write(b, o.f)
	}
	if done {
		b = o.f.Close(b, o.x)
	}
	return b, tokens, since, done
}

// write appends what is new of a choice.
func (c *Choice) write(b []byte, f Frames) []byte {
	for range c.taken.tokens {
		b = f.Token(b, c, c.next())
	}
	if c.taken.finish != "" && c.Finish == "" {
		c.Finish = c.taken.finish
		b = f.Finish(b, c)
	}
	return b
}

// stamp notes the moment before n tokens are written, the oldest of which the
// engine gave at since; held says that they waited for the client.
func (x *Exchange) stamp(n, since int64, held bool) {
	if n == 0 {
		return
	}
	now := x.service.loop.Now()
	if e := x.service.Emitter; e != nil && held {
		e.late.held.Add(n)
	} else if e != nil {
		e.late.add(n, now-since)
	}
	x.last = x.unix(now)
	if x.first == 0 {
		x.first = x.last
	}
	if x.service.LogTokens {
		for range n {
			x.written = append(x.written, x.last)
		}
	}
}
