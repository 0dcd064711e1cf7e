package face

import (
	"context"
	"net/http"
	"time"
)

// stream writes what the face makes of the choices' tokens and ends, at once.
func (x *Exchange) stream(ctx context.Context, w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	if x.ask.ContentType != "" {
		h.Set("Content-Type", x.ask.ContentType)
	}
	h.Set("Cache-Control", "no-cache")
	out := http.NewResponseController(w)
	f := x.ask.Stream(x)
	buf := make([]byte, 0, 512)
	if o, ok := f.(Opener); ok {
		buf = o.Open(buf, x)
	}
	if !x.ask.LateHeaders {
		w.WriteHeader(http.StatusOK)
		if err := send(w, out, buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	for {
		if err := x.wait(ctx); err != nil {
			return err
		}
		done := x.take()
		tokens := int64(0)
		for i := range x.Choices {
			c := &x.Choices[i]
			tokens += c.taken.tokens
			buf = c.write(buf, f)
		}
		if done {
			buf = f.Close(buf, x)
		}
		if len(buf) == 0 && tokens == 0 && !done {
			continue
		}
		x.stamp(tokens)
		if err := send(w, out, buf); err != nil {
			return err
		}
		if done {
			return nil
		}
		buf = buf[:0]
	}
}

func send(w http.ResponseWriter, out *http.ResponseController, b []byte) error {
	if len(b) > 0 {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
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

// stamp notes the moment before n tokens are written.
func (x *Exchange) stamp(n int64) {
	if n == 0 {
		return
	}
	x.last = time.Now().UnixNano()
	if x.first == 0 {
		x.first = x.last
	}
	if x.service.LogTokens {
		for range n {
			x.written = append(x.written, x.last)
		}
	}
}
