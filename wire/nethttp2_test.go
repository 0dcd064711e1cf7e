package wire_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// http2Server serves HTTP/2, over TLS where cfg is given.
func http2Server(t *testing.T, cfg *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	mux := http.NewServeMux()
	stream := func(w http.ResponseWriter) func(string) {
		w.Header().Set("Content-Type", "text/event-stream")
		return func(s string) { fmt.Fprint(w, s); _ = http.NewResponseController(w).Flush() }
	}
	mux.HandleFunc("/healthy/", func(w http.ResponseWriter, r *http.Request) {
		send := stream(w)
		for i := range 5 {
			send(fmt.Sprintf("data: %d %s\n\n", i, r.Proto))
		}
	})
	mux.HandleFunc("/stall_in_stream/", func(w http.ResponseWriter, r *http.Request) { stream(w)("data: x\n\n"); <-r.Context().Done() })
	mux.HandleFunc("/stall_after_head/", func(w http.ResponseWriter, r *http.Request) { stream(w)(""); <-r.Context().Done() })
	mux.HandleFunc("/stall_before_head/", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/reset_in_stream/", func(w http.ResponseWriter, _ *http.Request) { stream(w)("data: x\n\n"); panic(http.ErrAbortHandler) })
	mux.HandleFunc("/too_many_429/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429); fmt.Fprint(w, "slow down") })
	server := &http.Server{Handler: mux, Protocols: protocols, TLSConfig: cfg}
	t.Cleanup(func() { _ = server.Close() })
	if cfg == nil {
		go func() { _ = server.Serve(l) }()
		return "http://" + l.Addr().String()
	}
	go func() { _ = server.ServeTLS(l, "", "") }()
	return "https://" + l.Addr().String()
}

func TestHTTP2(t *testing.T) {
	a := wiretest.NewAuthority(t)
	const soon = 100 * time.Millisecond
	for _, base := range []string{http2Server(t, nil), http2Server(t, &tls.Config{Certificates: []tls.Certificate{a.Issue(t, "127.0.0.1")}})} {
		c := clock.NewReal()
		t.Cleanup(c.Close)
		tr := wire.NewNetHTTP(wire.Config{Clock: c, HTTP2: true, TLS: &tls.Config{RootCAs: a.Pool}})
		t.Cleanup(tr.Close)
		for i, test := range []struct {
			path   string
			limits wire.Limits
			want   wire.Cause
			status int
			events int
		}{
			{"healthy", wire.Limits{}, wire.Completed, 200, 5},
			{"stall_in_stream", wire.Limits{Stall: soon}, wire.TimeoutStall, 200, 1},
			{"stall_after_head", wire.Limits{FirstToken: soon}, wire.TimeoutFirstToken, 200, 0},
			{"stall_before_head", wire.Limits{FirstByte: soon}, wire.TimeoutFirstByte, 0, 0},
			{"stall_before_head", wire.Limits{Total: soon}, wire.TimeoutTotal, 0, 0},
			{"reset_in_stream", wire.Limits{}, wire.ResetLate, 200, 1},
			{"too_many_429", wire.Limits{}, wire.Completed, 429, 1},
			{"healthy", wire.Limits{Connect: time.Hour, FirstByte: time.Hour, FirstToken: time.Hour, Stall: time.Hour, Total: time.Hour}, wire.Completed, 200, 5},
		} {
			rec := wiretest.Start(tr, wiretest.Post(base+"/"+test.path, test.limits))
			rec.Wait(t)
			rec.Check(t)
			x := &rec.X
			if x.Cause != test.want || x.Status != test.status || x.Stamps != wire.UserStamps || x.ConnReused != (i > 0) || x.Status != 0 && x.Protocol != "h2" {
				t.Errorf("%s %s: %v (%v), status %d, reused %v, %q", base, test.path, x.Cause, x.Err, x.Status, x.ConnReused, x.Protocol)
			}
			if test.path != "too_many_429" && len(rec.Events) != test.events {
				t.Errorf("%s %s: %d events", base, test.path, len(rec.Events))
			}
		}
	}
}

// TestHTTP2Fails asks servers that cannot be reached, and one that speaks
// HTTP/1.1 only, which is what then is spoken and recorded.
func TestHTTP2Fails(t *testing.T) {
	server := wiretest.NewTLSFaultServer(t)
	c := clock.NewReal()
	t.Cleanup(c.Close)
	tr := wire.NewNetHTTP(wire.Config{Clock: c, HTTP2: true, TLS: server.Client})
	t.Cleanup(tr.Close)
	for name, want := range map[string]wire.Cause{"refused": wire.Refused, "never_accepted": wire.TimeoutConnect, "healthy": wire.Completed} {
		for _, f := range server.Faults {
			if f.Name != name {
				continue
			}
			rec := wiretest.Start(tr, wiretest.Post(f.URL, f.Limits))
			rec.Wait(t)
			rec.Check(t)
			if rec.X.Cause != want || name == "healthy" && rec.X.Protocol != "http/1.1" {
				t.Errorf("%s: %v (%v), want %v", name, rec.X.Cause, rec.X.Err, want)
			}
		}
	}
}

func TestHTTP2Cancel(t *testing.T) {
	base := http2Server(t, nil)
	c := clock.NewReal()
	t.Cleanup(c.Close)
	tr := wire.NewNetHTTP(wire.Config{Clock: c, HTTP2: true})
	first := make(chan struct{}, 1)
	r := wiretest.Post(base+"/stall_in_stream", wire.Limits{})
	r.IsToken = func([]byte) bool { first <- struct{}{}; return true }
	rec := wiretest.Start(tr, r)
	<-first
	tr.Cancel(&rec.X, wire.Cancelled)
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Cancelled || len(rec.Events) != 1 {
		t.Errorf("%v (%v), %d events", rec.X.Cause, rec.X.Err, len(rec.Events))
	}
	cut := wiretest.Start(tr, wiretest.Post(base+"/stall_before_head", wire.Limits{}))
	tr.Close()
	cut.Wait(t)
	cut.Check(t)
	if cut.X.Cause != wire.Cut {
		t.Errorf("%v (%v), want cut", cut.X.Cause, cut.X.Err)
	}
}
