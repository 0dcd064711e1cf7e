package calibration

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCacheKeepsOneForEachMachine(t *testing.T) {
	c := Cache{filepath.Join(t.TempDir(), "deep", "calibration.json")}
	a, b := Machine{CPU: "a", Version: "1"}, Machine{CPU: "b", Version: "1"}
	if c.Find(a) != nil {
		t.Error("found before anything was kept")
	}
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for _, r := range []*Result{
		{Schema: Schema, Machine: a, At: at, Carried: Carried{EventsPerS: 1}},
		{Schema: Schema, Machine: b, At: at, Carried: Carried{EventsPerS: 2}},
		{Schema: Schema, Machine: a, At: at, Carried: Carried{EventsPerS: 3}},
	} {
		if err := c.Keep(r); err != nil {
			t.Fatal(err)
		}
	}
	for m, want := range map[Machine]float64{a: 3, b: 2} {
		if r := c.Find(m); r == nil || r.Carried.EventsPerS != want {
			t.Errorf("%v: %+v, want %v events/s", m, r, want)
		}
	}
	if c.Find(Machine{CPU: "a", Version: "2"}) != nil {
		t.Error("another version's calibration is used")
	}
	k, err := c.read()
	if err != nil || len(k.Results) != 2 {
		t.Errorf("%d results, %v", len(k.Results), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Path), "*.part"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestADamagedCacheIsMadeAgain(t *testing.T) {
	for _, content := range []string{"", "{", "[]", `{"schema":"other/1","results":[{}]}`, `{"schema":"tokamak.calibration/1","results":[null]}`} {
		c := Cache{filepath.Join(t.TempDir(), "c.json")}
		if err := os.WriteFile(c.Path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := c.Find(Machine{}); r != nil {
			t.Errorf("%q: %+v", content, r)
		}
		if err := c.Keep(&Result{Schema: Schema}); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if c.Find(Machine{}) == nil {
			t.Errorf("%q: not kept", content)
		}
	}
}

func TestWarning(t *testing.T) {
	r := &Result{Carried: Carried{EventsPerS: 100_000}}
	for _, c := range []struct {
		r     *Result
		asked float64
		want  string // part of it; empty: silence
	}{
		{nil, 9_999, ""},
		{nil, 10_000, "tokamak calibrate finds out"},
		{&Result{}, 10_000, "tokamak calibrate finds out"},
		{r, 60_000, ""},
		{r, 60_001, "about 60,001 events/s, 60% of the 100,000"},
		{r, 100_001, "more than the 100,000"},
	} {
		got := c.r.Warning(Plan{EventsPerS: c.asked})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v of %+v: %q", c.asked, c.r, got)
		}
	}
	if got := r.Warning(Plan{EventsPerS: 1e6, Assumed: "at 100 tokens/s for each user"}); !strings.Contains(got, "1,000,000 events/s (at 100 tokens/s for each user)") {
		t.Error(got)
	}
}

func TestWhoGaveUp(t *testing.T) {
	const asked, gap = 1000.0, 20 * time.Millisecond
	good := seen{seconds: 2, events: 2000, coalesced: 0.01, server: Spread{P99: 15}}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string
	}{
		"in time":                  {func(*seen) {}, ""},
		"events met":               {func(w *seen) { w.coalesced = 0.011; w.server.P99 = 9 }, "client"},
		"held up":                  {func(w *seen) { w.held = 1; w.server.P99 = 9 }, "client"},
		"too few":                  {func(w *seen) { w.events = 1939; w.server.P99 = 9 }, "client"},
		"too few, the server late": {func(w *seen) { w.events = 1939 }, "server"},
	} {
		w := good
		c.change(&w)
		if got := w.limit(asked, gap); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDelays: 98 reads below 2^10 ns, one below 2^20, one below 2^30.
func TestDelays(t *testing.T) {
	var counts [40]int64
	if delays(&counts) != nil {
		t.Error("figures from nothing")
	}
	counts[10], counts[20], counts[30] = 98, 1, 1
	want := &Spread{Count: 100, P50: 1024e-6, P99: 1048576e-6, Max: 1073741824e-6}
	if diff := cmp.Diff(want, delays(&counts)); diff != "" {
		t.Error(diff)
	}
}

func TestSpread(t *testing.T) {
	ns := make([]int64, 100)
	for i := range ns {
		ns[i] = int64(100-i) * 1e6
	}
	if got := spread(ns); got != (Spread{100, 50, 99, 100}) {
		t.Errorf("%+v", got)
	}
	if got := spread(nil); got != (Spread{}) {
		t.Errorf("%+v", got)
	}
}

func TestBusyTime(t *testing.T) {
	got, ok := busyTime([]byte("cpu  100 2 30 4000 50 6 7 8 0 0\ncpu0 1 1 1\n"))
	if !ok || got != 145e7 {
		t.Errorf("%v, %v", got, ok)
	}
	for _, bad := range []string{"", "cpu 1 2", "cpu a b c d e f g h"} {
		if _, ok := busyTime([]byte(bad)); ok {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestServe: the events come with their stamps, then the end.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error)
	go func() { ended <- Serve(ctx, w) }()
	line := make([]byte, 64)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + strings.TrimSpace(string(line[:n]))
	before := time.Now().UnixNano()
	answer, err := http.Post(base+"/stream?first=1000&gap=1000&events=3", "", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.HasSuffix(string(body), "data: [DONE]\n\n") {
		t.Errorf("%q, %v", body, err)
	}
	events := strings.SplitAfter(string(body), "\n\n")
	last := before
	for _, e := range events[:3] {
		at, ok := sentAt([]byte(e))
		if !ok || at < last || at > time.Now().UnixNano() {
			t.Errorf("%q: %d, %v", e, at, ok)
		}
		last = at
	}
	for _, e := range append(events[3:], `data: {"sent":12`, `"sent":123456789012345678x`) {
		if at, ok := sentAt([]byte(e)); ok {
			t.Errorf("%q: %d", e, at)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestText: what is unknown is not shown as zero.
func TestText(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	r := &Result{Machine: Machine{OS: "linux", Kernel: "6.1", CPU: "A CPU", CPUs: 8, GOMAXPROCS: 8, CPULimit: 2, Version: "v1"},
		ScheduleLag: Spread{300, 0.02, 0.1, 0.5}, StampNoise: Spread{2000, 0.004, 0.013, 0.05}, ReadDelay: &Spread{9, 1, 4, 8},
		Costs:   []Cost{{Streams: 64, EventsPerS: 3200, CPUPerEvent: f(8), ByCPU: f(250_000)}, {Streams: 2000, EventsPerS: 1e5}},
		Carried: Carried{Streams: 2000, EventsPerS: 142_000, Refused: 200_000, Limit: "server"}, StreamBytes: f(20480), Others: f(1.4)}
	want := `machine        A CPU, 8 CPUs of which the cgroup allows 2, linux 6.1, tokamak v1
schedule lag   p50 0.020 ms, p99 0.100 ms, max 0.500 ms: requests left that late, 300 of them
stamp noise    p50 0.004 ms, p99 0.013 ms, max 0.050 ms: an event's stamp less the server's own, 2,000 of them
read after     p50 1.000 ms, p99 4.000 ms, max 8.000 ms at most: from the kernel's stamp to the read
cost              64 streams:  8.0 µs of CPU an event at 3,200 events/s; all of its CPU would pay for 250,000
               2,000 streams: 100,000 events/s read, CPU time unknown
carries        142,000 events/s over 2,000 streams; at 200,000 the server beside it fell behind, which shares the machine
memory         20 KiB for each open stream
note           other processes used 1.4 CPUs meanwhile: an idle machine carries more; calibrate it then
warned of      plans above 85,200 events/s, 60% of what it carries
`
	if diff := cmp.Diff(want, r.Text()); diff != "" {
		t.Error(diff)
	}
	r.Carried, r.ReadDelay, r.StreamBytes = Carried{Streams: 2000}, nil, nil
	text := r.Text()
	for _, part := range []string{"not even the lowest rate", "unknown: there are no kernel stamps"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if m := r.Machine; m.cores() != 2 {
		t.Errorf("%v cores", m.cores())
	}
}
