package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/tokamak-bench/tokamak/wire/http1"
)

// readSize is the room for one read.
const readSize = 8 << 10

// hasten sends the request at once, on the caller's goroutine, where that
// cannot block: a small one over a connection that lies idle, so that the send
// buffer is empty. It spares the request the start of a goroutine.
func (f *flight) hasten() {
	x := f.x
	if len(x.Request.Body) > smallBody {
		return
	}
	head, err := appendHead(nil, x.Request, f.t.cfg.Reuse == Fresh)
	if err != nil {
		return // http1 will say so
	}
	if c := f.t.pool.take(connKey(x.Request.URL)); c != nil {
		f.leave(c, head)
	}
}

// http1 runs the exchange over HTTP/1.1.
func (f *flight) http1() (Cause, error) {
	if f.limits == nil {
		head, err := appendHead(nil, f.x.Request, f.t.cfg.Reuse == Fresh)
		if err != nil {
			return LocalFailure, err
		}
		c, cause, err := f.connect()
		if err != nil {
			return cause, err
		}
		f.leave(c, head)
	}
	c := f.limits.conn
	cause, err := f.receive(c, f.limits)
	// A server may answer before it has read all, and close: its answer says
	// more than our failed write.
	if err != nil && f.sendErr != nil && f.x.Status == 0 {
		cause, err = f.limits.causeOf(f.sendErr)
	}
	f.attach(nil)
	if err == nil && c.parser.KeepAlive() && !c.spoilt && f.ctx.Err() == nil {
		f.t.pool.put(c)
	} else {
		c.cut()
	}
	return cause, err
}

// connect takes an idle connection or opens one.
func (f *flight) connect() (*netConn, Cause, error) {
	u, limits := f.x.Request.URL, f.x.Request.Limits
	if c := f.t.pool.take(connKey(u)); c != nil {
		return c, Completed, nil
	}
	ctx := f.ctx
	if limits.Connect > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limits.Connect, causeError(TimeoutConnect))
		defer stop()
	}
	c, err := f.t.open(ctx, u)
	if err == nil {
		return c, Completed, nil
	}
	cause := connectCause(ctx, err)
	return nil, cause, err
}

// leave takes the connection for the exchange and sends the request.
func (f *flight) leave(c *netConn, head []byte) {
	x := f.x
	x.ConnReady, x.ConnID, x.ConnReused = f.t.cfg.Clock.Now(), c.id, c.kept
	c.used = true
	c.parser.Reset(x.Request.Method)
	f.attach(c)
	f.limits = &readLimits{flight: f, conn: c}
	f.sendErr = f.send(c, c.proxied(head, x.Request.URL), f.limits)
	c.spoilt = f.sendErr != nil
}

// smallBody is what is copied to leave in one write with the head.
const smallBody = 32 << 10

func (f *flight) send(c *netConn, head []byte, d *readLimits) error {
	x := f.x
	if total := d.total(); total != never {
		_ = c.SetWriteDeadline(d.time(total))
	} else {
		_ = c.SetWriteDeadline(time.Time{})
	}
	body := x.Request.Body
	if len(body) <= smallBody {
		head, body = append(head, body...), nil
	}
	x.WriteStart = f.t.cfg.Clock.Now()
	n, err := c.Write(head)
	x.BytesOut = int64(n)
	if err == nil && len(body) > 0 {
		n, err = c.Write(body)
		x.BytesOut += int64(n)
	}
	if err == nil {
		x.Sent = f.t.cfg.Clock.Now()
	}
	return err
}

// receive reads the response to its end.
func (f *flight) receive(c *netConn, d *readLimits) (Cause, error) {
	if c.buf == nil {
		c.buf = make([]byte, readSize)
	}
	good := c.stamps.good
	defer func() {
		if c.stamps.good > good {
			f.x.Stamps, f.x.ClockError = KernelStamps, f.t.stamps.clockError()
		}
	}()
	for {
		d.arm()
		n, err := c.Read(c.buf)
		if n > 0 {
			if cause, err := f.take(c, c.buf[:n]); err != nil {
				return cause, err
			}
			if c.parser.Done() {
				return Completed, nil
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			if cause, over := d.struck(); over {
				return cause, causeError(cause)
			}
		case errors.Is(err, io.EOF):
			if err := c.parser.Close(); err != nil {
				return d.causeOf(err)
			}
			f.body.end(c.stamps.last)
			return Completed, nil
		default:
			return d.causeOf(err)
		}
	}
}

// take parses what one read brought.
func (f *flight) take(c *netConn, b []byte) (Cause, error) {
	x, st := f.x, c.stamps.last
	if x.FirstByte == NotReached {
		x.FirstByte = st.at
		if x.Sent != NotReached {
			x.Sent = min(x.Sent, st.at) // the clock read after the write was late
		}
	}
	x.BytesIn += int64(len(b))
	for len(b) > 0 && !c.parser.Done() {
		used, body, err := c.parser.Next(b)
		if err != nil {
			return parseCause(err), err
		}
		b = b[used:]
		if x.Status == 0 && c.parser.Head() != nil {
			if err := f.head(c.parser.Head()); err != nil {
				return BadEncoding, err
			}
		}
		if len(body) > 0 {
			if err := f.body.add(body, st); err != nil {
				return TooLong, err
			}
		}
	}
	if c.parser.Done() {
		f.body.end(st)
		if len(b) > 0 {
			c.spoilt = true // what follows was not asked for
		}
	}
	return Completed, nil
}

func (f *flight) head(h *http1.Head) error {
	protocol := "http/1.1"
	if h.Minor == 0 {
		protocol = "http/1.0"
	}
	return f.begun(h.Status, protocol, h.Header)
}

func parseCause(err error) Cause {
	if errors.Is(err, http1.ErrHead) || errors.Is(err, http1.ErrHeadLong) {
		return BadHead
	}
	return BadBody
}

// endCause says why the connection ended, by how far the response had come.
func (f *flight) endCause(err error) Cause {
	x := f.x
	var op *net.OpError
	switch {
	case x.FirstByte != NotReached:
		return ResetLate
	case errors.As(err, &op) && op.Op == "remote error":
		return TLSFailed // TLS 1.3 servers refuse a client's certificate after the handshake
	case x.ConnReused:
		return StaleConnection
	}
	return ResetEarly
}
