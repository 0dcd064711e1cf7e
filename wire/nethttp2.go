package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/wire/http1"
)

// numbered is a connection with its number.
type numbered struct {
	net.Conn
	id   int64
	used sync.Once
}

// newHTTP2 returns net/http's transport restricted to HTTP/2: over TLS, and
// with prior knowledge over plain TCP.
func (t *netHTTP) newHTTP2() *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{
		Protocols:              protocols,
		DisableCompression:     true,
		DisableKeepAlives:      t.cfg.Reuse == Fresh,
		IdleConnTimeout:        idleAge,
		MaxResponseHeaderBytes: http1.MaxHead,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if t.cfg.UnixSocket != "" {
				network, address = "unix", t.cfg.UnixSocket
			}
			c, err := t.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &numbered{Conn: c, id: t.ids.Add(1)}, nil
		},
	}
	if t.cfg.TLS != nil {
		tr.TLSClientConfig = t.cfg.TLS.Clone()
	}
	if t.cfg.Proxy != nil {
		tr.Proxy = func(r *http.Request) (*url.URL, error) { return t.proxyOf(r.URL) }
	}
	return tr
}

// http2 runs the exchange over HTTP/2.
func (f *flight) http2() (Cause, error) {
	x, r := f.x, f.x.Request
	watch := f.watch()
	defer watch.stop()
	ctx := httptrace.WithClientTrace(f.ctx, f.trace(watch))
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL.String(), nil)
	if err != nil {
		return LocalFailure, err
	}
	if len(r.Body) > 0 {
		// Without GetBody net/http cannot send it again.
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	}
	req.Header = http.Header{"User-Agent": {"tokamak"}, "Accept-Encoding": {"identity"}}
	own := map[string]bool{}
	for _, h := range r.Header {
		name := http.CanonicalHeaderKey(h.Name)
		if !own[name] {
			req.Header.Del(name)
			own[name] = true
		}
		req.Header.Add(name, h.Value)
	}
	x.BytesOut = int64(len(r.Body))
	resp, err := f.t.h2.RoundTrip(req)
	if err != nil {
		return f.tripCause(err), err
	}
	defer resp.Body.Close()
	watch.got(func() { x.FirstByte = f.t.cfg.Clock.Now() })
	header := make([]Field, 0, len(resp.Header))
	for name, values := range resp.Header {
		for _, v := range values {
			header = append(header, Field{Name: name, Value: v})
		}
	}
	protocol := "h2"
	if resp.ProtoMajor != 2 {
		protocol = strings.ToLower(resp.Proto)
	}
	if err := f.begun(resp.StatusCode, protocol, header); err != nil {
		return BadEncoding, err
	}
	return f.read(resp.Body, watch)
}

// read takes the body of an HTTP/2 response.
func (f *flight) read(body io.Reader, watch *alarm) (Cause, error) {
	buf := make([]byte, readSize)
	var st arrival
	for {
		n, err := body.Read(buf)
		st = arrival{at: f.t.cfg.Clock.Now(), read: st.read + 1}
		f.x.BytesIn += int64(n)
		if n > 0 {
			var tooLong error
			watch.got(func() { tooLong = f.body.add(buf[:n], st) })
			if tooLong != nil {
				return TooLong, tooLong
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			f.body.end(st)
			return Completed, nil
		default:
			return ResetLate, err
		}
	}
}

// trace fills in the moments. Its functions come from goroutines of net/http.
func (f *flight) trace(watch *alarm) *httptrace.ClientTrace {
	x, now := f.x, f.t.cfg.Clock.Now
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			watch.got(func() {
				x.ConnReady = now()
				x.WriteStart = x.ConnReady
				c := i.Conn
				if secure, ok := c.(*tls.Conn); ok {
					c = secure.NetConn()
				}
				if n, ok := c.(*numbered); ok {
					x.ConnID, x.ConnReused = n.id, true
					n.used.Do(func() { x.ConnReused = false })
				}
			})
		},
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			watch.got(func() {
				if i.Err == nil {
					x.Sent = now()
				}
			})
		},
	}
}

// tripCause classifies an error of RoundTrip.
func (f *flight) tripCause(err error) Cause {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case f.x.ConnReady != NotReached:
		return f.endCause(err)
	case errors.As(err, &certificate), errors.As(err, &record), strings.Contains(err.Error(), "tls: "),
		errors.As(err, &op) && op.Op == "remote error":
		return TLSFailed
	}
	return connectCause(f.ctx, err)
}

// alarm kills a flight at its next deadline. HTTP/2 has no deadlines on
// streams, so a timer stands for them.
type alarm struct {
	f     *flight
	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

func (f *flight) watch() *alarm {
	a := &alarm{f: f}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(time.Hour, a.ring)
	a.set()
	return a
}

// got runs do, which may move the deadlines, apart from the alarm.
func (a *alarm) got(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	before, _ := a.next()
	do()
	if at, _ := a.next(); at < before {
		a.set()
	}
}

// next is the flight's, and Limits.Connect before there is a connection.
func (a *alarm) next() (int64, Cause) {
	at, cause := a.f.next()
	if c := after(a.f.x.ConnStart, a.f.x.Request.Limits.Connect); a.f.x.ConnReady == NotReached && c < at {
		return c, TimeoutConnect
	}
	return at, cause
}

func (a *alarm) set() {
	if at, _ := a.next(); at != never {
		a.timer.Reset(time.Duration(at - a.f.t.cfg.Clock.Now()))
	}
}

func (a *alarm) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	if at, cause := a.next(); at <= a.f.t.cfg.Clock.Now() {
		a.f.kill(cause)
		return
	}
	a.set()
}

func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.timer.Stop()
}
