package wire_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// TestKernelStampsUnderTLS holds the reader back, in IsToken, which is called
// on it, until well after the server has sent more: what is reported must be
// when it came and not when it was read.
func TestKernelStampsUnderTLS(t *testing.T) {
	a := wiretest.NewAuthority(t)
	l, err := tls.Listen("tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{a.Issue(t, "127.0.0.1")}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := clock.NewReal()
	defer c.Close()
	next := make(chan struct{}) // the reader is held: send another
	sent := make(chan [2]int64) // when that was, before and after
	var bounds, held [][2]int64 // of each event after the first
	go serveEvents(l, c, next, sent)
	tr := wire.NewNetHTTP(wire.Config{Clock: c, TLS: &tls.Config{RootCAs: a.Pool}})
	defer tr.Close()
	u, err := url.Parse("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	const events = 20
	rec := wiretest.Start(tr, &wire.Request{Method: "GET", URL: u, IsToken: func([]byte) bool {
		if len(bounds) == events {
			return true
		}
		next <- struct{}{}
		bounds = append(bounds, <-sent)
		time.Sleep(5 * time.Millisecond)
		now := c.Now()
		held = append(held, [2]int64{now, now})
		return false
	}})
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Completed || rec.X.Stamps != wire.KernelStamps || len(rec.Events) != events+1 {
		t.Fatalf("%v (%v), stamps %v, %d events", rec.X.Cause, rec.X.Err, rec.X.Stamps, len(rec.Events))
	}
	stamped := 0
	for i, e := range rec.Events[1:] {
		if e.Flags&wire.Unstamped != 0 {
			continue // the kernel may leave the first packets without
		}
		stamped++
		// The server's clock read after its write may be late; the reader was
		// let go after it.
		if e.At < bounds[i][0]-rec.X.ClockError || e.At > held[i][0] {
			t.Errorf("event %d at %d: sent between %d and %d, read after %d", i, e.At, bounds[i][0], bounds[i][1], held[i][0])
		}
		if e.Flags&wire.Coalesced != 0 {
			t.Errorf("event %d is flagged as coalesced", i)
		}
	}
	if stamped < events/2 {
		t.Errorf("only %d of %d events have a kernel stamp", stamped, events)
	}
}

// serveEvents answers one request with an event at once and one for each next.
func serveEvents(l net.Listener, c *clock.Real, next <-chan struct{}, sent chan<- [2]int64) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	buf := make([]byte, 4096)
	if _, err := conn.Read(buf); err != nil {
		return
	}
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 0\n\n")
	for i := 1; i <= 20; i++ {
		<-next
		before := c.Now()
		fmt.Fprintf(conn, "data: %d\n\n", i)
		sent <- [2]int64{before, c.Now()}
	}
}

// TestCoalescedUnderTLS sends events in TLS records of their own that reach the
// socket together.
func TestCoalescedUnderTLS(t *testing.T) {
	a := wiretest.NewAuthority(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		raw, err := l.Accept()
		if err != nil {
			return
		}
		joined := &joiner{Conn: raw}
		conn := tls.Server(joined, &tls.Config{Certificates: []tls.Certificate{a.Issue(t, "127.0.0.1")}})
		defer conn.Close()
		buf := make([]byte, 4096)
		if _, err := conn.Read(buf); err != nil {
			return
		}
		joined.hold = true
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 27\r\n\r\n")
		for i := range 3 {
			fmt.Fprintf(conn, "data: %d\n\n", i)
		}
		joined.release()
		_, _ = conn.Read(buf)
	}()
	c := clock.NewReal()
	defer c.Close()
	tr := wire.NewNetHTTP(wire.Config{Clock: c, TLS: &tls.Config{RootCAs: a.Pool}})
	defer tr.Close()
	rec := wiretest.Start(tr, &wire.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: l.Addr().String()}})
	rec.Wait(t)
	rec.Check(t)
	if len(rec.Events) != 3 {
		t.Fatalf("%v (%v): %d events", rec.X.Cause, rec.X.Err, len(rec.Events))
	}
	for i, e := range rec.Events {
		if e.Flags&wire.Coalesced == 0 || e.At != rec.Events[0].At {
			t.Errorf("event %d at %d with flags %d: not coalesced with the first at %d", i, e.At, e.Flags, rec.Events[0].At)
		}
	}
}

// joiner holds writes back and sends them as one.
type joiner struct {
	net.Conn
	hold bool
	buf  []byte
}

func (j *joiner) Write(b []byte) (int, error) {
	if !j.hold {
		return j.Conn.Write(b)
	}
	j.buf = append(j.buf, b...)
	return len(b), nil
}

func (j *joiner) release() {
	_, _ = j.Conn.Write(j.buf)
	j.hold = false
}
