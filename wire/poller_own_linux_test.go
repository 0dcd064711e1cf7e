package wire

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/clock"
)

// keeper is a sink that keeps events; block, where set, is waited for at each segment.
type keeper struct {
	events []Event
	data   []string
	block  chan struct{}
	done   chan struct{}
}

func newKeeper() *keeper { return &keeper{done: make(chan struct{})} }

func (k *keeper) Segment(_ *Exchange, s *Segment) {
	if k.block != nil {
		<-k.block
	}
	for _, e := range s.Events {
		k.events = append(k.events, e)
		k.data = append(k.data, string(s.Data[e.Start:e.End]))
	}
}

func (k *keeper) Ended(*Exchange) { close(k.done) }

// nothing is a sink that forgets.
type nothing struct{}

func (nothing) Segment(*Exchange, *Segment) {}
func (nothing) Ended(*Exchange)             {}

func (k *keeper) wait(t *testing.T) {
	t.Helper()
	select {
	case <-k.done:
	case <-time.After(30 * time.Second):
		t.Fatal("the exchange never ended")
	}
}

func openPoller(t *testing.T, cfg Config) *poller {
	t.Helper()
	cfg.Clock = clock.NewReal()
	tr, err := newPoller(cfg.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close(); cfg.Clock.Close() })
	return tr.(*poller)
}

// listen serves each connection with serve.
func listen(t *testing.T, serve func(net.Conn, *bufio.Reader)) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
}

