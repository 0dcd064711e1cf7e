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

// http1 runs the exchange over HTTP/1.1.
func (f *flight) http1() (Cause, error) {
	x, now := f.x, f.t.cfg.Clock.Now
	head, err := appendHead(nil, x.Request, f.t.cfg.Reuse == Fresh)
	if err != nil {
		return LocalFailure, err
	}
	c, cause, err := f.connect()
	if err != nil {
		return cause, err
	}
	x.ConnReady, x.ConnID, x.ConnReused = now(), c.id, c.kept
	c.used = true
	f.attach(c)
	cause, err = f.exchange(c, c.proxied(head, x.Request.URL))
	if x.Stamps == KernelStamps {
		x.ClockError = f.t.stamps.clockError()
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

// exchange writes the request and reads the response.
func (f *flight) exchange(c *netConn, head []byte) (Cause, error) {
	x, good := f.x, c.stamps.good
	c.parser.Reset(x.Request.Method)
	d := &readLimits{flight: f, conn: c}
	sendErr := f.send(c, head, d)
	c.spoilt = sendErr != nil
	cause, err := f.receive(c, d)
	if c.stamps.good > good {
		x.Stamps = KernelStamps
	}
	// A server may answer before it has read all, and close: its answer says
	// more than our failed write.
	if err != nil && sendErr != nil && x.Status == 0 {
		return d.causeOf(sendErr)
	}
	return cause, err
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
