package wiretest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire"
)

// New makes the transport under test.
type New func(wire.Config) wire.Transport

// Suite holds a transport against everything that the seam promises over plain
// HTTP/1.1.
func Suite(t *testing.T, newTransport New) {
	s := &suite{newTransport: newTransport, serve: NewFaultServer}
	t.Run("faults", s.faults)
	t.Run("warmups", s.warmups)
	t.Run("answers", s.answers)
	t.Run("whole", s.whole)
	t.Run("ndjson", s.ndjson)
	t.Run("limits", s.limits)
	t.Run("late_reader", s.lateReader)
	t.Run("cancel", s.cancel)
	t.Run("cancel_race", s.cancelRace)
	t.Run("close", s.close)
	t.Run("start_after_close", s.startAfterClose)
	t.Run("slow_sink", s.slowSink)
	t.Run("reuse", s.reuse)
	t.Run("ahead", s.ahead)
	t.Run("idle_closed", s.idleClosed)
	t.Run("unasked", s.unasked)
	t.Run("many", s.many)
	t.Run("unix", s.unix)
	t.Run("ipv6", s.ipv6)
	t.Run("request", s.request)
	t.Run("no_such_host", s.noSuchHost)
}

// SuiteTLS is the part of Suite that TLS could change, over TLS, and what only
// TLS has.
func SuiteTLS(t *testing.T, newTransport New) {
	s := &suite{newTransport: newTransport, serve: NewTLSFaultServer}
	t.Run("faults", s.faults)
	t.Run("warmups", s.warmups)
	t.Run("answers", s.answers)
	t.Run("limits", s.limits)
	t.Run("cancel", s.cancel)
	t.Run("cancel_race", s.cancelRace)
	t.Run("close", s.close)
	t.Run("reuse", s.reuse)
	t.Run("ahead", s.ahead)
	t.Run("idle_closed", s.idleClosed)
	t.Run("unasked", s.unasked)
	t.Run("many", s.many)
	t.Run("trust", s.trust)
	t.Run("client_certificate", s.clientCertificate)
	t.Run("silent_handshake", s.silentHandshake)
}

type suite struct {
	newTransport New
	serve        func(testing.TB) *FaultServer
}

// open returns a transport that is closed, and has left no goroutine, when the
// test ends.
func (s *suite) open(t *testing.T, cfg wire.Config) wire.Transport {
	t.Helper()
	before := goleak.IgnoreCurrent()
	cfg.Clock = clock.NewReal()
	tr := s.newTransport(cfg)
	t.Cleanup(func() {
		tr.Close()
		cfg.Clock.Close()
		goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/tokamak-bench/tokamak/wire/wiretest.(*FaultServer).accept.func1"))
	})
	return tr
}

// faults starts every fault at once and compares what became of each.
func (s *suite) faults(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client, Reuse: wire.Fresh, MaxEvent: 4 << 20})
	recs := map[string]*Recording{}
	for _, f := range server.Faults {
		if f.Warmups == 0 {
			recs[f.Name] = Start(tr, Post(f.URL, f.Limits))
		}
	}
	for _, f := range server.Faults {
		rec := recs[f.Name]
		if rec == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			rec.Wait(t)
			rec.Check(t)
			x := &rec.X
			// On a busy machine a deadline may pass before the head has come.
			early := f.Outcome == "timeout" && x.Status == 0
			if x.Cause != f.Cause || x.Status != f.Status && !early {
				t.Errorf("cause %v, status %d (%v); want %v, %d", x.Cause, x.Status, x.Err, f.Cause, f.Status)
			}
			if f.Coalesced && (len(rec.Events) < 2 || rec.Events[1].Flags&wire.Coalesced == 0) {
				t.Errorf("%d events that shared a write are not all flagged", len(rec.Events))
			}
		})
	}
}

// warmups shows the faults that need a used connection.
func (s *suite) warmups(t *testing.T) {
	for _, f := range NewFaultServer(t).Faults {
		if f.Warmups == 0 {
			continue
		}
		server := s.serve(t)
		tr := s.open(t, wire.Config{TLS: server.Client})
		f := server.Fault(t, f.Name)
		for i := range f.Warmups + 1 {
			rec := Start(tr, Post(f.URL, f.Limits))
			rec.Wait(t)
			rec.Check(t)
			want, x := wire.Completed, &rec.X
			if i == f.Warmups {
				want = f.Cause
			}
			if x.Cause != want || x.ConnReused != (i > 0) || server.Requests() != i+1 {
				t.Errorf("%s, request %d: cause %v (%v), reused %v, %d requests read; want %v", f.Name, i, x.Cause, x.Err, x.ConnReused, server.Requests(), want)
			}
		}
	}
}

// answers compares the bytes of streams that differ only in their framing.
func (s *suite) answers(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	want := dataOf(t, tr, server.Fault(t, "healthy"))
	for _, name := range []string{"http10_without_length", "until_close", "informational", "identity_encoding", "one_write", "one_chunk",
		"every_byte", "chunk_extensions_and_trailer", "crlf_lines", "cr_lines", "byte_order_mark", "comments", "named_events", "no_space_after_colon"} {
		if got := dataOf(t, tr, server.Fault(t, name)); got != want {
			t.Errorf("%s: data\n%s\nwant\n%s", name, got, want)
		}
	}
	if n := strings.Count(want, "word"); n != 8 {
		t.Errorf("%d words in\n%s", n, want)
	}
	if got := dataOf(t, tr, server.Fault(t, "big_event")); len(got) < 1_000_000 || !strings.HasSuffix(got, "[DONE]\n") {
		t.Errorf("big event: %d bytes", len(got))
	}
}

// dataOf returns the data of all events of an answer, one a line.
func dataOf(t *testing.T, tr wire.Transport, f Fault) string {
	t.Helper()
	rec := Start(tr, Post(f.URL, wire.Limits{}))
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Completed {
		t.Errorf("%s: %v: %v", f.Name, rec.X.Cause, rec.X.Err)
	}
	var b bytes.Buffer
	for _, e := range rec.Events {
		if _, data, ok := wire.EventData(e.Data); ok {
			fmt.Fprintf(&b, "%s\n", data)
		}
	}
	return b.String()
}

func (s *suite) unix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	server := NewFaultServerOn(t, "unix", path)
	tr := s.open(t, wire.Config{UnixSocket: path})
	if got := dataOf(t, tr, server.Fault(t, "healthy")); !strings.Contains(got, "[DONE]") {
		t.Errorf("over a unix socket: %q", got)
	}
}

func (s *suite) ipv6(t *testing.T) {
	if !hasIPv6() {
		t.Skip("this machine has no IPv6 loopback")
	}
	server := NewFaultServerOn(t, "tcp6", "[::1]:0")
	tr := s.open(t, wire.Config{})
	if got := dataOf(t, tr, server.Fault(t, "healthy")); !strings.Contains(got, "[DONE]") {
		t.Errorf("over IPv6: %q", got)
	}
}

func (s *suite) noSuchHost(t *testing.T) {
	tr := s.open(t, wire.Config{})
	rec := Start(tr, Post("http://no-such-host.invalid", wire.Limits{}))
	rec.Wait(t)
	rec.Check(t)
	if rec.X.Cause != wire.Refused || rec.X.ConnReady != wire.NotReached {
		t.Errorf("cause %v (%v), ready %d; want refused", rec.X.Cause, rec.X.Err, rec.X.ConnReady)
	}
}
