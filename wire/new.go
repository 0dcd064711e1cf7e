package wire

import (
	"context"
	"net/url"
	"sync"
)

// New returns a transport that sends each request the best way there is: plain
// HTTP/1.1 without a proxy through the poller (Linux), the rest through
// net/http.
func New(cfg Config) (Transport, error) {
	cfg = cfg.withDefaults()
	if cfg.HTTP2 {
		return NewNetHTTP(cfg), nil
	}
	plain, err := newPoller(cfg)
	if err != nil {
		return nil, err
	}
	if plain == nil {
		return NewNetHTTP(cfg), nil
	}
	s := &split{cfg: cfg, plain: plain}
	s.cfg.Targets = nil
	for _, u := range cfg.Targets {
		if s.isPlain(u) {
			go func() { _ = plain.Warm(context.Background(), u, cfg.Open) }()
		} else {
			s.cfg.Targets = append(s.cfg.Targets, u)
		}
	}
	if len(s.cfg.Targets) > 0 {
		s.other = NewNetHTTP(s.cfg) // opens its own ahead
	}
	return s, nil
}

// Warmer is what a transport satisfies that can open connections ahead.
type Warmer interface {
	// Warm keeps at least n connections to u's host, and returns when they
	// are open, or with the first error.
	Warm(ctx context.Context, u *url.URL, n int) error
}

// Statistics is what a transport satisfies that counts its own work. It may be
// called from any goroutine at any time.
type Statistics interface{ Stats() Stats }

// Stats are a transport's own figures.
type Stats struct {
	// Gauges.
	Open, InFlight int // connections open; exchanges started and not ended
	Backlog        int // segments that wait for a worker
	// Counts since the start.
	Chunks, Coalesced, Unstamped int64 // events; flagged so
	Reads                        int64 // receive calls that gave bytes
	Held                         int64 // streams left unread because the backlog was full
	Rounds                       int64 // wake-ups on the tick
	ClockSteps                   int64 // times that someone set CLOCK_REALTIME
	// Delay counts kernel-stamped reads by the time from the stamp to the
	// read: Delay[i] those under 2^i ns and not under 2^(i-1).
	Delay [40]int64
}

// warmTransport is a transport with all optional abilities.
type warmTransport interface {
	Transport
	Warmer
	Statistics
}

// split sends each exchange to the way that its URL needs.
type split struct {
	cfg   Config
	plain warmTransport
	mu    sync.Mutex
	other Transport // made when first needed
}

func (s *split) isPlain(u *url.URL) bool {
	if u.Scheme != "http" {
		return false
	}
	if s.cfg.Proxy == nil || s.cfg.UnixSocket != "" {
		return true
	}
	proxy, err := s.cfg.Proxy(u)
	return proxy == nil && err == nil
}

func (s *split) std() Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.other == nil {
		s.other = NewNetHTTP(s.cfg)
	}
	return s.other
}

func (s *split) Start(x *Exchange) {
	if s.isPlain(x.Request.URL) {
		s.plain.Start(x)
		return
	}
	s.std().Start(x)
}

// Cancel asks both: each leaves alone what it doesn't know.
func (s *split) Cancel(x *Exchange, cause Cause) {
	s.plain.Cancel(x, cause)
	s.mu.Lock()
	other := s.other
	s.mu.Unlock()
	if other != nil {
		other.Cancel(x, cause)
	}
}

func (s *split) Close() {
	s.plain.Close()
	s.mu.Lock()
	other := s.other
	s.mu.Unlock()
	if other != nil {
		other.Close()
	}
}

// Warm asks the way that u needs.
func (s *split) Warm(ctx context.Context, u *url.URL, n int) error {
	if s.isPlain(u) {
		return s.plain.Warm(ctx, u, n)
	}
	if w, ok := s.std().(Warmer); ok {
		return w.Warm(ctx, u, n)
	}
	return nil
}

// Stats returns the figures of both ways together.
func (s *split) Stats() Stats {
	s.mu.Lock()
	other := s.other
	s.mu.Unlock()
	if o, ok := other.(Statistics); ok {
		return s.plain.Stats().plus(o.Stats())
	}
	return s.plain.Stats()
}
