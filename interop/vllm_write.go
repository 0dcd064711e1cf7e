package interop

import (
	"bufio"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/record"
)

// benchMetrics are the latencies of vLLM bench with their names in the file and
// those of their spreads.
var benchMetrics = [...][3]string{{"ttft", "ttft", "ttft"}, {"tpot", "tpot", "tpot"}, {"itl", "itl", "gaps"}, {"e2e", "e2el", "e2e"}}

// writeVLLM writes the flat object of vllm bench serve --save-result
// --save-detailed: figures and arrays as its Python client would have them of
// the same requests. Texts of answers are not written.
func writeVLLM(w io.Writer, r *outRun) error {
	o := newObject(bufio.NewWriterSize(w, 1<<16))
	ended := r.m.Epoch.Add(time.Duration(r.end()))
	o.text("date", ended.Local().Format("20060102-150405"))
	o.text("endpoint_type", backendOf(r.sum.Run.API))
	o.text("backend", backendOf(r.sum.Run.API))
	o.text("label", r.sum.Run.Name)
	o.text("model_id", r.model())
	o.text("tokenizer_id", "")
	o.int("num_prompts", int64(r.trace.Len()))
	o.text("written_by", r.version())
	o.figure("duration", r.values["duration"])
	for _, f := range [...][2]string{
		{"completed", "requests.ok"}, {"failed", "requests.failed"}, {"total_input_tokens", "input_tokens"}, {"total_output_tokens", "output_tokens"},
		{"request_throughput", "request_rate"}, {"request_goodput", "goodput"}, {"output_throughput", "output_rate"}, {"total_token_throughput", "total_rate"},
		{"max_output_tokens_per_s", "output_peak"},
	} {
		o.figure(f[0], r.values[f[1]])
	}
	r.benchArrays(o)
	if err := r.benchErrors(o); err != nil {
		return err
	}
	spreads := r.spreads()
	for _, m := range benchMetrics {
		for _, s := range [...][2]string{{"mean", "mean"}, {"median", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}} {
			o.figure(s[0]+"_"+m[1]+"_ms", r.values[m[0]+"."+s[1]])
		}
		if s := spreads[m[2]]; s.n > 0 {
			o.figure("std_"+m[1]+"_ms", measure.Some(math.Sqrt(s.variance())/1e6))
		}
	}
	r.leave("intended times and with them the client's lateness: vLLM counts from the moment of sending (queue_times has another meaning: the wait for a slot of its own)")
	r.leave("request_rate, burstiness and max_concurrency: the load is not always one rate; max_concurrent_requests and steady_state")
	r.leave("texts of answers (generated_texts), outcomes, statuses, finish reasons, violations and notes: errors has a text alone")
	r.leave("kinds, bytes and tokens of chunks, stamp sources, connections, usage beside our own counts")
	return o.end()
}

// backendOf is the name that vLLM bench has for an API.
func backendOf(api string) string {
	switch api {
	case "openai-chat":
		return "openai-chat"
	case "openai-completions":
		return "openai"
	}
	return api
}

// end is the last end of a sending, in ns since the epoch.
func (r *outRun) end() int64 {
	last := int64(0)
	r.trace.Each(&r.dialect, func(l *dialect.Look) { last = max(last, l.End.Or(0), l.Start.Or(0)) })
	return last
}

// benchArrays writes the arrays of numbers; vLLM writes 0 for what it did not
// measure.
func (r *outRun) benchArrays(o *object) {
	walk := func(name string, value func(l *dialect.Look) string) {
		o.array(name, func(add func(string)) {
			r.trace.Each(&r.dialect, func(l *dialect.Look) { add(value(l)) })
		})
	}
	tokens := func(n record.Int) string { return decimal(n.Or(0), 0) }
	duration := func(from, to record.Int) string {
		d, _ := between(from, to)
		return secondsText(d)
	}
	walk("input_lens", func(l *dialect.Look) string { return tokens(l.Input) })
	walk("output_lens", func(l *dialect.Look) string {
		if !l.OK {
			return "0"
		}
		return tokens(l.Output)
	})
	walk("ttfts", func(l *dialect.Look) string { return duration(l.Start, l.First) })
	walk("itls", func(l *dialect.Look) string {
		var b strings.Builder
		for i, g := range l.Gaps {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(secondsText(int64(g)))
		}
		return "[" + b.String() + "]"
	})
	walk("latencies", func(l *dialect.Look) string { return duration(l.Start, l.End) })
	walk("start_times", func(l *dialect.Look) string { return secondsText(l.Start.Or(0)) })
}

// benchErrors writes a text for each failure, and an empty one for a success.
func (r *outRun) benchErrors(o *object) (err error) {
	o.array("errors", func(add func(string)) {
		err = r.sendings(func(a *record.Attempt, l *dialect.Look) error {
			add(quote(errorFor(a, l)))
			return nil
		})
	})
	return err
}

// errorFor is the error text of a sending that the tool counts as failed.
func errorFor(a *record.Attempt, l *dialect.Look) string {
	switch {
	case l.OK:
		return ""
	case a.HTTPStatus.Or(0) >= 400:
		return strings.TrimSuffix("HTTP "+decimal(a.HTTPStatus.Or(0), 0)+": "+a.ErrorText, ": ")
	case a.ErrorText != "":
		return a.ErrorClass + ": " + a.ErrorText
	case a.ErrorClass != "":
		return a.ErrorClass
	}
	return string(a.Outcome)
}
