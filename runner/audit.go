package runner

import (
	"slices"
	"sync"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/probe/self"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/wire"
)

// audit watches the client itself while it sends: what its process used, when
// it stood still, and how far its transports fell behind.
type audit struct {
	rec        *recorder
	transports []connected
	probe      *self.Probe // nil in virtual time, where no client stands in the way

	mu     sync.Mutex
	stood  []measure.Stop
	cpu    map[int64]float64 // cores by moment of the reading
	rss    float64
	pause  float64
	delays []float64 // 99th percentiles of scheduling delay, ns
}

// newAudit returns an audit of what is read from elsewhere.
func newAudit(rec *recorder) *audit { return &audit{rec: rec, cpu: map[int64]float64{}} }

// startAudit begins to watch.
func (r *Run) startAudit(rec *recorder) *audit {
	a := newAudit(rec)
	a.transports = r.transport
	if r.real != nil {
		a.probe = self.New(r.real, a, self.Config{})
		a.probe.Start()
	}
	return a
}

func (a *audit) stop() {
	if a.probe != nil {
		// What the sink could not write shows in the rows too.
		_ = a.probe.Stop()
	}
}

// Sample keeps what the summary shows of a reading and passes it on.
func (a *audit) Sample(s record.Sample) error {
	a.keep(&s)
	if s.Name == "cpu_user" { // the first of each reading
		a.sampleWire(s.At)
	}
	a.rec.sample(s)
	return nil
}

// keep takes a reading of probe self.
func (a *audit) keep(s *record.Sample) {
	if s.Probe != "self" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch s.Name {
	case "cpu_user":
		a.cpu[s.At] += s.Value
	case "cpu_system":
		a.cpu[s.At] += s.Value
	case "rss":
		a.rss = max(a.rss, s.Value)
	case "gc_pause_max":
		a.pause = max(a.pause, s.Value)
	case "sched_latency_p99":
		a.delays = append(a.delays, s.Value)
	}
}

// Event keeps standstills and passes all on.
func (a *audit) Event(e record.Event) error {
	a.note(e)
	a.rec.event(e)
	return nil
}

// note keeps a standstill: from the event's moment on, for as long as it says.
func (a *audit) note(e record.Event) {
	var ns int64
	switch d := e.Detail["ns"].(type) {
	case int64:
		ns = d
	case float64: // read back from events.jsonl
		ns = int64(d)
	}
	if e.Kind == record.StoppedEvent && ns > 0 {
		a.mu.Lock()
		a.stood = append(a.stood, measure.Stop{From: e.At, To: e.At + ns})
		a.mu.Unlock()
	}
}

// sampleWire records how the transports stand at the moment of a reading.
func (a *audit) sampleWire(at int64) {
	for _, t := range a.transports {
		counter, ok := t.Transport.(wire.Statistics)
		if !ok {
			continue
		}
		s := counter.Stats()
		for _, q := range []struct {
			name  string
			value int64
		}{{"in_flight", int64(s.InFlight)}, {"connections", int64(s.Open)}, {"backlog", int64(s.Backlog)},
			{"chunks", s.Chunks}, {"coalesced", s.Coalesced}, {"unstamped", s.Unstamped}, {"reads", s.Reads},
			{"held_streams", s.Held}, {"clock_steps", s.ClockSteps}} {
			a.rec.sample(record.Sample{At: at, Probe: "wire", Name: q.name, Unit: "count", Value: float64(q.value)})
		}
	}
}

func (a *audit) stops() []measure.Stop {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.stood)
}

// schedLatency bounds the time from a packet's arrival to its reading, in ns,
// where no kernel stamps tell: the delay that nine of ten seconds kept within.
func (a *audit) schedLatency() record.Int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.delays) == 0 {
		return record.Int{}
	}
	ascending := slices.Sorted(slices.Values(a.delays))
	return record.Some(int64(stat.Quantile(ascending, 0.9)))
}

// client is what the client says about itself.
func (a *audit) client(res *measure.Result) report.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	var c report.Client
	if lag, ok := res.Metrics["schedule_lag"]; ok {
		c.LagP99, c.LagMax = lag.P99, lag.Max
	}
	var total float64
	for _, cores := range a.cpu {
		total += cores
	}
	if n := len(a.cpu); n > 0 {
		c.CPU = measure.Some(total / float64(n))
		c.MaxRSS, c.GCPause = measure.Some(a.rss), measure.Some(a.pause/1e6)
	}
	return c
}
