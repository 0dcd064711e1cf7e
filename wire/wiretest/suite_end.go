package wiretest

import (
	"bufio"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// limits checks that of several deadlines the first to pass is named and that
// none strikes early.
func (s *suite) limits(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	const long = time.Hour
	all := wire.Limits{Connect: long, FirstByte: long, FirstToken: long, Stall: long, Total: long}
	recs := map[string]*Recording{}
	for _, f := range server.Faults {
		limits := all
		switch f.Cause {
		case wire.TimeoutFirstByte:
			limits.FirstByte = soon
		case wire.TimeoutFirstToken:
			limits.FirstToken = soon
		case wire.TimeoutStall:
			limits.Stall = soon
		case wire.TimeoutTotal:
			limits.Total = soon
		case wire.TimeoutConnect:
			limits.Connect = soon
		default:
			continue
		}
		recs[f.Name] = Start(tr, Post(f.URL, limits))
	}
	for name, rec := range recs {
		rec.Wait(t)
		rec.Check(t)
		f, x := server.Fault(t, name), &rec.X
		if x.Cause != f.Cause {
			t.Errorf("%s: %v (%v), want %v", f.Name, x.Cause, x.Err, f.Cause)
		}
		if from := firstOf(x.Sent, x.ConnStart); x.End-from < int64(soon) && f.Cause != wire.TimeoutTotal {
			t.Errorf("%s: ended %v after %d, before its deadline", f.Name, time.Duration(x.End-from), from)
		}
	}
}

func firstOf(a, b int64) int64 {
	if a != wire.NotReached {
		return a
	}
	return b
}

// cancel ends exchanges in each of their phases.
func (s *suite) cancel(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	for _, f := range server.Faults {
		switch f.Name {
		case "never_accepted", "stall_before_head", "stall_after_head", "stall_in_stream", "endless_stream":
		default:
			continue
		}
		for _, cause := range []wire.Cause{wire.Cut, wire.Cancelled} {
			rec := Start(tr, Post(f.URL, wire.Limits{}))
			time.Sleep(10 * time.Millisecond) // lets it get into the phase; nothing depends on it
			tr.Cancel(&rec.X, cause)
			tr.Cancel(&rec.X, wire.TimeoutTotal) // too late to matter
			rec.Wait(t)
			rec.Check(t)
			if rec.X.Cause != cause {
				t.Errorf("%s: %v (%v), want %v", f.Name, rec.X.Cause, rec.X.Err, cause)
			}
			tr.Cancel(&rec.X, wire.Cut) // has ended: left alone
		}
	}
}

// cancelRace cancels at every moment of an exchange from several goroutines.
func (s *suite) cancelRace(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	f := server.Fault(t, "healthy")
	for i := range 100 {
		rec := NewRecording(Post(f.URL, wire.Limits{}))
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 20 * time.Microsecond)
				tr.Cancel(&rec.X, wire.Cancelled)
			})
		}
		tr.Start(&rec.X)
		rec.Wait(t)
		wg.Wait()
		rec.Check(t)
		if c := rec.X.Cause; c != wire.Completed && c != wire.Cancelled {
			t.Fatalf("round %d: %v (%v)", i, c, rec.X.Err)
		}
	}
	if got := dataOf(t, tr, f); got == "" {
		t.Error("no answer after the cancels")
	}
}

// close ends a transport with work in flight in every phase.
func (s *suite) close(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	var recs []*Recording
	for _, name := range []string{"stall_before_head", "stall_after_head", "stall_in_stream", "endless_stream"} {
		for range 5 {
			recs = append(recs, Start(tr, Post(server.Fault(t, name).URL, wire.Limits{})))
		}
	}
	time.Sleep(20 * time.Millisecond) // lets them get under way; nothing depends on it
	tr.Close()
	for _, rec := range recs {
		select {
		case <-rec.done:
		default:
			t.Fatal("Close returned before every exchange had ended")
		}
		rec.Check(t)
		if rec.X.Cause != wire.Cut {
			t.Errorf("%v (%v), want cut", rec.X.Cause, rec.X.Err)
		}
	}
}

func (s *suite) startAfterClose(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	tr.Close()
	rec := Start(tr, Post(server.URL, wire.Limits{}))
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Cut {
		t.Errorf("%v, want cut", rec.X.Cause)
	}
}

// slowSink shows that a sink may take its time: other exchanges go on, and no
// event is lost.
func (s *suite) slowSink(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client, Workers: 2})
	release := make(chan struct{})
	slow := NewRecording(Post(server.Fault(t, "every_byte").URL, wire.Limits{}))
	slow.OnSegment = func(*wire.Segment) { <-release }
	tr.Start(&slow.X)
	for range 3 {
		// With two workers at least every other exchange finds a free one.
		_ = Start(tr, Post(server.Fault(t, "healthy").URL, wire.Limits{}))
	}
	close(release)
	slow.Wait(t)
	slow.Check(t)
	if slow.X.Cause != wire.Completed || len(slow.Events) != 12 {
		t.Errorf("%v, %d events", slow.X.Cause, len(slow.Events))
	}
}

// lateReader holds the reader back for longer than Limits.Stall while the next
// events arrive in time: the lateness is the client's and no deadline strikes.
func (s *suite) lateReader(t *testing.T) {
	const stall = 50 * time.Millisecond
	next, sent := make(chan struct{}), make(chan struct{})
	u := serveStream(t, func(send func(string)) {
		send("data: 1\n\n")
		<-next
		send("data: 2\n\ndata: 3\n\n")
		close(sent)
	})
	tr := s.open(t, wire.Config{})
	first := true
	rec := Start(tr, &wire.Request{Method: "GET", URL: u, Limits: wire.Limits{Stall: stall}, IsToken: func([]byte) bool {
		if first {
			first = false
			close(next)
			<-sent
			time.Sleep(3 * stall)
		}
		return true
	}})
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Completed || len(rec.Events) != 3 {
		t.Errorf("%v (%v), %d events; want all three, which came in time", rec.X.Cause, rec.X.Err, len(rec.Events))
	}
}

// serveStream answers one request with a stream of what serve sends.
func serveStream(t *testing.T, serve func(send func(string))) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		p := &peer{Conn: c, br: bufio.NewReader(c)}
		if !p.read() {
			return
		}
		p.head(200, "Content-Type: text/event-stream", "Connection: close")
		serve(p.raw)
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
}
