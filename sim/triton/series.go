package triton

import (
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/dcgm"
	"github.com/tokamak-bench/tokamak/sim/face"
)

type snapshot = face.Snapshot

// Metrics returns the handler of /metrics, for a port of its own; now is the
// engine's clock. It is called before the first request.
func Metrics(s *face.Service, board *dcgm.Board, now func() int64) http.Handler {
	m := http.NewServeMux()
	m.Handle("GET /metrics", s.Metrics(series(s, board, now)))
	return m
}

func series(s *face.Service, board *dcgm.Board, now func() int64) *face.Series {
	list := inferenceValues()
	list = append(list, backendValues(s)...)
	for i := range board.Devices() {
		list = append(list, deviceValues(board, i, now)...)
	}
	lengths := []float64{10, 50, 100, 500, 1000}
	return &face.Series{Labels: prometheus.Labels{"model": s.Served, "version": version}, Values: list, Histograms: []face.Histogram{
		{Name: "nv_llm_input_token_len", Help: "Prompt tokens of a request.", Of: face.PromptTokens, Buckets: lengths, Labels: prometheus.Labels{"response_metric_type": "total_input_tokens"}},
		{Name: "nv_llm_output_token_len", Help: "Generated tokens of a request.", Of: face.OutputTokens, Buckets: lengths, Labels: prometheus.Labels{"response_metric_type": "total_output_tokens"}},
	}}
}

// inferenceValues are Triton's own. Durations are of complete requests.
func inferenceValues() []face.Value {
	micros := func(get func(*totals) int64) func(*snapshot) float64 {
		return func(s *snapshot) float64 {
			t := totalsOf(s)
			return float64(get(&t)) / 1e3
		}
	}
	count := func(get func(*totals) int64) func(*snapshot) float64 {
		return func(s *snapshot) float64 {
			t := totalsOf(s)
			return float64(get(&t))
		}
	}
	const failures = "Inference requests that failed, by reason."
	failed := func(why string, get func(*snapshot) float64) face.Value {
		return face.Value{Name: "nv_inference_request_failure", Help: failures, Labels: prometheus.Labels{"reason": why}, Get: get}
	}
	zero := func(*totals) int64 { return 0 }
	return []face.Value{
		{Name: "nv_inference_request_success", Help: "Inference requests that succeeded.", Get: count(func(t *totals) int64 { return t.success })},
		failed("REJECTED", func(s *snapshot) float64 { return float64(s.Refused[face.Injected]) }),
		failed("CANCELED", func(s *snapshot) float64 { return float64(s.Finished[core.Abort]) }),
		failed("BACKEND", func(s *snapshot) float64 { return float64(s.Refused[face.Internal]) }),
		failed("OTHER", func(s *snapshot) float64 {
			n := int64(0)
			for kind, k := range s.Refused {
				if kind != face.Injected && kind != face.Internal {
					n += k
				}
			}
			return float64(n)
		}),
		{Name: "nv_inference_count", Help: "Inferences performed.", Get: count(func(t *totals) int64 { return t.success })},
		{Name: "nv_inference_exec_count", Help: "Executions of the model.", Get: count(func(t *totals) int64 { return t.steps })},
		{Name: "nv_inference_pending_request_count", Help: "Requests that wait for their execution.", Gauge: true, Get: func(s *snapshot) float64 { return float64(s.Waiting) }},
		{Name: "nv_inference_request_duration_us", Help: "Time of requests, µs.", Get: micros(func(t *totals) int64 { return t.time })},
		{Name: "nv_inference_queue_duration_us", Help: "Time of requests in the queue, µs.", Get: micros(func(t *totals) int64 { return t.queue })},
		{Name: "nv_inference_compute_input_duration_us", Help: "Time of requests in input processing, µs.", Get: micros(zero)},
		{Name: "nv_inference_compute_infer_duration_us", Help: "Time of requests in the model, µs.", Get: micros(func(t *totals) int64 { return t.infer })},
		{Name: "nv_inference_compute_output_duration_us", Help: "Time of requests in output processing, µs.", Get: micros(zero)},
	}
}

