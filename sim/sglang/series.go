package sglang

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

type snapshot = face.Snapshot

// totalTokens is the KV cache in tokens.
func totalTokens(s *face.Service) int64 { return (s.Engine.Blocks - 1) * s.Engine.BlockSize }

// throughput is the last step's tokens a second.
func throughput(s *snapshot) float64 {
	if s.Running == 0 || s.LastStep.End <= s.LastStep.Start {
		return 0
	}
	return 1e9 * float64(s.LastStep.Samples) / float64(s.LastStep.End-s.LastStep.Start)
}

// series are SGLang's metrics.
func series(s *face.Service) *face.Series {
	total := float64(totalTokens(s))
	used := func(s *snapshot) float64 { return math.Round(s.KVUsage * total) }
	usage := func(s *snapshot) float64 { return s.KVUsage }
	zero := func(*snapshot) float64 { return 0 }
	n := func(f func(*snapshot) int64) func(*snapshot) float64 {
		return func(s *snapshot) float64 { return float64(f(s)) }
	}
	gauge := func(name, help string, get func(*snapshot) float64) face.Value {
		return face.Value{Name: name, Help: help, Gauge: true, Get: get}
	}
	counter := func(name, help string, get func(*snapshot) int64, labels ...string) face.Value {
		v := face.Value{Name: name, Help: help, Get: n(get)}
		if len(labels) == 2 {
			v.Labels = prometheus.Labels{labels[0]: labels[1]}
		}
		return v
	}
	const realtime = "Tokens processed, by mode."
	return &face.Series{Prefix: "sglang:", Labels: prometheus.Labels{"model_name": s.Served, "engine_type": "unified", "tp_rank": "0", "pp_rank": "0", "moe_ep_rank": "0"},
		Values: []face.Value{
			gauge("num_running_reqs", "Requests in execution.", n(func(s *snapshot) int64 { return int64(s.Running) })),
			gauge("num_queue_reqs", "Requests waiting.", n(func(s *snapshot) int64 { return int64(s.Waiting) })),
			gauge("num_used_tokens", "Tokens in the KV cache.", used),
			gauge("kv_used_tokens", "Tokens in the KV cache.", used),
			gauge("kv_available_tokens", "Room in the KV cache, in tokens.", func(s *snapshot) float64 { return total - used(s) }),
			gauge("kv_evictable_tokens", "Tokens that are cached and not in use; not told here.", zero),
			gauge("token_usage", "KV cache usage; 1 is all of it.", usage),
			gauge("full_token_usage", "KV cache usage of full attention.", usage),
			gauge("max_total_num_tokens", "Size of the KV cache, in tokens.", func(*snapshot) float64 { return total }),
			gauge("cache_hit_rate", "Share of prompt tokens found in the cache.", func(s *snapshot) float64 {
				return float64(s.Counts.PrefixHits) / float64(max(s.Counts.PrefixQueries, 1))
			}),
			gauge("gen_throughput", "Tokens a second of the last step.", throughput),
			gauge("num_retracted_reqs", "Requests retracted in the last step; not told here.", zero),
			gauge("utilization", "Share of the running requests that are allowed.", func(snap *snapshot) float64 { return float64(snap.Running) / float64(s.Engine.MaxSeqs) }),
			counter("prompt_tokens_total", "Prompt tokens processed.", func(s *snapshot) int64 { return s.Prompt }),
			counter("generation_tokens_total", "Tokens generated.", func(s *snapshot) int64 { return s.Generated }),
			counter("cached_tokens_total", "Prompt tokens found in the cache.", func(s *snapshot) int64 { return s.Cached }, "cache_source", "device"),
			counter("num_requests_total", "Requests processed.", func(s *snapshot) int64 {
				return s.Finished[core.Stop] + s.Finished[core.Length] + s.Finished[core.Abort]
			}),
			counter("num_aborted_requests_total", "Requests aborted.", func(s *snapshot) int64 { return s.Finished[core.Abort] }),
			counter("num_retracted_requests_total", "Retractions of requests.", func(s *snapshot) int64 { return s.Counts.Preemptions }),
			counter("realtime_tokens_total", realtime, func(s *snapshot) int64 { return s.Prompt - s.Cached }, "mode", "prefill_compute"),
			counter("realtime_tokens_total", realtime, func(s *snapshot) int64 { return s.Cached }, "mode", "prefill_cache"),
			counter("realtime_tokens_total", realtime, func(s *snapshot) int64 { return s.Generated }, "mode", "decode"),
		}, Histograms: histograms()}
}

func histograms() []face.Histogram {
	first := []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400}
	token := []float64{.002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06, .08, .1, .2, .4, .6, .8, 1, 2, 4, 6, 8}
	request := []float64{.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400}
	stage := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	lengths := []float64{100, 300, 500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 12000, 15000, 20000, 30000, 40000, 60000, 80000, 100000}
	const perStage = "Time of a request in each stage."
	return []face.Histogram{
		{Name: "time_to_first_token_seconds", Help: "Time from arrival to the first token.", Of: face.FirstToken, Buckets: first},
		{Name: "inter_token_latency_seconds", Help: "Time between tokens.", Of: face.InterToken, Buckets: token},
		{Name: "e2e_request_latency_seconds", Help: "Time from arrival to the end.", Of: face.EndToEnd, Buckets: request},
		{Name: "queue_time_seconds", Help: "Time in the waiting queue.", Of: face.QueueTime, Buckets: stage},
		{Name: "per_stage_req_latency_seconds", Help: perStage, Of: face.APITime, Buckets: stage, Labels: prometheus.Labels{"stage": "tokenize"}},
		{Name: "per_stage_req_latency_seconds", Help: perStage, Of: face.PrefillTime, Buckets: stage, Labels: prometheus.Labels{"stage": "prefill_forward"}},
		{Name: "per_stage_req_latency_seconds", Help: perStage, Of: face.DecodeTime, Buckets: stage, Labels: prometheus.Labels{"stage": "decode_forward"}},
		{Name: "prompt_tokens_histogram", Help: "Prompt tokens of a request.", Of: face.PromptTokens, Buckets: lengths},
		{Name: "generation_tokens_histogram", Help: "Generated tokens of a request.", Of: face.OutputTokens, Buckets: lengths},
	}
}
