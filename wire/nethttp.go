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
)

// NewNetHTTP returns the transport that goes through net/http.
func NewNetHTTP(cfg Config) Transport {
	cfg = cfg.withDefaults()
	t := &netHTTP{cfg: cfg, live: map[*Exchange]context.CancelCauseFunc{}}
	dialer := &net.Dialer{}
	tr := &http.Transport{
		DisableCompression:  true,
		MaxIdleConnsPerHost: 1 << 20,
		DisableKeepAlives:   cfg.Reuse == Fresh,
		TLSClientConfig:     cfg.TLS,
		ForceAttemptHTTP2:   cfg.HTTP2,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if cfg.UnixSocket != "" {
				network, addr = "unix", cfg.UnixSocket
			}
			return dialer.DialContext(ctx, network, addr)
		},
	}
	if cfg.Proxy != nil {
		tr.Proxy = func(r *http.Request) (*url.URL, error) { return cfg.Proxy(r.URL) }
	}
	if !cfg.HTTP2 {
		tr.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	t.transport = tr
	return t
}

type netHTTP struct {
	cfg       Config
	transport *http.Transport
	mu        sync.Mutex
	live      map[*Exchange]context.CancelCauseFunc
	wg        sync.WaitGroup
}

type causeError Cause

func (c causeError) Error() string { return "ended by the client" }

func (t *netHTTP) Start(x *Exchange) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t.mu.Lock()
	t.live[x] = cancel
	t.mu.Unlock()
	t.wg.Add(1)
	go func() {
		defer t.wg.Done()
		t.run(ctx, x)
		x.End = t.cfg.Clock.Now()
		t.mu.Lock()
		delete(t.live, x)
		t.mu.Unlock()
		cancel(nil)
		x.Sink.Ended(x)
	}()
}

func (t *netHTTP) Cancel(x *Exchange, cause Cause) {
	t.mu.Lock()
	cancel := t.live[x]
	t.mu.Unlock()
	if cancel != nil {
		cancel(causeError(cause))
	}
}

func (t *netHTTP) Close() {
	t.mu.Lock()
	for _, cancel := range t.live {
		cancel(causeError(Cut))
	}
	t.mu.Unlock()
	t.wg.Wait()
	t.transport.CloseIdleConnections()
}

func (t *netHTTP) run(ctx context.Context, x *Exchange) {
	now := t.cfg.Clock.Now
	r := x.Request
	if r.Limits.Total > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.Limits.Total, causeError(TimeoutTotal))
		defer stop()
	}
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { x.ConnStart = now() },
		GotConn: func(i httptrace.GotConnInfo) {
			x.ConnReady = now()
			x.ConnReused = i.Reused
			x.WriteStart = x.ConnReady
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { x.Sent = now() },
		GotFirstResponseByte: func() { x.FirstByte = now() },
	}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), r.Method, r.URL.String(), bytes.NewReader(r.Body))
	if err != nil {
		x.Cause, x.Err = LocalFailure, err
		return
	}
	for _, f := range r.Header {
		req.Header.Add(f.Name, f.Value)
	}
	x.BytesOut = int64(len(r.Body))
	resp, err := t.transport.RoundTrip(req)
	if err != nil {
		x.fail(ctx, err, ResetEarly)
		return
	}
	defer resp.Body.Close()
	x.Status, x.Protocol = resp.StatusCode, strings.ToLower(resp.Proto)
	for k, vs := range resp.Header {
		for _, v := range vs {
			x.Header = append(x.Header, Field{Name: k, Value: v})
		}
	}
	x.ContentFraming = x.framing()
	t.read(ctx, x, resp.Body)
}

// framing is what the response says of its body.
func (x *Exchange) framing() Framing {
	if x.Status < 200 || x.Status > 299 {
		return Whole
	}
	ct := x.HeaderValue("Content-Type")
	switch {
	case strings.HasPrefix(ct, "text/event-stream"):
		return SSE
	case strings.HasPrefix(ct, "application/x-ndjson"), strings.HasPrefix(ct, "application/jsonl"):
		return NDJSON
	case strings.HasPrefix(ct, "application/json"):
		return Whole
	}
	return x.Request.Framing
}

func (t *netHTTP) read(ctx context.Context, x *Exchange, body io.Reader) {
	framer := NewFramer(x.ContentFraming)
	var seg Segment
	start := 0
	buf := make([]byte, 16<<10)
	for {
		n, err := body.Read(buf)
		at := t.cfg.Clock.Now()
		x.BytesIn += int64(n)
		seg.Data = append(seg.Data, buf[:n]...)
		first := len(seg.Events)
		for end := framer.Next(seg.Data); end >= 0; end = framer.Next(seg.Data) {
			seg.Events = append(seg.Events, Event{Start: int32(start), End: int32(end), At: at})
			start = end
		}
		for i := first; len(seg.Events)-first > 1 && i < len(seg.Events); i++ {
			seg.Events[i].Flags |= Coalesced
		}
		if err == io.EOF {
			if start < len(seg.Data) {
				seg.Events = append(seg.Events, Event{Start: int32(start), End: int32(len(seg.Data)), At: at})
			}
			x.Sink.Segment(x, &seg)
			return
		}
		if err != nil {
			x.Sink.Segment(x, &seg)
			x.fail(ctx, err, ResetLate)
			return
		}
	}
}

func (x *Exchange) fail(ctx context.Context, err error, cause Cause) {
	var ended causeError
	var op *net.OpError
	switch {
	case errors.As(context.Cause(ctx), &ended):
		cause = Cause(ended)
	case errors.As(err, &op) && op.Op == "dial":
		cause = Refused
	}
	x.Cause, x.Err = cause, err
}
