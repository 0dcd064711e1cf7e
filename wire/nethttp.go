package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// netHTTP is the transport over Go's own network stack: TLS, proxies, HTTP/2,
// every system. HTTP/1.1 goes over connections that stamp their reads, one
// goroutine an exchange; HTTP/2 through net/http, with the user's stamps.
//
// HTTP/1.1 does not use http.Transport, since that hides what must be seen: it
// sends requests again on its own, lends a connection that another request
// opened, and holds back bytes of a chunk that is not complete.
type netHTTP struct {
	cfg    Config
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	stamps *stamper
	spare  *segments
	work   *backlog
	pool   *netPool
	h2     *http.Transport // nil without HTTP2
	ids    atomic.Int64    // connections opened
	lanes  atomic.Int64    // exchanges started

	counters netCounters

	mu     sync.Mutex
	live   map[*Exchange]*flight
	closed bool
	wg     sync.WaitGroup // flights and warm-ups
	ctx    context.Context
	stop   context.CancelFunc
}

var (
	_ Transport  = (*netHTTP)(nil)
	_ Warmer     = (*netHTTP)(nil)
	_ Statistics = (*netHTTP)(nil)
)

// NewNetHTTP returns the transport over Go's own network stack.
func NewNetHTTP(cfg Config) Transport {
	if cfg.Dial != nil {
		return newNetHTTP(cfg, cfg.Dial)
	}
	return newNetHTTP(cfg, (&net.Dialer{}).DialContext)
}

func newNetHTTP(cfg Config, dial func(ctx context.Context, network, address string) (net.Conn, error)) *netHTTP {
	cfg = cfg.withDefaults()
	t := &netHTTP{cfg: cfg, dial: dial, spare: &segments{}, live: map[*Exchange]*flight{}}
	t.stamps = newStamper(cfg.Clock, &t.counters)
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.work = newBacklog(cfg.Workers, cfg.MaxBody, t.spare)
	t.pool = &netPool{clock: cfg.Clock, reuse: cfg.Reuse, limit: cfg.MaxIdle, idle: map[string][]*netConn{}, wishes: map[string]wanted{}, refill: t.refill}
	if cfg.HTTP2 {
		t.h2 = t.newHTTP2()
	}
	if cfg.Open > 0 {
		for _, u := range cfg.Targets {
			go func() { _ = t.Warm(t.ctx, u, cfg.Open) }()
		}
	}
	return t
}

// Start begins an exchange; a goroutine of its own reads the response.
func (t *netHTTP) Start(x *Exchange) {
	f := &flight{t: t, x: x, lane: t.lanes.Add(1)}
	f.ctx, f.cancel = context.WithCancelCause(t.ctx)
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.live[x] = f
		t.wg.Add(1)
	}
	t.mu.Unlock()
	if closed {
		x.Cause, x.Err, x.End = Cut, errClosed, t.cfg.Clock.Now()
		go x.Sink.Ended(x) // the workers may be gone
		return
	}
	x.ConnStart = t.cfg.Clock.Now()
	if t.h2 == nil {
		f.hasten()
	}
	go f.fly()
}

var errClosed = errors.New("the transport is closed")

// Cancel ends an exchange for the given cause.
func (t *netHTTP) Cancel(x *Exchange, cause Cause) {
	t.mu.Lock()
	f := t.live[x]
	t.mu.Unlock()
	if f != nil {
		f.kill(cause)
	}
}

// Close cuts what is under way, waits until all sinks have heard, and closes
// every connection.
func (t *netHTTP) Close() {
	t.mu.Lock()
	again := t.closed
	t.closed = true
	flights := make([]*flight, 0, len(t.live))
	for _, f := range t.live {
		flights = append(flights, f)
	}
	t.mu.Unlock()
	for _, f := range flights {
		f.kill(Cut)
	}
	t.stop()
	t.wg.Wait()
	if again {
		return
	}
	t.work.close()
	t.pool.close()
	if t.h2 != nil {
		t.h2.CloseIdleConnections()
	}
	t.stamps.close()
}
