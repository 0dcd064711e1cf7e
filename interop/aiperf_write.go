package interop

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/record"
)

// aiperfSchema is the version of the summary's schema that is written.
const aiperfSchema = "1.4"

// writeAIPerfRecords writes one record a line, as AIPerf would have them. A tag
// is there only where its meaning is the same.
func writeAIPerfRecords(w io.Writer, r *outRun) error {
	b := bufio.NewWriterSize(w, 1<<16)
	epoch := r.m.Epoch.UnixNano()
	n := int64(0)
	err := r.sendings(func(a *record.Attempt, l *dialect.Look) error {
		start, ok := l.Start.Get()
		if !ok {
			start = a.Intended.Or(0)
		}
		m := metadata{b: &strings.Builder{}}
		m.int("session_num", n)
		m.text("x_request_id", r.requestID(a))
		m.text("conversation_id", a.SessionID)
		m.int("turn_index", a.Turn)
		m.int("request_start_ns", epoch+start)
		m.int("request_end_ns", epoch+max(a.Moments.Ended.Or(start), start))
		m.text("worker_id", workerOf(a))
		m.text("record_processor_id", "tokamak")
		m.text("benchmark_phase", "profiling")
		m.raw("was_cancelled", strconv.FormatBool(a.Outcome == record.Cut || a.Outcome == record.Cancelled || a.Outcome == record.Abandoned))
		n++
		line := `{"metadata": {` + m.b.String() + `}, "metrics": {` + aiperfMetrics(a, l) + `}`
		if !l.OK {
			line += `, "error": {` + aiperfError(a, l) + `}`
		}
		_, err := b.WriteString(line + "}\n")
		return err
	})
	if err != nil {
		return err
	}
	r.leave("intended times, and with them the client's lateness and our own ttft and e2e: AIPerf counts from the moment of sending; credit_issued_ns and request_ack_ns have other meanings")
	r.leave("http_req_* tags: our moments of connecting and sending are the kernel's, and its own are its library's")
	r.leave("kinds, bytes and tokens of chunks, stamp sources, finish reasons, violations and notes: AIPerf has no tag for them")
	return b.Flush()
}

// metadata writes fields of an object.
type metadata struct{ b *strings.Builder }

func (m metadata) raw(name, value string) {
	if m.b.Len() > 0 {
		m.b.WriteString(", ")
	}
	m.b.WriteString(quote(name) + ": " + value)
}

func (m metadata) int(name string, n int64) { m.raw(name, strconv.FormatInt(n, 10)) }

func (m metadata) text(name, s string) {
	if s != "" {
		m.raw(name, quote(s))
	}
}

// requestID is what the request bore in X-Request-Id.
func (r *outRun) requestID(a *record.Attempt) string {
	if r.m.Imported != nil && a.SourceID != "" {
		return a.SourceID
	}
	return r.m.Run + "-" + strconv.FormatInt(a.RequestID, 10)
}

func workerOf(a *record.Attempt) string {
	if a.Worker != "" {
		return a.Worker
	}
	return "tokamak"
}

// aiperfMetrics writes the tags of one record; of a failure none, as AIPerf
// does.
func aiperfMetrics(a *record.Attempt, l *dialect.Look) string {
	if !l.OK {
		return ""
	}
	m := metadata{b: &strings.Builder{}}
	put := func(tag, value, unit string) { m.raw(tag, `{"value": `+value+`, "unit": `+quote(unit)+`}`) }
	ttft, streamed := between(l.Start, l.First)
	latency, whole := between(l.Start, l.End)
	if whole {
		put("request_latency", millisecondsText(latency), "ms")
	}
	if streamed {
		put("time_to_first_token", millisecondsText(ttft), "ms")
	}
	if d, ok := between(l.Start, a.FirstAnswer); ok {
		put("time_to_first_output_token", millisecondsText(d), "ms")
	}
	if len(l.Gaps) > 0 {
		list := make([]string, len(l.Gaps))
		for i, g := range l.Gaps {
			list[i] = millisecondsText(int64(g))
		}
		put("inter_chunk_latency", "["+strings.Join(list, ", ")+"]", "ms")
		put("time_to_second_token", list[0], "ms")
	}
	out, counted := l.Output.Get()
	if streamed && whole && counted && out > 1 {
		put("inter_token_latency", floatText(float64(latency-ttft)/float64(out-1)/1e6), "ms")
	}
	for _, c := range [...]struct {
		tag string
		n   record.Int
	}{
		{"output_sequence_length", l.Output}, {"input_sequence_length", l.Input}, {"usage_prompt_tokens", a.PromptUsage},
		{"usage_completion_tokens", a.OutputUsage}, {"usage_reasoning_tokens", a.ReasoningUsage}, {"usage_prompt_cache_read_tokens", a.CachedUsage},
	} {
		if n, ok := c.n.Get(); ok {
			put(c.tag, strconv.FormatInt(n, 10), "tokens")
		}
	}
	return m.b.String()
}