// backendValues are those of TensorRT-LLM's backend.
func backendValues(s *face.Service) []face.Value {
	blocks := float64(s.Engine.Blocks - 1) // the null block is nobody's
	used := func(x *snapshot) float64 { return math.Round(x.KVUsage * blocks) }
	value := func(name, help, label, of string, get func(*snapshot) float64) face.Value {
		return face.Value{Name: "nv_trt_llm_" + name, Help: help, Gauge: true, Labels: prometheus.Labels{label: of}, Get: get}
	}
	request := func(of string, get func(*snapshot) float64) face.Value {
		return value("request_metrics", "Requests in the batch manager.", "request_type", of, get)
	}
	kv := func(of string, get func(*snapshot) float64) face.Value {
		return value("kv_cache_block_metrics", "Blocks of the KV cache.", "kv_cache_block_type", of, get)
	}
	active := func(x *snapshot) float64 { return float64(x.Running + x.Waiting) }
	running := func(x *snapshot) float64 { return float64(x.Running) }
	return []face.Value{
		request("active", active), request("scheduled", running),
		request("waiting", func(x *snapshot) float64 { return float64(x.Waiting) }),
		request("max", func(*snapshot) float64 { return float64(s.Engine.MaxSeqs) }),
		kv("max", func(*snapshot) float64 { return blocks }), kv("used", used),
		kv("free", func(x *snapshot) float64 { return blocks - used(x) }),
		kv("fraction", func(x *snapshot) float64 { return x.KVUsage }),
		kv("tokens_per", func(*snapshot) float64 { return float64(s.Engine.BlockSize) }),
		value("inflight_batcher_metrics", "The last step.", "inflight_batcher_specific_metric", "generation_requests",
			func(x *snapshot) float64 { return float64(x.LastStep.Samples) }),
		value("inflight_batcher_metrics", "The last step.", "inflight_batcher_specific_metric", "total_context_tokens",
			func(x *snapshot) float64 { return float64(x.LastStep.Tokens - x.LastStep.Samples) }),
		value("general_metrics", "Steps, and the time of the last, s since the epoch.", "general_type", "iteration_counter",
			func(x *snapshot) float64 { return float64(x.Counts.Steps) }),
		value("general_metrics", "Steps, and the time of the last, s since the epoch.", "general_type", "timestamp",
			func(x *snapshot) float64 { return float64(s.Started().UnixNano()+x.LastStep.End) / 1e9 }),
	}
}

// deviceValues are of one accelerator; what is not known of it is absent.
func deviceValues(board *dcgm.Board, i int, now func() int64) []face.Value {
	value := func(name, help string, gauge bool, get func(*dcgm.Reading) float64) face.Value {
		return face.Value{Name: name, Help: help, Gauge: gauge, Labels: prometheus.Labels{"gpu_uuid": board.UUID(i), "model": "", "version": ""},
			Get: func(*snapshot) float64 {
				r := board.Read(now())
				return get(&r)
			}}
	}
	list := []face.Value{
		value("nv_gpu_utilization", "Share of the time with a kernel running.", true, func(r *dcgm.Reading) float64 { return r.Engine }),
		value("nv_gpu_memory_total_bytes", "Memory of the GPU.", true, func(r *dcgm.Reading) float64 { return r.Total }),
		value("nv_gpu_memory_used_bytes", "Memory in use.", true, func(r *dcgm.Reading) float64 { return math.Round(r.Used) }),
	}
	if first := board.Read(now()); math.IsNaN(first.Watts) {
		return list
	}
	return append(list,
		value("nv_gpu_power_usage", "Power, W.", true, func(r *dcgm.Reading) float64 { return r.Watts }),
		value("nv_gpu_power_limit", "Power limit, W.", true, func(r *dcgm.Reading) float64 { return r.WattLimit }),
		value("nv_energy_consumption", "Energy since the start, J.", false, func(r *dcgm.Reading) float64 { return r.Joules }))
}
