package vllm

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// The histograms.
const (
	firstToken = iota
	interToken
	perOutputToken
	endToEnd
	queueTime
	inferenceTime
	prefillTime
	decodeTime
	iterationTokens
	promptTokens
	generationTokens
	maxGeneration
	paramMaxTokens
	paramN
	prefillComputed
	histograms
)

// definition is a histogram's name, help and buckets.
type definition struct {
	name, help string
	buckets    []float64
}

func definitions(maxModelLen int64) [histograms]definition {
	first := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	token := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	request := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	lengths := oneTwoFive(maxModelLen)
	return [histograms]definition{
		firstToken:       {"time_to_first_token_seconds", "Time from arrival to the first token.", first},
		interToken:       {"inter_token_latency_seconds", "Time between tokens.", token},
		perOutputToken:   {"request_time_per_output_token_seconds", "Decode time of a request over its tokens but the first.", token},
		endToEnd:         {"e2e_request_latency_seconds", "Time from arrival to the end.", request},
		queueTime:        {"request_queue_time_seconds", "Time in the waiting queue.", request},
		inferenceTime:    {"request_inference_time_seconds", "Time from first scheduling to the last token.", request},
		prefillTime:      {"request_prefill_time_seconds", "Time from first scheduling to the first token.", request},
		decodeTime:       {"request_decode_time_seconds", "Time from the first to the last token.", request},
		iterationTokens:  {"iteration_tokens_total", "Tokens of an engine step.", []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}},
		promptTokens:     {"request_prompt_tokens", "Prompt tokens of a request.", lengths},
		generationTokens: {"request_generation_tokens", "Generated tokens of a request.", lengths},
		maxGeneration:    {"request_max_num_generation_tokens", "Most generated tokens of a request's sequences.", lengths},
		paramMaxTokens:   {"request_params_max_tokens", "max_tokens of a request.", lengths},
		paramN:           {"request_params_n", "n of a request.", []float64{1, 2, 5, 10, 20}},
		prefillComputed:  {"request_prefill_kv_computed_tokens", "Prompt tokens computed, cached ones left out.", lengths},
	}
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

// descriptions are the series' names and labels.
type descriptions struct {
	running, waiting, usage, sleep, cache         *prometheus.Desc
	prompt, generated, cached, queries, hits      *prometheus.Desc
	externalQueries, externalHits, mmQueries      *prometheus.Desc
	mmHits, preemptions, success, waitingByReason *prometheus.Desc
	hists                                         [histograms]*prometheus.Desc
}

func describe(cfg *Config) descriptions {
	labels := prometheus.Labels{"model_name": cfg.Served, "engine": "0"}
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc("vllm:"+name, help, variable, labels)
	}
	d := descriptions{
		running:         desc("num_requests_running", "Requests in execution."),
		waiting:         desc("num_requests_waiting", "Requests waiting."),
		waitingByReason: desc("num_requests_waiting_by_reason", "Requests waiting, by reason.", "reason"),
		usage:           desc("kv_cache_usage_perc", "KV cache usage; 1 is all of it."),
		sleep:           desc("engine_sleep_state", "Engine sleep state.", "sleep_state"),
		cache:           prometheus.NewDesc("vllm:cache_config_info", "Configuration of the KV cache.", nil, cacheInfo(cfg)),
		prompt:          desc("prompt_tokens_total", "Prompt tokens processed."),
		generated:       desc("generation_tokens_total", "Tokens generated."),
		cached:          desc("prompt_tokens_cached_total", "Prompt tokens found in the cache."),
		queries:         desc("prefix_cache_queries_total", "Prefix cache queries, in tokens."),
		hits:            desc("prefix_cache_hits_total", "Prefix cache hits, in tokens."),
		externalQueries: desc("external_prefix_cache_queries_total", "External prefix cache queries, in tokens."),
		externalHits:    desc("external_prefix_cache_hits_total", "External prefix cache hits, in tokens."),
		mmQueries:       desc("mm_cache_queries_total", "Multimodal cache queries."),
		mmHits:          desc("mm_cache_hits_total", "Multimodal cache hits."),
		preemptions:     desc("num_preemptions_total", "Preemptions of requests."),
		success:         desc("request_success_total", "Requests that ended, by reason.", "finished_reason"),
	}
	for i, h := range definitions(cfg.Engine.MaxModelLen) {
		d.hists[i] = desc(h.name, h.help)
	}
	return d
}

// collector gives the registry a consistent picture of one moment.
type collector struct {
	m     *metrics
	descs descriptions
}

// Describe sends nothing: an unchecked collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends all series.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	m, d := c.m, &c.descs
	m.mu.Lock()
	defer m.mu.Unlock()
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, kind, v, labels...)
	}
	s, k := &m.state, &m.state.Counts
	send(d.running, prometheus.GaugeValue, float64(s.Running))
	send(d.waiting, prometheus.GaugeValue, float64(s.Waiting))
	send(d.waitingByReason, prometheus.GaugeValue, float64(s.Waiting), "capacity")
	send(d.waitingByReason, prometheus.GaugeValue, 0, "deferred")
	send(d.usage, prometheus.GaugeValue, s.KVUsage)
	for _, state := range []struct {
		name string
		v    float64
	}{{"awake", 1}, {"weights_offloaded", 0}, {"discard_all", 0}} {
		send(d.sleep, prometheus.GaugeValue, state.v, state.name)
	}
	send(d.cache, prometheus.GaugeValue, 1)
	for _, x := range []struct {
		desc *prometheus.Desc
		v    float64
	}{{d.prompt, m.totals.prompt}, {d.generated, m.totals.generated}, {d.cached, m.totals.cached},
		{d.queries, float64(k.PrefixQueries)}, {d.hits, float64(k.PrefixHits)}, {d.preemptions, float64(k.Preemptions)},
		{d.externalQueries, 0}, {d.externalHits, 0}, {d.mmQueries, 0}, {d.mmHits, 0}} {
		send(x.desc, prometheus.CounterValue, x.v)
	}
	for _, why := range []core.Finish{core.Stop, core.Length, core.Abort} {
		send(d.success, prometheus.CounterValue, m.finish[why], string(why))
	}
	send(d.success, prometheus.CounterValue, 0, "error")
	for i := range m.hists {
		h := &m.hists[i]
		ch <- prometheus.MustNewConstHistogram(d.hists[i], h.n, h.sum, h.cumulative())
	}
}