// readRequest reads one request; false at the end.
func readRequest(r *bufio.Reader) bool {
	req, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

func get(u *url.URL) *Request { return &Request{Method: "GET", URL: u, Framing: SSE} }

// TestTrueArrival holds the reader up for longer than the tolerance after each
// write: kernel stamps tell the sender's moments all the same, and with the
// user's clock the same comparison fails.
func TestTrueArrival(t *testing.T) {
	const hold, tolerance = 80 * time.Millisecond, 40 * time.Millisecond
	for _, kernel := range []bool{true, false} {
		t.Run(fmt.Sprintf("kernel stamps %v", kernel), func(t *testing.T) {
			writes, wrote := make(chan string), make(chan int64)
			p := openPoller(t, Config{})
			u := listen(t, func(c net.Conn, r *bufio.Reader) {
				readRequest(r)
				for s := range writes {
					io.WriteString(c, s)
					wrote <- p.clock.Now()
				}
			})
			k := newKeeper()
			var x Exchange
			x.Reset(get(u), k)
			p.Start(&x)
			writes <- sseHead + "data: first\n\n"
			sent := []int64{<-wrote}
			for p.Stats().Chunks == 0 {
				time.Sleep(time.Millisecond)
			}
			p.mu.Lock()
			c := p.live[&x]
			p.mu.Unlock()
			for i := range int64(3) {
				c.mu.Lock() // nobody reads it now
				c.stamps = kernel
				writes <- "data: more\n\n"
				sent = append(sent, <-wrote)
				time.Sleep(hold)
				c.mu.Unlock()
				for p.Stats().Chunks < i+2 {
					time.Sleep(time.Millisecond)
				}
			}
			close(writes)
			k.wait(t)
			late, stamped := 0, 0
			for i, e := range k.events[1:] {
				if e.Flags&Unstamped != 0 {
					continue
				}
				stamped++
				if e.At-sent[i+1] > int64(tolerance) {
					late++
				}
			}
			if kernel && (late > 0 || stamped == 0) || !kernel && late != 3 {
				t.Errorf("%d of %d chunks are off by more than %v; events %v, sent %v", late, stamped, tolerance, k.events, sent)
			}
		})
	}
}

// fedConn is a connection without a socket, in the middle of a stream, that is
// fed by calling take. Its mutex is held.
func fedConn(t *testing.T, p *poller, sink Sink) (*conn, *reader) {
	t.Helper()
	u := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	p.mu.Lock()
	h, err := p.host(u)
	if err != nil {
		t.Fatal(err)
	}
	c := p.newConn(h)
	p.mu.Unlock()
	c.mu.Lock()
	x := &Exchange{}
	x.Reset(get(u), sink)
	c.x, c.state, c.inTick, c.stamps, c.ready, c.lastAt, c.resumed = x, connBusy, true, true, true, NotReached, NotReached
	c.parser.Reset("GET")
	r := newReader(p)
	c.take(r, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"), 1, true, false)
	return c, r
}

// endFed ends the exchange of a fedConn.
func (c *conn) endFed(at int64) {
	c.inTick = false
	c.finish(Cut, errEnded, at, false)
	c.mu.Unlock()
}

func TestFlagsOfEvents(t *testing.T) {
	p := openPoller(t, Config{})
	k := newKeeper()
	c, r := fedConn(t, p, k)
	at := int64(1000)
	feed := func(event string, stamped bool) {
		at += 1000
		c.take(r, fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event), at, stamped, false)
	}
	feed("data: alone\n\n", true)
	feed("data: one\n\ndata: two\n\n", true)
	feed("data: before another's begin\n\nda", true)
	feed("ta: its end\n\n", true)
	feed("data: no stamp\n\n", false)
	c.endFed(at)
	k.wait(t)
	want := []Event{{At: 2000}, {At: 3000, Flags: Coalesced}, {At: 3000, Flags: Coalesced}, {At: 4000, Flags: Coalesced}, {At: 5000}, {At: 6000, Flags: Unstamped}}
	if len(k.events) != len(want) {
		t.Fatalf("%d events: %q", len(k.events), k.data)
	}
	for i, e := range k.events {
		if e.At != want[i].At || e.Flags != want[i].Flags {
			t.Errorf("%q: at %d, flags %b; want %d, %b", k.data[i], e.At, e.Flags, want[i].At, want[i].Flags)
		}
	}
}

func TestChunksDoNotAllocate(t *testing.T) {
	p := openPoller(t, Config{})
	c, r := fedConn(t, p, nothing{})
	chunk := []byte("c8\r\ndata: " + strings.Repeat("x", 0xc8-8) + "\n\n\r\n")
	at := int64(1)
	step := func() {
		for range 300 { // several segments
			at += 1000
			for p.backlog.waiting.Load() > 2 {
				runtime.Gosched() // a worker that lags needs more segments
			}
			if _, ok := c.room(); !ok {
				t.Fatal("the backlog is full")
			}
			c.take(r, chunk, at, true, false)
		}
	}
	for range 10 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n >= 30 {
		t.Errorf("%v allocations in 300 chunks", n)
	}
	c.endFed(at)
}

func TestWarmConnectionsAreUsed(t *testing.T) {
	var mu sync.Mutex
	accepted := 0
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		mu.Lock()
		accepted++
		mu.Unlock()
		for readRequest(r) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	p := openPoller(t, Config{})
	if err := p.Warm(context.Background(), u, 100); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Open != 100 {
		t.Fatalf("%d connections open", s.Open)
	}
	xs, ks := make([]Exchange, 100), make([]*keeper, 100)
	for i := range xs {
		ks[i] = newKeeper()
		xs[i].Reset(get(u), ks[i])
		p.Start(&xs[i])
	}
	for i := range xs {
		ks[i].wait(t)
		if i > 0 && xs[i].ConnID < xs[i-1].ConnID {
			t.Errorf("connection %d is used after %d, which was opened before it", xs[i].ConnID, xs[i-1].ConnID)
		}
		if x := &xs[i]; x.Cause != Completed || !x.ConnReused || x.ConnStart != NotReached {
			t.Fatalf("%v (%v), reused %v, connected at %d", x.Cause, x.Err, x.ConnReused, x.ConnStart)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if accepted != 100 {
		t.Errorf("%d connections", accepted)
	}
	refused := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	if err := p.Warm(context.Background(), refused, 3); err == nil {
		t.Error("no error from a server that is not there")
	}
}

func TestIdleIsWatched(t *testing.T) {
	hangUp := make(chan struct{})
	u := listen(t, func(_ net.Conn, _ *bufio.Reader) { <-hangUp })
	p := openPoller(t, Config{})
	if err := p.Warm(context.Background(), u, 5); err != nil {
		t.Fatal(err)
	}
	close(hangUp)
	for end := time.Now().Add(30 * time.Second); p.Stats().Open > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d closed connections are kept", p.Stats().Open)
		}
	}
}

// TestFullBacklog has a sink so slow that the stream is left in the socket.
func TestFullBacklog(t *testing.T) {
	const events = 6000
	event := "data: " + strings.Repeat("x", 4000) + "\n\n"
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, sseHead)
		for range events {
			if _, err := io.WriteString(c, event); err != nil {
				return
			}
		}
	})
	p := openPoller(t, Config{Workers: 1})
	k := newKeeper()
	k.block = make(chan struct{})
	var x Exchange
	x.Reset(get(u), k)
	x.Request.Limits.Stall = time.Second / 4 // our own delay is not the server's silence
	p.Start(&x)
	for p.Stats().Held == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Second / 2)
	if s := p.Stats(); s.Backlog > backlogLimit+1 || s.InFlight != 1 {
		t.Errorf("backlog %d, in flight %d", s.Backlog, s.InFlight)
	}
	close(k.block)
	k.wait(t)
	if x.Cause != Completed || len(k.events) != events {
		t.Errorf("%v (%v), %d events of %d", x.Cause, x.Err, len(k.events), events)
	}
}

