package vllm

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

type snapshot = face.Snapshot

func zero(*snapshot) float64 { return 0 }

// finished counts sequences that ended for a reason.
func finished(why core.Finish) func(*snapshot) float64 {
	return func(s *snapshot) float64 { return float64(s.Finished[why]) }
}

// series are vLLM's metrics.
func series(s *face.Service) *face.Series {
	one := func(*snapshot) float64 { return 1 }
	waiting := func(s *snapshot) float64 { return float64(s.Waiting) }
	l := func(k, v string) prometheus.Labels { return prometheus.Labels{k: v} }
	const byReason, slept, success = "Requests waiting, by reason.", "Engine sleep state.", "Requests that ended, by reason."
	list := &face.Series{Prefix: "vllm:", Labels: prometheus.Labels{"model_name": s.Served, "engine": "0"}, Values: []face.Value{
		{Name: "num_requests_running", Help: "Requests in execution.", Gauge: true, Get: func(s *snapshot) float64 { return float64(s.Running) }},
		{Name: "num_requests_waiting", Help: "Requests waiting.", Gauge: true, Get: waiting},
		{Name: "num_requests_waiting_by_reason", Help: byReason, Gauge: true, Labels: l("reason", "capacity"), Get: waiting},
		{Name: "num_requests_waiting_by_reason", Help: byReason, Gauge: true, Labels: l("reason", "deferred"), Get: zero},
		{Name: "kv_cache_usage_perc", Help: "KV cache usage; 1 is all of it.", Gauge: true, Get: func(s *snapshot) float64 { return s.KVUsage }},
		{Name: "engine_sleep_state", Help: slept, Gauge: true, Labels: l("sleep_state", "awake"), Get: one},
		{Name: "engine_sleep_state", Help: slept, Gauge: true, Labels: l("sleep_state", "weights_offloaded"), Get: zero},
		{Name: "engine_sleep_state", Help: slept, Gauge: true, Labels: l("sleep_state", "discard_all"), Get: zero},
		{Name: "cache_config_info", Help: "Configuration of the KV cache.", Gauge: true, Labels: cacheInfo(s), Get: one},
		{Name: "prompt_tokens_total", Help: "Prompt tokens processed.", Get: func(s *snapshot) float64 { return float64(s.Prompt) }},
		{Name: "generation_tokens_total", Help: "Tokens generated.", Get: func(s *snapshot) float64 { return float64(s.Generated) }},
		{Name: "prompt_tokens_cached_total", Help: "Prompt tokens found in the cache.", Get: func(s *snapshot) float64 { return float64(s.Cached) }},
		{Name: "prefix_cache_queries_total", Help: "Prefix cache queries, in tokens.", Get: func(s *snapshot) float64 { return float64(s.Counts.PrefixQueries) }},
		{Name: "prefix_cache_hits_total", Help: "Prefix cache hits, in tokens.", Get: func(s *snapshot) float64 { return float64(s.Counts.PrefixHits) }},
		{Name: "num_preemptions_total", Help: "Preemptions of requests.", Get: func(s *snapshot) float64 { return float64(s.Counts.Preemptions) }},
		{Name: "external_prefix_cache_queries_total", Help: "External prefix cache queries, in tokens.", Get: zero},
		{Name: "external_prefix_cache_hits_total", Help: "External prefix cache hits, in tokens.", Get: zero},
		{Name: "mm_cache_queries_total", Help: "Multimodal cache queries.", Get: zero},
		{Name: "mm_cache_hits_total", Help: "Multimodal cache hits.", Get: zero},
		{Name: "request_success_total", Help: success, Labels: l("finished_reason", "stop"), Get: finished(core.Stop)},
		{Name: "request_success_total", Help: success, Labels: l("finished_reason", "length"), Get: finished(core.Length)},
		{Name: "request_success_total", Help: success, Labels: l("finished_reason", "abort"), Get: finished(core.Abort)},
		{Name: "request_success_total", Help: success, Labels: l("finished_reason", "error"), Get: zero},
	}, Histograms: histograms(s.Engine.MaxModelLen)}
	if s.Engine.Speculative.Drafts > 0 {
		list.Values = append(list.Values, speculative()...)
	}
	return list
}

