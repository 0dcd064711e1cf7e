package wire_test

import (
	"crypto/tls"
	"net"
	"net/url"
	"runtime"
	"testing"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// countSink counts events; it keeps nothing.
type countSink struct {
	events int
	done   chan struct{}
}

func (c *countSink) Segment(_ *wire.Exchange, s *wire.Segment) { c.events += len(s.Events) }
func (c *countSink) Ended(*wire.Exchange)                      { close(c.done) }

const benchEvent = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n"

// stream reads n events, each sent by a write of its own once the one before
// was read, and returns what was allocated meanwhile in the whole process.
func stream(tb testing.TB, secure bool, n int) (mallocs uint64) {
	tb.Helper()
	a := wiretest.NewAuthority(tb)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	u := &url.URL{Scheme: "http", Host: l.Addr().String()}
	if secure {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{a.Issue(tb, "127.0.0.1")}})
		u.Scheme = "https"
	}
	next := make(chan struct{}, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 4096))
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"))
		event := []byte(benchEvent)
		for range n {
			_, _ = c.Write(event)
			<-next
		}
	}()
	c := clock.NewReal()
	defer c.Close()
	tr := wire.NewNetHTTP(wire.Config{Clock: c, TLS: &tls.Config{RootCAs: a.Pool}})
	defer tr.Close()
	sink := &countSink{done: make(chan struct{})}
	x := &wire.Exchange{}
	var before, after runtime.MemStats
	seen := 0
	x.Reset(&wire.Request{Method: "GET", URL: u, IsToken: func([]byte) bool {
		if seen++; seen == n/2 {
			runtime.ReadMemStats(&before) // the first half made what is used again
		}
		next <- struct{}{}
		return false
	}}, sink)
	tr.Start(x)
	<-sink.done
	runtime.ReadMemStats(&after)
	if x.Cause != wire.Completed || sink.events != n {
		tb.Fatalf("%v (%v), %d of %d events", x.Cause, x.Err, sink.events, n)
	}
	return after.Mallocs - before.Mallocs
}

// TestNoAllocationPerEvent allows a tenth of an allocation an event for what
// the rest of the process does meanwhile. Under TLS there is one more, which
// crypto/tls makes for each read of the socket.
func TestNoAllocationPerEvent(t *testing.T) {
	const n = 4000
	for _, secure := range []bool{false, true} {
		limit := uint64(n / 2 / 10)
		if secure {
			limit += n / 2
		}
		if got := stream(t, secure, n); got > limit {
			t.Errorf("TLS %v: %d allocations for %d events", secure, got, n/2)
		}
	}
}

func BenchmarkNetHTTPEvent(b *testing.B) {
	for name, secure := range map[string]bool{"plain": false, "tls": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			stream(b, secure, b.N)
		})
	}
}
