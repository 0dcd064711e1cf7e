package interop

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/verify"
)

// k6Data is what k6 hands to handleSummary.
type k6Data struct {
	Root    k6Group              `json:"root_group"`
	Options k6Options            `json:"options"`
	State   k6State              `json:"state"`
	Metrics map[string]*k6Metric `json:"metrics"`
}

type k6Group struct {
	Name   string   `json:"name"`
	Path   string   `json:"path"`
	ID     string   `json:"id"`
	Groups []string `json:"groups"`
	Checks []string `json:"checks"`
}

type k6Options struct {
	Trend    []string `json:"summaryTrendStats"`
	TimeUnit string   `json:"summaryTimeUnit"`
	NoColor  bool     `json:"noColor"`
}

type k6State struct {
	OutTTY   bool    `json:"isStdOutTTY"`
	ErrTTY   bool    `json:"isStdErrTTY"`
	Duration float64 `json:"testRunDurationMs"`
}

type k6Metric struct {
	Type       string                 `json:"type"`
	Contains   string                 `json:"contains"`
	Values     map[string]float64     `json:"values"`
	Thresholds map[string]k6Threshold `json:"thresholds,omitempty"`
}

type k6Threshold struct {
	OK bool `json:"ok"`
}

// k6Run gathers what k6's metrics are made of: every sending is a request.
type k6Run struct {
	trends           map[string][]float64 // ms
	requests, failed int
	received, sent   float64
	seconds          float64
	metrics          map[string]*k6Metric
}

// writeK6 writes the built-in HTTP metrics as k6 defines them, and those of
// ours that objectives are on as custom metrics, in k6's statistics.
func writeK6(w io.Writer, r *outRun) error {
	k := &k6Run{trends: map[string][]float64{}, metrics: map[string]*k6Metric{}}
	for a, err := range r.run.Attempts() {
		if err != nil {
			return err
		}
		k.add(a)
	}
	duration, timed := r.sum.Run.Duration.Get()
	k.seconds = duration / 1e3
	for name, values := range k.trends {
		k.trend(name, values)
	}
	rate := func(n float64) map[string]float64 {
		v := map[string]float64{"count": n}
		if timed && k.seconds > 0 {
			v["rate"] = n / k.seconds
		}
		return v
	}
	k.metrics["http_reqs"] = &k6Metric{Type: "counter", Contains: "default", Values: rate(float64(k.requests))}
	if r.m.Imported == nil { // else nobody counted
		k.metrics["data_received"] = &k6Metric{Type: "counter", Contains: "data", Values: rate(k.received)}
		k.metrics["data_sent"] = &k6Metric{Type: "counter", Contains: "data", Values: rate(k.sent)}
	}
	if k.requests > 0 {
		k.metrics["http_req_failed"] = &k6Metric{Type: "rate", Contains: "default", Values: map[string]float64{
			"rate": float64(k.failed) / float64(k.requests), "passes": float64(k.failed), "fails": float64(k.requests - k.failed)}}
	}
	for i := range r.sum.SLO {
		k.threshold(&r.sum.SLO[i])
	}
	r.leave("http_req_connecting, http_req_tls_handshaking and http_req_blocked: connections are opened ahead of their first request; iterations, checks and groups: there is no script")
	r.leave("why an objective was not shown to hold: k6 knows ok or not, and inconclusive is not ok")
	r.leave("http_req_failed counts statuses as k6 does; a stream that broke inside a 200 is no failure there, but it is in error_rate")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(k6Data{Root: k6Group{ID: "d41d8cd98f00b204e9800998ecf8427e", Groups: []string{}, Checks: []string{}},
		Options: k6Options{Trend: []string{"avg", "min", "med", "max", "p(90)", "p(95)", "p(99)"}, NoColor: true},
		State:   k6State{Duration: duration}, Metrics: k.metrics})
}

// add takes a sending: phases of every request that was answered, latencies of
// successes.
func (k *k6Run) add(a *record.Attempt) {
	if a.Outcome == record.Unsent {
		return
	}
	k.requests++
	k.received += float64(a.Bytes.Response)
	k.sent += float64(a.Bytes.Request)
	if status, ok := a.HTTPStatus.Get(); ok && (status < 200 || status >= 400) || !ok && a.Outcome != record.OK {
		k.failed++
	}
	for _, t := range [...]struct {
		name     string
		from, to record.Int
	}{
		{"http_req_duration", a.WriteStart, a.Moments.Ended}, {"http_req_sending", a.WriteStart, a.Sent},
		{"http_req_waiting", a.Sent, a.FirstByte}, {"http_req_receiving", a.FirstByte, a.Moments.Ended},
	} {
		if d, ok := between(t.from, t.to); ok && d >= 0 {
			k.trends[t.name] = append(k.trends[t.name], float64(d)/1e6)
		}
	}
	if a.Outcome != record.OK {
		return
	}
	for _, t := range [...]struct {
		name     string
		from, to record.Int
	}{{"ttft", a.Intended, a.FirstToken}, {"e2e", a.Intended, a.LastToken}} {
		if d, ok := between(t.from, t.to); ok {
			k.trends[t.name] = append(k.trends[t.name], float64(d)/1e6)
		}
	}
}

// trend makes k6's statistics of values.
func (k *k6Run) trend(name string, values []float64) {
	var s spread
	for _, x := range values {
		s.add(x)
	}
	q := dialect.Linear(values, 0.5, 0.9, 0.95, 0.99)
	v := map[string]float64{"avg": s.mean, "min": s.min, "max": s.max}
	for i, name := range [...]string{"med", "p(90)", "p(95)", "p(99)"} {
		v[name] = q[i].Or(0)
	}
	k.metrics[name] = &k6Metric{Type: "trend", Contains: "time", Values: v}
}

// threshold puts an objective under its metric; of one that k6 does not have a
// gauge with the objective's figure is made.
func (k *k6Run) threshold(s *verify.SLO) {
	name := strings.TrimSuffix(s.Metric, measure.Adj)
	m := k.metrics[name]
	if m == nil {
		m = &k6Metric{Type: "gauge", Contains: "default", Values: map[string]float64{}}
		if x, ok := s.Value.Get(); ok && s.Value.String() != "inf" {
			m.Values["value"] = x
		}
		k.metrics[name] = m
	}
	if m.Thresholds == nil {
		m.Thresholds = map[string]k6Threshold{}
	}
	m.Thresholds[s.Expr] = k6Threshold{OK: s.Verdict == verify.Pass}
}
