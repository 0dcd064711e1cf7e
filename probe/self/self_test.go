package self

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tokamak-bench/tokamak/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type clock struct {
	epoch time.Time
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(time.Since(c.epoch) + c.ahead)
}

func (c *clock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

type sink struct {
	mu      sync.Mutex
	samples []record.Sample
	events  []record.Event
	err     error
}

func (s *sink) Sample(x record.Sample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, x)
	return s.err
}

func (s *sink) Event(e record.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	return s.err
}

// last returns the newest sample of each name.
func (s *sink) last() map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]float64{}
	for _, x := range s.samples {
		out[x.Name] = x.Value
	}
	return out
}

// tree writes files below a new directory.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadingsOfAFakeSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		cfg := Config{Proc: filepath.Join(root, "proc"), Cgroup: filepath.Join(root, "cgroup")}
		tree(t, root, map[string]string{
			"proc/stat":                             "cpu  100 0 50 1000 10 0 5 20 0 0\ncpu0 1 2 3\n",
			"proc/pressure/memory":                  "some avg10=0.00 avg60=0.00 avg300=0.00 total=500\nfull avg10=0 total=0\n",
			"proc/loadavg":                          "0.25 0.18 0.12 3/80 11206\n",
			"cgroup/a/b/cpu.pressure":               "some avg10=0.00 total=900000\nfull avg10=0.00 total=7000\n",
			"proc/pressure/cpu":                     "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0 total=0\n",
			"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
			"proc/self/statm":                       "900 10 5 1 0 1 0\n",
			"proc/self/task/7/schedstat":            "1 5000000 3\n",
			"proc/self/task/8/schedstat":            "1 0 3\n",
			"proc/self/fd/0":                        "",
			"proc/self/fd/1":                        "",
			"proc/self/net/sockstat":                "sockets: used 9\nTCP: inuse 4 orphan 0 tw 3 alloc 4 mem 1\n",
			"proc/self/net/sockstat6":               "TCP6: inuse 2\n",
			"proc/self/net/snmp":                    "Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs\nTcp: 100 7\n",
			"proc/self/cgroup":                      "3:cpu,cpuacct:/old\n0::/a/b\n",
			"cgroup/a/b/cpu.stat":                   "usage_usec 5\nnr_periods 10\nnr_throttled 2\nthrottled_usec 1000\n",
		})
		s := &sink{}
		p := New(&clock{epoch: time.Now()}, s, cfg)
		p.Start()
		if n := len(s.last()); n > 0 {
			t.Errorf("%d samples before any time has passed", n)
		}
		tree(t, root, map[string]string{
			"proc/stat":                  "cpu  150 0 75 1100 10 0 5 30 0 0\n",
			"proc/pressure/cpu":          "some avg10=0.00 avg60=0.00 avg300=0.00 total=251000\n",
			"proc/pressure/memory":       "some avg10=0.00 avg60=0.00 avg300=0.00 total=20500\n",
			"cgroup/a/b/cpu.pressure":    "some avg10=0.00 total=900000\nfull avg10=0.00 total=107000\n",
			"proc/self/task/7/schedstat": "1 505000000 3\n",
			"proc/self/net/snmp":         "Tcp: InSegs RetransSegs\nTcp: 100 10\n",
			"cgroup/a/b/cpu.stat":        "nr_throttled 6\nthrottled_usec 101000\n",
		})
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		got := s.last()
		want := map[string]float64{"machine_busy": 0.75, "machine_steal": 0.1, "cpu_pressure": 0.25, "cpu_wait": 0.5, "threads": 2, "fds": 2,
			"rss": float64(10 * os.Getpagesize()), "tcp_sockets": 9, "tcp_ports": 28232, "tcp_retransmits": 3,
			"throttled_periods": 4, "cpu_throttled": 0.1, "memory_pressure": 0.02, "cpu_pressure_full": 0.1, "load1": 0.25, "runnable": 3}
		for name, v := range want {
			if diff := got[name] - v; diff > 1e-9 || diff < -1e-9 {
				t.Errorf("%s: %v, want %v", name, got[name], v)
			}
		}
		n := len(s.samples)
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if len(s.samples) == n {
			t.Error("no last reading at the stop")
		}
		for _, x := range s.samples {
			if unitOf(x.Name) == "" || x.Unit == "" || x.Probe != "self" {
				t.Errorf("undescribed sample: %+v", x)
			}
		}
	})
}

func TestAbsentSourcesGiveNoSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		p := New(&clock{epoch: time.Now()}, s, Config{Proc: t.TempDir(), Cgroup: t.TempDir()})
		p.Start()
		time.Sleep(3 * time.Second)
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		got := s.last()
		for _, name := range []string{"rss", "fds", "cpu_wait", "cpu_throttled", "machine_busy", "tcp_ports", "tcp_sockets", "cpu_pressure"} {
			if v, ok := got[name]; ok {
				t.Errorf("%s = %v from nothing", name, v)
			}
		}
		if _, ok := got["goroutines"]; !ok {
			t.Error("what is there is missing too")
		}
	})
}