func TestGzipBodyIsDecoded(t *testing.T) {
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n")
		z := gzip.NewWriter(c)
		io.WriteString(z, strings.Repeat(`{"a":1}`, 10000))
		z.Close()
	})
	p := openPoller(t, Config{})
	k := newKeeper()
	var x Exchange
	x.Reset(get(u), k)
	p.Start(&x)
	k.wait(t)
	if x.Cause != Completed || len(k.data) != 1 || k.data[0] != strings.Repeat(`{"a":1}`, 10000) {
		t.Errorf("%v (%v), %d events", x.Cause, x.Err, len(k.data))
	}
}

func TestNoDescriptorIsOurFailure(t *testing.T) {
	u := listen(t, func(net.Conn, *bufio.Reader) {})
	p := openPoller(t, Config{})
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: old.Max}); err != nil {
		t.Skip(err)
	}
	k := newKeeper()
	var x Exchange
	x.Reset(get(u), k)
	p.Start(&x)
	k.wait(t)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if x.Cause != LocalFailure || !strings.Contains(fmt.Sprint(x.Err), "too many open files") {
		t.Errorf("%v: %v", x.Cause, x.Err)
	}
}

func TestRequestThatCannotBeSent(t *testing.T) {
	p := openPoller(t, Config{})
	for _, f := range []Field{{Name: "A b", Value: "c"}, {Name: "A", Value: "b\r\nc: d"}} {
		k := newKeeper()
		var x Exchange
		r := get(&url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: "/"})
		r.Header = []Field{f}
		x.Reset(r, k)
		p.Start(&x)
		k.wait(t)
		if x.Cause != LocalFailure || x.BytesOut != 0 || strings.Contains(fmt.Sprint(x.Err), "d") && f.Name == "A" && strings.Contains(fmt.Sprint(x.Err), "c: d") {
			t.Errorf("%v: %v, %d bytes sent", x.Cause, x.Err, x.BytesOut)
		}
	}
}

func TestLargeBodyIsSentWhole(t *testing.T) {
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // fills the socket's buffers
		n, _ := io.Copy(io.Discard, req.Body)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n%8d", n)
	})
	p := openPoller(t, Config{})
	k := newKeeper()
	var x Exchange
	x.Reset(&Request{Method: "POST", URL: u, Body: make([]byte, 20<<20)}, k)
	p.Start(&x)
	k.wait(t)
	if x.Cause != Completed || strings.TrimSpace(k.data[0]) != fmt.Sprint(20<<20) || !x.SentKernel || x.Sent < x.WriteStart || x.BytesOut <= 20<<20 {
		t.Errorf("%v (%v), server got %q, kernel stamp of the send %v, %d bytes out", x.Cause, x.Err, k.data, x.SentKernel, x.BytesOut)
	}
}

// TestNameIsLookedUp uses a name with an address at which nobody listens.
func TestNameIsLookedUp(t *testing.T) {
	u := listen(t, func(c net.Conn, r *bufio.Reader) {
		for readRequest(r) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	u.Host = net.JoinHostPort("localhost", u.Port())
	p := openPoller(t, Config{})
	for i := range 2 {
		k := newKeeper()
		var x Exchange
		x.Reset(get(u), k)
		p.Start(&x)
		k.wait(t)
		if x.Cause != Completed || x.ConnReused != (i > 0) {
			t.Errorf("%v (%v), reused %v", x.Cause, x.Err, x.ConnReused)
		}
	}
}

func TestTickFollowsTheSmallestGap(t *testing.T) {
	for gap, want := range map[int64]time.Duration{0: time.Millisecond, 1e6: time.Millisecond, 8e6: 2 * time.Millisecond, 20e6: 4 * time.Millisecond} {
		if got := tickOf(gap); got != int64(want) {
			t.Errorf("gap %v: tick %v, want %v", time.Duration(gap), time.Duration(got), want)
		}
	}
}
