package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/measure/dialect"
)

// llmdVersion is the version of the Benchmark Report that is written.
const llmdVersion = "0.2.1"

// llmdReport is the part of the Benchmark Report that a client can fill. Names
// and units are those of its JSON Schema.
type llmdReport struct {
	Version  string       `json:"version"`
	Run      llmdRun      `json:"run"`
	Scenario llmdScenario `json:"scenario"`
	Results  llmdResults  `json:"results"`
}

type llmdRun struct {
	UID         string   `json:"uid"`
	EID         string   `json:"eid,omitempty"`
	Time        llmdTime `json:"time"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords,omitempty"`
}

type llmdTime struct {
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Duration string    `json:"duration"` // ISO 8601
}

type llmdScenario struct {
	Load *llmdLoad `json:"load,omitempty"`
}

type llmdLoad struct {
	Metadata     struct{}   `json:"metadata"`
	Standardized llmdStd    `json:"standardized"`
	Native       llmdNative `json:"native"`
}

type llmdStd struct {
	Tool        string     `json:"tool"`
	ToolVersion string     `json:"tool_version"`
	Source      string     `json:"source"`
	InputSeqLen llmdLength `json:"input_seq_len"`
}

type llmdLength struct {
	Distribution string  `json:"distribution"`
	Value        float64 `json:"value"`
}

type llmdNative struct {
	Args   map[string]string `json:"args,omitempty"`
	Config json.RawMessage   `json:"config,omitempty"`
}

type llmdResults struct {
	Performance struct {
		Aggregate llmdAggregate `json:"aggregate"`
	} `json:"request_performance"`
}

type llmdAggregate struct {
	Requests   llmdRequests        `json:"requests"`
	Latency    map[string]llmdStat `json:"latency"`
	Throughput map[string]llmdStat `json:"throughput"`
}

type llmdRequests struct {
	Total        int       `json:"total"`
	Failures     int       `json:"failures"`
	Incomplete   int       `json:"incomplete"`
	InputLength  *llmdStat `json:"input_length,omitempty"`
	OutputLength *llmdStat `json:"output_length,omitempty"`
}

type llmdStat struct {
	Units  string   `json:"units"`
	Mean   float64  `json:"mean"`
	StdDev *float64 `json:"stddev,omitempty"`
	Min    *float64 `json:"min,omitempty"`
	P50    *float64 `json:"p50,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P95    *float64 `json:"p95,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	Max    *float64 `json:"max,omitempty"`
}

// writeLLMD writes the report. Its latencies are defined as vLLM bench has
// them, whose results are what the format was first made for.
func writeLLMD(w io.Writer, r *outRun) error {
	end := r.end()
	out := llmdReport{Version: llmdVersion, Run: llmdRun{UID: r.m.Run, EID: r.sum.Run.Name,
		Time: llmdTime{r.m.Epoch.UTC(), r.m.Epoch.Add(time.Duration(end)).UTC(), fmt.Sprintf("PT%sS", secondsText(end))},
		Description: fmt.Sprintf("%s; latencies by the definitions of %s %s, from the moment of sending, over successes; verdict %s: %s",
			r.version(), r.dialect.Tool, r.dialect.Version, r.sum.Verdict.Verdict, r.sum.Verdict.Reason)}}
	for k, v := range r.sum.Run.Tags {
		out.Run.Keywords = append(out.Run.Keywords, k+"="+v)
	}
	spreads := r.spreads()
	agg := &out.Results.Performance.Aggregate
	ok, _ := r.value("requests.ok")
	failed, _ := r.value("requests.failed")
	agg.Requests = llmdRequests{Total: r.trace.Len(), Failures: int(failed), Incomplete: r.trace.Len() - int(ok) - int(failed),
		InputLength: lengths(spreads["input"]), OutputLength: lengths(spreads["output"])}
	agg.Latency = map[string]llmdStat{}
	for _, l := range [...]struct{ name, metric, spread, unit string }{
		{"time_to_first_token", "ttft", "ttft", "ms"}, {"time_per_output_token", "tpot", "tpot", "ms/token"},
		{"inter_token_latency", "itl", "gaps", "ms/token"}, {"request_latency", "e2e", "e2e", "ms"},
	} {
		r.llmdLatency(agg.Latency, l.name, l.metric, l.unit, spreads[l.spread])
	}
	if s := r.normalized(); s.n > 0 {
		agg.Latency["normalized_time_per_output_token"] = *statOf(s, "ms/token", 1e6)
	}
	agg.Throughput = map[string]llmdStat{}
	for _, t := range [...]struct{ name, metric, unit string }{
		{"request_rate", "request_rate", "queries/s"}, {"input_token_rate", "input_rate", "tokens/s"},
		{"output_token_rate", "output_rate", "tokens/s"}, {"total_token_rate", "total_rate", "tokens/s"},
	} {
		if x, ok := r.value(t.metric); ok {
			agg.Throughput[t.name] = llmdStat{Units: t.unit, Mean: x}
		}
	}
	if agg.Requests.InputLength != nil {
		out.Scenario.Load = r.llmdLoad(agg.Requests.InputLength.Mean)
	}
	r.leave("single requests: the report has aggregates alone")
	r.leave("latencies from the intended time, percentiles over failures, stalls, jitter, and the verdicts' evidence: the report has no place for them (the verdict stands in run.description)")
	r.leave("percentiles of normalized_time_per_output_token and of lengths; the stack under test, its observability and health: a client does not know them")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// normalized is the whole latency of a success by its output tokens, in ns.
func (r *outRun) normalized() *spread {
	s := &spread{}
	r.trace.Each(&r.dialect, func(l *dialect.Look) {
		d, ok := between(l.Start, l.End)
		if n := l.Output.Or(0); l.OK && ok && n > 0 {
			s.add(float64(d) / float64(n))
		}
	})
	return s
}

func statOf(s *spread, unit string, scale float64) *llmdStat {
	low, high, sd := s.min/scale, s.max/scale, math.Sqrt(s.variance())/scale
	return &llmdStat{Units: unit, Mean: s.mean / scale, StdDev: &sd, Min: &low, Max: &high}
}

func lengths(s *spread) *llmdStat {
	if s.n == 0 {
		return nil
	}
	return statOf(s, "count", 1)
}

func (r *outRun) llmdLatency(into map[string]llmdStat, name, metric, unit string, s *spread) {
	mean, ok := r.value(metric + ".mean")
	if !ok {
		return
	}
	get := func(stat string) *float64 {
		if x, ok := r.value(metric + "." + stat); ok {
			return &x
		}
		return nil
	}
	st := llmdStat{Units: unit, Mean: mean, P50: get("p50"), P90: get("p90"), P95: get("p95"), P99: get("p99"), Max: get("max")}
	if s.n > 0 {
		low, sd := s.min/1e6, math.Sqrt(s.variance())/1e6
		st.Min, st.StdDev = &low, &sd
	}
	into[name] = st
}

// llmdLoad says what load it was: the whole scenario stands in native.
func (r *outRun) llmdLoad(input float64) *llmdLoad {
	l := &llmdLoad{Standardized: llmdStd{Tool: "tokamak", ToolVersion: r.sum.Run.Version, Source: "unknown",
		InputSeqLen: llmdLength{"other", input}}}
	l.Native.Args = map[string]string{"load": r.sum.Run.Load, "workload": r.sum.Run.Workload}
	l.Native.Config = r.m.Scenario
	return l
}