func TestEveryQuantityIsReadHere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the full set is Linux's")
	}
	s := &sink{}
	p := New(&clock{epoch: time.Now()}, s, Config{Every: time.Hour, Tick: time.Hour})
	p.Start()
	runtime.GC()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	got := s.last()
	for _, q := range Quantities() {
		v, ok := got[q.Name]
		optional := strings.Contains(q.Name, "throttled") || strings.Contains(q.Name, "pressure")
		if !ok && !optional {
			t.Errorf("%s was not read", q.Name)
		}
		if v < 0 {
			t.Errorf("%s = %v", q.Name, v)
		}
	}
	if got["gc_cycles"] < 1 || got["rss"] < 1<<20 || got["threads"] < 2 {
		t.Errorf("%v", got)
	}
}

func TestAStandstillIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &clock{epoch: time.Now()}, &sink{}
		p := New(c, s, Config{})
		p.Start()
		time.Sleep(500 * time.Millisecond)
		c.jump(90 * time.Millisecond) // late, but not very
		time.Sleep(100 * time.Millisecond)
		c.jump(2 * time.Second)
		time.Sleep(100 * time.Millisecond)
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if len(s.events) != 1 {
			t.Fatalf("%d events: %v", len(s.events), s.events)
		}
		e := s.events[0]
		if ns := e.Detail["ns"].(int64); e.Kind != record.StoppedEvent || ns < 2e9 || ns > 21e8 {
			t.Errorf("%+v", e)
		}
	})
}

func TestStoppedOrBusy(t *testing.T) {
	for _, c := range []struct {
		cpu   int64
		known bool
		want  string
	}{{1e6, true, "client"}, {5e8, true, "client_busy"}, {5e8, false, "client"}} {
		e := standstill(5, 1e9, c.cpu, c.known)
		if e.Name != c.want || e.At != 5 {
			t.Errorf("%+v: %+v", c, e)
		}
		if _, told := e.Detail["cpu_ns"]; told != c.known {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

func TestAnErrorOfTheSinkIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{err: errors.New("disk full")}
		p := New(&clock{epoch: time.Now()}, s, Config{})
		p.Start()
		time.Sleep(1500 * time.Millisecond)
		if err := p.Stop(); !errors.Is(err, s.err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		cpu    float64
		memory int64
	}{
		"v2, the parent is tighter": {map[string]string{
			"proc/self/cgroup": "0::/pod/app\n", "cgroup/pod/app/cpu.max": "max 100000\n", "cgroup/pod/cpu.max": "150000 100000\n",
			"cgroup/pod/app/memory.max": "2000\n", "cgroup/pod/memory.max": "max\n"}, 1.5, 2000},
		"v1": {map[string]string{
			"proc/self/cgroup": "4:memory:/x\n1:cpu,cpuacct:/x\n", "cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "50000\n",
			"cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n", "cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n"}, 0.5, 0},
		"v1, a namespace's root": {map[string]string{
			"proc/self/cgroup": "2:cpu:/not/visible\n", "cgroup/cpu/cpu.cfs_quota_us": "200000\n", "cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 2, 0},
		"none":  {map[string]string{"proc/self/cgroup": "1:cpu:/\n", "cgroup/cpu/cpu.cfs_quota_us": "-1\n", "cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0, 0},
		"empty": {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tree(t, root, c.files)
			f := Facts(Config{Proc: filepath.Join(root, "proc"), Cgroup: filepath.Join(root, "cgroup")})
			if f.CPULimit != c.cpu || f.MemoryLimit != c.memory {
				t.Errorf("%v CPUs, %d bytes", f.CPULimit, f.MemoryLimit)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	root := t.TempDir()
	tree(t, root, map[string]string{"sys/kernel/osrelease": "6.1.0\n", "meminfo": "MemTotal:  2048 kB\nMemFree: 1 kB\n",
		"cpuinfo": "processor : 0\nmodel name\t: A CPU @ 2 GHz\n"})
	f := Facts(Config{Proc: root, Cgroup: root})
	f.FileLimit = 0
	want := record.ClientFacts{OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: "6.1.0", CPU: "A CPU @ 2 GHz", CPUs: runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0), MemoryBytes: 2 << 20}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

func TestEdgeOfABucket(t *testing.T) {
	buckets := []float64{0, 1, 2, 3}
	for _, c := range []struct {
		counts []uint64
		q      float64
		want   float64
		ok     bool
	}{
		{[]uint64{0, 0, 0}, 0.99, 0, false},
		{[]uint64{99, 1, 0}, 0.99, 1, true},
		{[]uint64{98, 2, 0}, 0.99, 2, true},
		{[]uint64{99, 0, 1}, 1, 3, true},
	} {
		if got, ok := edgeAt(buckets, c.counts, c.q); got != c.want || ok != c.ok {
			t.Errorf("%+v: %v %v", c, got, ok)
		}
	}
}

func BenchmarkRound(b *testing.B) {
	s := &sink{}
	c := &clock{epoch: time.Now()}
	p := New(c, s, Config{})
	p.last = c.Now()
	p.round(0)
	b.ReportAllocs()
	for b.Loop() {
		p.read()
		s.samples = s.samples[:0]
	}
}

func TestATotalThatShrinksGivesNoReading(t *testing.T) {
	var got []float64
	r := &round{elapsed: 1e9, emit: func(_ string, v float64) { got = append(got, v) }}
	var c counter
	for _, total := range []float64{5, 7, 3, 4} { // a thread ended and took its part along
		c.add(r, "x", total, 1)
	}
	if diff := cmp.Diff([]float64{2, 1}, got); diff != "" {
		t.Error(diff)
	}
}