// speculative are the series of speculative decoding, which are there only with it.
func speculative() []face.Value {
	return []face.Value{
		{Name: "spec_decode_num_drafts_total", Help: "Drafts: steps of a sequence with drafted tokens.", Get: func(s *snapshot) float64 { return float64(s.Counts.Drafts) }},
		{Name: "spec_decode_num_draft_tokens_total", Help: "Drafted tokens.", Get: func(s *snapshot) float64 { return float64(s.Counts.DraftTokens) }},
		{Name: "spec_decode_num_accepted_tokens_total", Help: "Drafted tokens accepted.", Get: func(s *snapshot) float64 { return float64(s.Counts.Accepted) }},
	}
}

func histograms(maxModelLen int64) []face.Histogram {
	first := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	token := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	request := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	steps := []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
	lengths := oneTwoFive(maxModelLen)
	var list []face.Histogram
	for _, h := range []struct {
		of         face.Measure
		name, help string
		buckets    []float64
	}{
		{face.FirstToken, "time_to_first_token_seconds", "Time from arrival to the first token.", first},
		{face.InterToken, "inter_token_latency_seconds", "Time between tokens.", token},
		{face.PerOutputToken, "request_time_per_output_token_seconds", "Decode time of a request over its tokens but the first.", token},
		{face.EndToEnd, "e2e_request_latency_seconds", "Time from arrival to the end.", request},
		{face.QueueTime, "request_queue_time_seconds", "Time in the waiting queue.", request},
		{face.InferenceTime, "request_inference_time_seconds", "Time from first scheduling to the last token.", request},
		{face.PrefillTime, "request_prefill_time_seconds", "Time from first scheduling to the first token.", request},
		{face.DecodeTime, "request_decode_time_seconds", "Time from the first to the last token.", request},
		{face.StepTokens, "iteration_tokens_total", "Tokens of an engine step.", steps},
		{face.PromptTokens, "request_prompt_tokens", "Prompt tokens of a request.", lengths},
		{face.OutputTokens, "request_generation_tokens", "Generated tokens of a request.", lengths},
		{face.OutputTokens, "request_max_num_generation_tokens", "Most generated tokens of a request's sequences.", lengths},
		{face.MaxTokens, "request_params_max_tokens", "max_tokens of a request.", lengths},
		{face.Answers, "request_params_n", "n of a request.", []float64{1, 2, 5, 10, 20}},
		{face.ComputedPrompt, "request_prefill_kv_computed_tokens", "Prompt tokens computed, cached ones left out.", lengths},
	} {
		list = append(list, face.Histogram{Name: h.name, Help: h.help, Of: h.of, Buckets: h.buckets})
	}
	return list
}

// oneTwoFive returns 1, 2, 5, 10, … up to a limit.
func oneTwoFive(limit int64) []float64 {
	var out []float64
	for p := int64(1); ; p *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if m*p > limit {
				return out
			}
			out = append(out, float64(m*p))
		}
	}
}

// cacheInfo are the labels of vllm:cache_config_info, which has no model's name.
func cacheInfo(s *face.Service) prometheus.Labels {
	return prometheus.Labels{"model_name": "", "block_size": strconv.FormatInt(s.Engine.BlockSize, 10),
		"num_gpu_blocks": strconv.FormatInt(s.Engine.Blocks, 10), "num_cpu_blocks": "None", "cache_dtype": "auto",
		"enable_prefix_caching":  map[bool]string{true: "True", false: "False"}[s.Engine.PrefixCache],
		"gpu_memory_utilization": strconv.FormatFloat(s.Utilization, 'g', -1, 64), "sliding_window": "None",
		"prefix_caching_hash_algo": "sha256", "is_attention_free": "False"}
}
