package wiretest

import (
	"net"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// reuse counts the connections of each policy.
func (s *suite) reuse(t *testing.T) {
	for _, test := range []struct {
		name             string
		cfg              wire.Config
		together, rounds int
		want             int
	}{
		{"warm", wire.Config{}, 1, 5, 1},
		{"warm, four at a time", wire.Config{}, 4, 3, 4},
		{"fresh", wire.Config{Reuse: wire.Fresh}, 1, 5, 5},
		{"limit of two idle, four at a time", wire.Config{Reuse: wire.Limit, MaxIdle: 2}, 4, 3, 4 + 2 + 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := s.serve(t)
			f := server.Fault(t, "slow_accept") // answers after a pause, so that those of a round overlap
			test.cfg.TLS = server.Client
			tr := s.open(t, test.cfg)
			for range test.rounds {
				var recs []*Recording
				for range test.together {
					recs = append(recs, Start(tr, Post(f.URL, wire.Limits{})))
				}
				for _, rec := range recs {
					rec.Wait(t)
					rec.Check(t)
					if rec.X.Cause != wire.Completed {
						t.Fatalf("%v: %v", rec.X.Cause, rec.X.Err)
					}
				}
			}
			if got := server.Connections(); got != test.want {
				t.Errorf("%d connections, want %d", got, test.want)
			}
		})
	}
}

// ahead opens connections before their first use.
func (s *suite) ahead(t *testing.T) {
	server := s.serve(t)
	f := server.Fault(t, "slow_accept")
	tr := s.open(t, wire.Config{TLS: server.Client})
	w, ok := tr.(wire.Warmer)
	if !ok {
		t.Skip("this transport opens none ahead")
	}
	const n = 5
	for range 2 { // the second time they are there
		if err := w.Warm(t.Context(), Post(f.URL, wire.Limits{}).URL, n); err != nil {
			t.Fatal(err)
		}
	}
	var recs []*Recording
	for range n {
		recs = append(recs, Start(tr, Post(f.URL, wire.Limits{})))
	}
	for _, rec := range recs {
		rec.Wait(t)
		rec.Check(t)
		// Not opened for this request: if it ends early it was stale.
		if rec.X.Cause != wire.Completed || !rec.X.ConnReused {
			t.Errorf("%v (%v), reused %v", rec.X.Cause, rec.X.Err, rec.X.ConnReused)
		}
	}
	if got := server.Connections(); got != n {
		t.Errorf("%d connections, want %d", got, n)
	}
	if err := w.Warm(t.Context(), Post(server.Fault(t, "refused").URL, wire.Limits{}).URL, 1); err == nil {
		t.Error("a refused connection gave no error")
	}
}

// idleClosed shows that a connection which the server closed while it was idle
// is not used again.
func (s *suite) idleClosed(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	f := server.Fault(t, "closes_idle")
	for i := range 5 {
		rec := Start(tr, Post(f.URL, wire.Limits{}))
		rec.Wait(t)
		rec.Check(t)
		if rec.X.Cause != wire.Completed || rec.X.ConnReused {
			t.Errorf("request %d: %v (%v), reused %v", i, rec.X.Cause, rec.X.Err, rec.X.ConnReused)
		}
		server.settle(t)
	}
}

// unasked shows that a connection on which the server said more than it was
// asked carries no other request.
func (s *suite) unasked(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	f := server.Fault(t, "speaks_unasked")
	for i := range 3 {
		rec := Start(tr, Post(f.URL, wire.Limits{}))
		rec.Wait(t)
		rec.Check(t)
		if rec.X.Cause != wire.Completed || rec.X.ConnReused || len(rec.Events) != 12 {
			t.Errorf("request %d: %v (%v), reused %v, %d events", i, rec.X.Cause, rec.X.Err, rec.X.ConnReused, len(rec.Events))
		}
	}
}

// settle waits until the server has closed every connection.
func (s *FaultServer) settle(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		open := len(s.conns)
		s.mu.Unlock()
		if open == 0 {
			return
		}
	}
	t.Fatal("connections stay open")
}

// many runs a few hundred streams at once.
func (s *suite) many(t *testing.T) {
	server := s.serve(t)
	tr := s.open(t, wire.Config{TLS: server.Client})
	f := server.Fault(t, "healthy")
	recs := make([]*Recording, 200)
	for i := range recs {
		recs[i] = Start(tr, Post(f.URL, wire.Limits{}))
	}
	ids := map[int64]bool{}
	for _, rec := range recs {
		rec.Wait(t)
		rec.Check(t)
		if rec.X.Cause != wire.Completed || len(rec.Events) != 12 {
			t.Fatalf("%v (%v), %d events", rec.X.Cause, rec.X.Err, len(rec.Events))
		}
		ids[rec.X.ConnID] = true
	}
	if st, ok := tr.(wire.Statistics); ok {
		if s := st.Stats(); s.InFlight != 0 || s.Chunks != 12*int64(len(recs)) || s.Reads == 0 || s.Open > server.Connections() {
			t.Errorf("figures of %d exchanges over %d connections: %+v", len(recs), server.Connections(), s)
		}
	}
	if len(ids) != server.Connections() {
		t.Errorf("%d connection ids for %d connections", len(ids), server.Connections())
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