func aiperfError(a *record.Attempt, l *dialect.Look) string {
	m := metadata{b: &strings.Builder{}}
	if code, ok := a.HTTPStatus.Get(); ok && code >= 400 {
		m.int("code", code)
	}
	kind := a.ErrorClass
	if kind == "" {
		kind = string(a.Outcome)
	}
	m.text("type", kind)
	m.text("message", errorFor(a, l))
	return m.b.String()
}

// aiperfTags are tags of the summary with the metric of the dialect that has
// their percentiles, if one does, the name of their spread, and their unit.
var aiperfTags = [...]struct{ tag, metric, spread, unit string }{
	{"time_to_first_token", "ttft", "ttft", "ms"}, {"request_latency", "e2e", "e2e", "ms"},
	{"inter_token_latency", "itl", "tpot", "ms"}, {"inter_chunk_latency", "icl", "gaps", "ms"},
	{"output_sequence_length", "", "output", "tokens"}, {"input_sequence_length", "", "input", "tokens"},
}

// writeAIPerfSummary writes the summary as AIPerf would have computed it.
func writeAIPerfSummary(w io.Writer, r *outRun) error {
	o := newObject(bufio.NewWriter(w))
	o.text("schema_version", aiperfSchema)
	o.text("aiperf_version", r.version())
	o.text("benchmark_id", r.m.Run)
	spreads := r.spreads()
	for _, t := range aiperfTags {
		r.aiperfTag(o, t.tag, t.metric, t.unit, spreads[t.spread])
	}
	for _, f := range [...]struct{ tag, metric, unit string }{
		{"request_count", "requests.ok", "requests"}, {"error_request_count", "requests.failed", "requests"},
		{"benchmark_duration", "duration", "sec"}, {"request_throughput", "request_rate", "requests/sec"},
		{"output_token_throughput", "output_rate", "tokens/sec"}, {"total_token_throughput", "total_rate", "tokens/sec"},
		{"goodput", "goodput", "requests/sec"},
	} {
		if x, ok := r.value(f.metric); ok {
			o.raw(f.tag, `{"unit": `+quote(f.unit)+`, "avg": `+floatText(x)+`}`)
		}
	}
	o.raw("was_cancelled", strconv.FormatBool(r.sum.Run.Ended != "done"))
	o.text("start_time", r.m.Epoch.Local().Format("2006-01-02T15:04:05.000000"))
	o.text("end_time", r.m.Epoch.Add(time.Duration(r.end())).Local().Format("2006-01-02T15:04:05.000000"))
	r.leave("tags whose meaning is ours (ttft and e2e from the intended time, *_adj, stalls, jitter, lateness): AIPerf's tags count from the moment of sending, over successes")
	r.leave("percentiles other than 50, 90, 95 and 99; input_config, run_info, telemetry and server metrics")
	return o.end()
}

// aiperfTag writes the statistics of one tag.
func (r *outRun) aiperfTag(o *object, tag, metric, unit string, s *spread) {
	if s.n == 0 {
		return
	}
	m := metadata{b: &strings.Builder{}}
	m.raw("unit", quote(unit))
	scale := 1.0
	if unit == "ms" {
		scale = 1e6
	}
	m.raw("avg", floatText(s.mean/scale))
	for _, p := range [...]string{"p50", "p90", "p95", "p99"} {
		if x, ok := r.value(metric + "." + p); ok {
			m.raw(p, floatText(x))
		}
	}
	m.raw("min", floatText(s.min/scale))
	m.raw("max", floatText(s.max/scale))
	m.raw("std", floatText(math.Sqrt(s.variance())/scale))
	m.int("count", int64(s.n))
	m.raw("sum", floatText(s.sum/scale))
	o.raw(tag, "{"+m.b.String()+"}")
}
