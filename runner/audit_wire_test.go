package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/wire"
)

// fakeWire is a transport whose figures are given.
type fakeWire struct {
	wire.Transport
	stats   wire.Stats
	sockets []wire.Socket
	pauses  []wire.Pause
}

func (f *fakeWire) Stats() wire.Stats           { return f.stats }
func (f *fakeWire) Sockets(n int) []wire.Socket { return f.sockets[:min(n, len(f.sockets))] }
func (f *fakeWire) Pauses() []wire.Pause        { p := f.pauses; f.pauses = nil; return p }

// TestWireBySecond: shares and delays are those since the last reading.
func TestWireBySecond(t *testing.T) {
	f := &fakeWire{}
	w := &wireAudit{transport: f}
	read := func() map[string]float64 {
		got := map[string]float64{}
		w.read(func(name, _ string, v float64) { got[name] = v })
		return got
	}
	f.stats.Chunks, f.stats.Coalesced, f.stats.Delay[10] = 100, 50, 90
	if got := read(); got["coalesced_share"] != 0.5 || got["read_delay_max"] != 1024 {
		t.Errorf("first: %v", got)
	}
	if got := read(); got["chunks"] != 100 || len(got) != 9 {
		t.Errorf("nothing was read, and yet: %v", got)
	}
	f.stats.Chunks, f.stats.Coalesced = 300, 70
	f.stats.Delay[11], f.stats.Delay[20] = 99, 1
	f.sockets = []wire.Socket{{RTT: 30 * time.Microsecond, Retransmits: 2}, {RTT: 50 * time.Microsecond, Unread: 77, Retransmits: 1}}
	got := read()
	for name, want := range map[string]float64{"coalesced_share": 0.1, "read_delay_p50": 2048, "read_delay_p99": 2048, "read_delay_max": 1 << 20,
		"rtt_p50": 30e3, "rtt_max": 50e3, "retransmits": 3, "unread_max": 77} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
}

// TestLagsBySecond: 1, 2 and 40 ms, the wait for a slot left out, a retry too.
func TestLagsBySecond(t *testing.T) {
	var l lags
	for _, c := range []struct{ dispatched, held, attempt int64 }{{1e6, 0, 1}, {5e6, 3e6, 1}, {40e6, 0, 1}, {900e6, 0, 2}} {
		a := &record.Attempt{}
		a.Identity.Attempt, a.Intended, a.Dispatched = c.attempt, record.Some(0), record.Some(c.dispatched)
		if c.held > 0 {
			a.Held = record.Some(c.held)
		}
		l.add(a)
	}
	l.add(&record.Attempt{}) // never handed over
	got := map[string]float64{}
	emit := func(name, _ string, v float64) { got[name] = v }
	l.read(emit)
	if d := cmp.Diff(map[string]float64{"schedule_lag_p50": 2e6, "schedule_lag_p99": 40e6, "schedule_lag_max": 40e6}, got); d != "" {
		t.Error(d)
	}
	clear(got)
	if l.read(emit); len(got) > 0 {
		t.Errorf("told twice: %v", got)
	}
}

// TestPausesAreKept: what the reader says of itself reaches measuring.
func TestPausesAreKept(t *testing.T) {
	a := newAudit(&recorder{})
	a.transports = []*wireAudit{{transport: &fakeWire{pauses: []wire.Pause{{From: 5, To: 12}}}}}
	a.takePauses()
	a.takePauses()
	if d := cmp.Diff([]measure.Stop{{From: 5, To: 12}}, a.pauses()); d != "" {
		t.Error(d)
	}
	if len(a.stops()) > 0 {
		t.Error("a pause of the reader is no standstill of the client")
	}
}

func TestAdvice(t *testing.T) {
	doubt := &measure.Result{Validity: map[string]measure.Validity{"ttft": {Trust: measure.Degraded}}}
	for name, c := range map[string]struct {
		samples map[string]float64
		res     *measure.Result
		own     float64
		want    []string
		// ordinary says that no real-time priority was allowed.
		ordinary bool
	}{
		"nothing wanting": {samples: map[string]float64{"self.cpu_user": 0.5, "self.machine_busy": 0.6}, res: doubt, own: 0.5, ordinary: true},
		"no priority": {samples: map[string]float64{"self.cpu_user": 0.5, "self.cpu_wait": 0.1}, res: doubt, own: 0.5, ordinary: true,
			want: []string{"the thread that sends had no real-time priority: allow it one (CAP_SYS_NICE, or ulimit -r 1)"}},
		"no priority to be had": {samples: map[string]float64{"self.cpu_user": 0.5, "self.cpu_wait": 0.1}, res: doubt, own: 0.5},
		"limits are told of valid figures too": {samples: map[string]float64{"self.fds": 900, "self.fd_limit": 1000, "self.tcp_sockets": 90, "self.tcp_ports": 100},
			res: &measure.Result{}, want: []string{"900 of 1,000 file descriptors were open: raise ulimit -n",
				"up to 90 of 100 local ports were taken: widen net.ipv4.ip_local_port_range, or keep connections"}},
		"below the limits": {samples: map[string]float64{"self.fds": 899, "self.fd_limit": 1000}, res: doubt},
		"valid figures":    {samples: map[string]float64{"self.cpu_user": 0.1, "self.cpu_throttled": 0.5}, res: &measure.Result{}},
		"a quota": {samples: map[string]float64{"self.cpu_user": 0.1, "self.cpu_throttled": 0.5}, res: doubt, own: 0.1,
			want: []string{"the cgroup's CPU quota held the client back 50% of the time: raise the quota"}},
		"memory": {samples: map[string]float64{"self.cpu_user": 0.1, "self.gc_assist": 0.4}, res: doubt, own: 0.1,
			want: []string{"the client was short of memory: give it more, or raise GOMEMLIMIT"}},
		"decoding": {samples: map[string]float64{"self.cpu_user": 0.1, "wire.backlog": 1024, "wire.held_streams": 3}, res: doubt, own: 0.1,
			want: []string{"answers waited to be decoded (1,024 pieces at most, 3 streams left unread): give the client more cores"}},
	} {
		w := wants{ordinary: c.ordinary}
		// The first of each reading comes first.
		for _, key := range []string{"self.cpu_user", "self.machine_busy"} {
			if v, ok := c.samples[key]; ok {
				w.add(&record.Sample{Probe: "self", Name: key[len("self."):], Value: v})
				delete(c.samples, key)
			}
		}
		for key, v := range c.samples {
			probe, name := key[:4], key[5:]
			w.add(&record.Sample{Probe: probe, Name: name, Value: v})
		}
		if d := cmp.Diff(c.want, w.advice(c.res, c.own)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
