package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"

	"github.com/tokamak-bench/tokamak/clock"
)

// Reuse is how connections are kept.
type Reuse uint8

// The policies.
const (
	Warm  Reuse = iota // kept and used again, without a cap
	Fresh              // one for each request
	Limit              // at most Config.MaxIdle kept idle
)

// Config says how to reach a target.
type Config struct {
	Clock *clock.Real // the run's clock; the transport only reads it
	// Open is how many connections to each of Targets to open ahead of their
	// first use; a [Warmer] can be asked to wait for them.
	Open    int
	Targets []*url.URL
	Reuse   Reuse
	MaxIdle int // with Limit
	HTTP2   bool
	TLS     *tls.Config // nil: the system's roots
	// Proxy decides the proxy of a URL; nil: none.
	Proxy func(*url.URL) (*url.URL, error)
	// UnixSocket, where set, is dialled instead of the URL's host.
	UnixSocket string
	// Dial, where set, opens the connections of [NewNetHTTP] in place of the
	// system's dialer: to a server in the same process, in fake time.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// MaxEvent is the longest event in bytes (default 16 MiB); MaxBody the
	// longest Whole body kept (default 64 MiB).
	MaxEvent, MaxBody int
	// Workers is the number of goroutines that call sinks (default 2).
	Workers int
}

const (
	defaultMaxEvent = 16 << 20
	defaultMaxBody  = 64 << 20
)

func (c Config) withDefaults() Config {
	if c.MaxEvent == 0 {
		c.MaxEvent = defaultMaxEvent
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Workers == 0 {
		c.Workers = 2
	}
	return c
}
