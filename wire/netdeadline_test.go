package wire

import (
	"bufio"
	"context"

	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// script is what a server in fake time does with each connection, after it has
// read a request. Nil: it reads none.
type script func(c net.Conn)

// pipes dials connections in memory.
func pipes(delay time.Duration, serve script) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if serve == nil {
				_, _ = io.Copy(io.Discard, server)
				return
			}
			br := bufio.NewReader(server)
			for {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				serve(server)
			}
		}()
		return client, nil
	}
}

type endSink chan *Exchange

func (endSink) Segment(*Exchange, *Segment) {}
func (s endSink) Ended(x *Exchange)         { s <- x }

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

func say(parts ...any) script {
	return func(c net.Conn) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				if _, err := io.WriteString(c, p); err != nil {
					return
				}
			case time.Duration:
				time.Sleep(p)
			}
		}
		_, _ = io.Copy(io.Discard, c) // silent until the client leaves
	}
}

// TestDeadlinesToTheNanosecond runs in fake time: each limit strikes at its
// moment and no other does.
func TestDeadlinesToTheNanosecond(t *testing.T) {
	const s = time.Second
	limits := Limits{Connect: 2 * s, FirstByte: 5 * s, FirstToken: 9 * s, Stall: 3 * s, Total: 20 * s}
	event := "data: x\n\n"
	for _, test := range []struct {
		name  string
		delay time.Duration
		serve script
		want  Cause
		at    time.Duration
	}{
		{"connect", 10 * s, nil, TimeoutConnect, 2 * s},
		{"first byte", s, say(), TimeoutFirstByte, 6 * s},
		{"first token, head only", s, say(3*s, streamHead), TimeoutFirstToken, 10 * s},
		{"first token, comments only", s, say(streamHead, ": a\n\n", 4*s, ": b\n\n", 4*s, ": c\n\n"), TimeoutFirstToken, 10 * s},
		{"stall after one event", s, say(streamHead, 2*s, event), TimeoutStall, 6 * s},
		{"stall after three", 0, say(streamHead, 2*s, event, 2*s, event, 2*s, event), TimeoutStall, 9 * s},
		{"bytes without an event do not count", 0, say(streamHead, event, 2*s, "data: ", 2*s, "y\n\n"), TimeoutStall, 3 * s},
		{"total", 0, say(streamHead, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event, 2*s, event), TimeoutTotal, 20 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, tr := startFake(t, test.delay, test.serve, limits)
				defer time.Sleep(time.Minute) // the server wakes and sees that nobody is there
				defer tr.Close()
				<-x.Sink.(endSink)
				if x.Cause != test.want || time.Duration(x.End) != test.at {
					t.Errorf("%v (%v) at %v, want %v at %v", x.Cause, x.Err, time.Duration(x.End), test.want, test.at)
				}
			})
		})
	}
}

// startFake begins a POST in fake time at the moment 0.
func startFake(t *testing.T, delay time.Duration, serve script, limits Limits) (*Exchange, *netHTTP) {
	t.Helper()
	tr := newNetHTTP(Config{Clock: clock.NewPortable()}, pipes(delay, serve))
	return startOn(t, tr, limits), tr
}

func startOn(t *testing.T, tr *netHTTP, limits Limits) *Exchange {
	t.Helper()
	u, err := url.Parse("http://fake.test/v1")
	if err != nil {
		t.Fatal(err)
	}
	x := &Exchange{}
	x.Reset(&Request{Method: "POST", URL: u, Body: []byte("{}"), Framing: SSE, Limits: limits,
		IsToken: func(e []byte) bool { return e[0] != ':' }}, make(endSink, 1))
	tr.Start(x)
	return x
}

// TestMomentsInFakeTime checks the moments of an exchange against the server's.
func TestMomentsInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const s = time.Second
		x, tr := startFake(t, s, func(c net.Conn) {
			time.Sleep(s)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 18\r\n\r\n")
			time.Sleep(s)
			_, _ = io.WriteString(c, "data: x\n\ndata: y\n\n")
		}, Limits{})
		defer tr.Close()
		<-x.Sink.(endSink)
		for _, m := range []struct {
			name string
			got  int64
			want time.Duration
		}{{"ConnStart", x.ConnStart, 0}, {"ConnReady", x.ConnReady, s}, {"WriteStart", x.WriteStart, s}, {"Sent", x.Sent, s}, {"FirstByte", x.FirstByte, 2 * s}, {"End", x.End, 3 * s}} {
			if time.Duration(m.got) != m.want {
				t.Errorf("%s at %v, want %v", m.name, time.Duration(m.got), m.want)
			}
		}
		if x.Cause != Completed || x.Stamps != UserStamps || x.ClockError != 0 {
			t.Errorf("%v (%v), stamps %v, error %d", x.Cause, x.Err, x.Stamps, x.ClockError)
		}
	})
}

// TestIdleConnectionsAge shows that a connection is used again within four
// seconds and not after.
func TestIdleConnectionsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
		tr := newNetHTTP(Config{Clock: clock.NewPortable()}, pipes(0, answer))
		defer tr.Close()
		for i, wait := range []time.Duration{0, 3 * time.Second, 3 * time.Second, 5 * time.Second} {
			time.Sleep(wait)
			x := startOn(t, tr, Limits{})
			<-x.Sink.(endSink)
			if want := i == 1 || i == 2; x.Cause != Completed || x.ConnReused != want {
				t.Errorf("request %d: %v (%v), reused %v", i, x.Cause, x.Err, x.ConnReused)
			}
		}
	})
}

// TestLocalFailure tells the client's own trouble from the server's.
func TestLocalFailure(t *testing.T) {
	tr := newNetHTTP(Config{Clock: clock.NewReal()}, func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	})
	defer tr.Close()
	x := startOn(t, tr, Limits{})
	<-x.Sink.(endSink)
	if x.Cause != LocalFailure {
		t.Errorf("%v (%v), want client_failure", x.Cause, x.Err)
	}
	x = &Exchange{}
	x.Reset(&Request{Method: "PO ST", URL: &url.URL{Scheme: "http", Host: "fake.test"}}, make(endSink, 1))
	tr.Start(x)
	<-x.Sink.(endSink)
	if x.Cause != LocalFailure {
		t.Errorf("%v (%v), want client_failure", x.Cause, x.Err)
	}
}

// TestWarmKeepsConnections shows that what is opened ahead is there at once,
// and again after the server has thrown it out or time has passed.
func TestWarmKeepsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		dial := pipes(time.Second/2, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") })
		tr := newNetHTTP(Config{Clock: clock.NewPortable()}, func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return dial(ctx, network, address)
		})
		defer tr.Close()
		u := &url.URL{Scheme: "http", Host: "fake.test", Path: "/v1"}
		if err := tr.Warm(t.Context(), u, 1); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			x := startOn(t, tr, Limits{})
			<-x.Sink.(endSink)
			if x.Cause != Completed || x.ConnReady != x.ConnStart {
				t.Errorf("request %d: %v, connected in %v", i, x.Cause, time.Duration(x.ConnReady-x.ConnStart))
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		if dials < 3 || dials > 8 {
			t.Errorf("%d dials", dials)
		}
	})
}
