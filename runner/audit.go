package runner

import (
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/tokamak-bench/tokamak/clock"
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
	transports []*wireAudit
	lags       *lags       // nil: nobody gathers them
	probe      *self.Probe // nil in virtual time, where no client stands in the way

	mu     sync.Mutex
	stood  []measure.Stop
	paused []measure.Stop
	wants  wants
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
	a.lags = &r.lags
	a.wants.ordinary = r.real != nil && runtime.GOOS == "linux" && runtime.NumCPU() > 1 && !clock.MayLead()
	for _, t := range r.transport {
		a.transports = append(a.transports, &wireAudit{transport: t.Transport})
	}
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
	a.takePauses()
}

// Sample keeps what the summary shows of a reading and passes it on.
func (a *audit) Sample(s record.Sample) error {
	a.keep(&s)
	if s.Name == "cpu_user" { // the first of each reading
		a.sampleWire(s.At)
		a.takePauses()
	}
	a.rec.sample(s)
	return nil
}

// keep takes a reading of probe self.
func (a *audit) keep(s *record.Sample) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wants.add(s)
	if s.Probe != "self" {
		return
	}
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
	if ns <= 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e.Kind {
	case record.StoppedEvent:
		a.stood = append(a.stood, measure.Stop{From: e.At, To: e.At + ns})
	case pausedEvent:
		a.paused = append(a.paused, measure.Stop{From: e.At, To: e.At + ns})
	}
}

// takePauses makes events of the times in which nobody read.
func (a *audit) takePauses() {
	for _, t := range a.transports {
		auditor, ok := t.transport.(wire.Auditor)
		if !ok {
			continue
		}
		for _, p := range auditor.Pauses() {
			_ = a.Event(record.Event{At: p.From, Kind: pausedEvent, Name: "reader", Detail: map[string]any{"ns": p.To - p.From}})
		}
	}
}

// sampleWire records how the transports stand at the moment of a reading, and
// how late requests were handed to them.
func (a *audit) sampleWire(at int64) {
	for i, t := range a.transports {
		target := ""
		if len(a.transports) > 1 {
			target = strconv.Itoa(i)
		}
		t.read(a.emitter(at, "wire", target))
	}
	if a.lags != nil {
		a.lags.read(a.emitter(at, "load", ""))
	}
}

// emitter records readings of a moment.
func (a *audit) emitter(at int64, probe, target string) func(name, unit string, value float64) {
	return func(name, unit string, value float64) {
		s := record.Sample{At: at, Probe: probe, Target: target, Name: name, Unit: unit, Value: value}
		a.keep(&s)
		a.rec.sample(s)
	}
}

func (a *audit) stops() []measure.Stop {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.stood)
}

// pauses are the times in which nobody read.
func (a *audit) pauses() []measure.Stop {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.paused)
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
	c.Advice = a.wants.advice(res, c.CPU.Or(0))
	return c
}
