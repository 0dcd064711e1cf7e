package runner

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// testimony is two readings of the client and two standstills.
func testimony() ([]record.Sample, []record.Event) {
	var samples []record.Sample
	for _, r := range []struct {
		at                      int64
		user, system, rss, stop float64
		delay                   float64
	}{{1e9, 0.2, 0.1, 30e6, 2e6, 1000}, {2e9, 0.4, 0.3, 50e6, 1e6, 9000}} {
		for name, v := range map[string]float64{"cpu_user": r.user, "cpu_system": r.system, "rss": r.rss, "gc_pause_max": r.stop, "sched_latency_p99": r.delay} {
			samples = append(samples, record.Sample{At: r.at, Probe: "self", Name: name, Value: v})
		}
		samples = append(samples, record.Sample{At: r.at, Probe: "wire", Name: "rss", Value: 1e12}) // another probe's
	}
	return samples, []record.Event{
		{At: 0, Kind: loadEvent, Name: "begin"},
		{At: 3e9, Kind: record.StoppedEvent, Name: "client", Detail: map[string]any{"ns": int64(2e9)}},
		{At: 7e9, Kind: record.NoticeEvent, Name: "limit", Detail: map[string]any{"ns": int64(5)}},
	}
}

// wantTestimony: (0.2+0.1 + 0.4+0.3)/2 cores, 50 MB, 2 ms; of two delays the
// 0.9-quantile is the larger; the client stood still from 3 to 5 s.
func wantTestimony(t *testing.T, a *audit) {
	t.Helper()
	c := a.client(&measure.Result{})
	got := []string{c.CPU.String(), c.MaxRSS.String(), c.GCPause.String()}
	if d := cmp.Diff([]string{"0.5", "5e+07", "2"}, got); d != "" {
		t.Error(d)
	}
	if c.LagP99.Valid() {
		t.Error("a schedule lag of no request is present")
	}
	if ns := a.schedLatency().Or(0); ns != 9000 {
		t.Errorf("delay %d ns, want 9000", ns)
	}
	if d := cmp.Diff([]measure.Stop{{From: 3e9, To: 5e9}}, a.stops()); d != "" {
		t.Error(d)
	}
}

func TestAuditByHand(t *testing.T) {
	samples, events := testimony()
	a := newAudit(&recorder{})
	for _, s := range samples {
		if err := a.Sample(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		if err := a.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	wantTestimony(t, a)
}

// TestAuditReadBack: a recovered run tells the same of its client.
func TestAuditReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w, err := record.Create(dir, &record.Manifest{}, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, events := testimony()
	for _, s := range samples {
		if err := w.Sample(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := newAudit(&recorder{})
	var opt measure.Options
	if err := a.read(run, &opt); err != nil {
		t.Fatal(err)
	}
	wantTestimony(t, a)
	if opt.Start.Or(-1) != 0 || len(opt.Stops) != 1 || opt.SchedLatency.Or(0) != 9000 {
		t.Errorf("options %+v", opt)
	}
}

func TestStampShares(t *testing.T) {
	var s stampCount
	if s.shares() != nil {
		t.Error("no chunk has shares")
	}
	kernel, user := &record.Attempt{}, &record.Attempt{}
	kernel.StampSource, kernel.Chunks = record.SourceKernel, record.Chunks{At: []int64{1, 2, 3}, Flags: []uint8{0, record.Unstamped, record.Coalesced}}
	user.StampSource, user.Chunks = record.SourceUser, record.Chunks{At: []int64{1}, Flags: []uint8{record.Unstamped}}
	s.add(kernel)
	s.add(user)
	s.add(&record.Attempt{})
	if d := cmp.Diff(map[string]float64{"kernel": 0.5, "user": 0.5}, s.shares()); d != "" {
		t.Error(d)
	}
}

// TestReplicasKeepSessions: sessions go round, the turns of one stay.
func TestReplicasKeepSessions(t *testing.T) {
	a, b := &fakeTarget{}, &fakeTarget{}
	r := Replicas{a, b}
	for session, want := range []Target{a, b, a} {
		for range 2 {
			if got := r.of(&Call{number: int64(session)}); got != want {
				t.Errorf("session %d went elsewhere", session)
			}
		}
	}
}

func TestSecretsAlsoEncoded(t *testing.T) {
	r := &Run{}
	r.keepSecret("Bearer key/with+plus")
	r.keepSecret("2")
	for _, want := range []string{"Bearer key/with+plus", "key/with+plus", "a2V5L3dpdGgrcGx1cw==", "key%2Fwith%2Bplus"} {
		found := false
		for _, s := range r.secrets {
			found = found || s == want
		}
		if !found {
			t.Errorf("%q is not hidden", want)
		}
	}
	for _, s := range r.secrets {
		if len(s) < 6 {
			t.Errorf("%q stands in every other text", s)
		}
	}
}
