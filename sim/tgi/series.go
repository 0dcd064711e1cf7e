package tgi

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

type snapshot = face.Snapshot

// ok counts requests that were answered to their end.
func ok(s *snapshot) int64 { return s.Finished[core.Stop] + s.Finished[core.Length] }

func invalid(s *snapshot) int64 { return s.Refused[face.Invalid] + s.Refused[face.TooLong] }

// series are TGI's metrics. A step that computes more than a token a sequence
// is a prefill.
func series() *face.Series {
	n := func(f func(*snapshot) int64) func(*snapshot) float64 {
		return func(s *snapshot) float64 { return float64(f(s)) }
	}
	l := func(k, v string) prometheus.Labels { return prometheus.Labels{k: v} }
	const failed, batches, batchesOK = "Requests that failed, by error.", "Batches, by method.", "Batches that went well, by method."
	decodes := n(func(s *snapshot) int64 { return s.Counts.Steps - s.Prefills })
	values := []face.Value{
		{Name: "queue_size", Help: "Requests waiting.", Gauge: true, Get: n(func(s *snapshot) int64 { return int64(s.Waiting) })},
		{Name: "batch_current_size", Help: "Requests in the batch.", Gauge: true, Get: n(func(s *snapshot) int64 { return int64(s.Running) })},
		{Name: "batch_current_max_tokens", Help: "Tokens in the batch's KV cache.", Gauge: true, Get: n(func(s *snapshot) int64 {
			if s.Running == 0 {
				return 0
			}
			return s.LastStep.Context
		})},
		{Name: "request_count", Help: "Requests that came.", Get: n(func(s *snapshot) int64 {
			refused := int64(0)
			for _, n := range s.Refused {
				refused += n
			}
			return s.Submitted + refused
		})},
		{Name: "request_success", Help: "Requests answered to their end.", Get: n(ok)},
		{Name: "request_failure", Help: failed, Labels: l("err", "validation"), Get: n(invalid)},
		{Name: "request_failure", Help: failed, Labels: l("err", "overloaded"), Get: n(func(s *snapshot) int64 { return s.Refused[face.Overloaded] })},
		{Name: "request_failure", Help: failed, Labels: l("err", "generation"), Get: n(func(s *snapshot) int64 { return s.Refused[face.Injected] + s.Refused[face.Internal] })},
		{Name: "batch_concat", Help: "Batches joined, by reason; not told here.", Labels: l("reason", "backpressure"), Get: func(*snapshot) float64 { return 0 }},
	}
	for _, method := range []string{"prefill", "decode"} {
		get := decodes
		if method == "prefill" {
			get = n(func(s *snapshot) int64 { return s.Prefills })
		}
		values = append(values, face.Value{Name: "batch_inference_count", Help: batches, Labels: l("method", method), Get: get},
			face.Value{Name: "batch_inference_success", Help: batchesOK, Labels: l("method", method), Get: get})
	}
	return &face.Series{Prefix: "tgi_", Values: values, Histograms: histograms()}
}

// powers returns first, first·factor, … count of them.
func powers(first, factor float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i], first = first, first*factor
	}
	return out
}

func histograms() []face.Histogram {
	times, sizes := powers(.0001, 1.5, 35), []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	lengths := powers(8, 1.5, 24)
	var list []face.Histogram
	for _, h := range []struct {
		of         face.Measure
		name, help string
		buckets    []float64
	}{
		{face.EndToEnd, "request_duration", "Time from arrival to the end, in s.", times},
		{face.APITime, "request_validation_duration", "Time before the queue, in s.", times},
		{face.QueueTime, "request_queue_duration", "Time in the queue, in s.", times},
		{face.InferenceTime, "request_inference_duration", "Time from first scheduling to the last token, in s.", times},
		{face.PerOutputToken, "request_mean_time_per_token_duration", "Time of a token but the first, in s.", times},
		{face.PromptTokens, "request_input_length", "Prompt tokens of a request.", lengths},
		{face.OutputTokens, "request_generated_tokens", "Generated tokens of a request.", lengths},
		{face.MaxTokens, "request_max_new_tokens", "max_new_tokens of a request.", lengths},
		{face.ZeroMeasure, "request_skipped_tokens", "Tokens that speculation saved: none.", lengths},
		{face.StepSequences, "batch_next_size", "Sequences of a step.", sizes},
	} {
		list = append(list, face.Histogram{Name: h.name, Help: h.help, Of: h.of, Buckets: h.buckets})
	}
	for _, name := range []string{"inference", "forward"} {
		for method, of := range map[string]face.Measure{"prefill": face.PrefillStep, "decode": face.DecodeStep} {
			list = append(list, face.Histogram{Name: "batch_" + name + "_duration", Help: "Time of a step, in s.", Of: of, Buckets: times,
				Labels: prometheus.Labels{"method": method}})
		}
	}
	return list
}
