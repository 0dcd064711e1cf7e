package vllm

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// metrics are vLLM's series, filled from what the engine tells. Tokens and
// steps go to plain histograms of its own (hist), since there are very many.
type metrics struct {
	cfg      *Config
	engine   *core.Engine
	registry *prometheus.Registry

	mu     sync.Mutex
	state  core.State
	hists  [histograms]hist
	finish map[core.Finish]float64
	totals struct{ cached, generated, prompt float64 }
}

var _ core.Observer = (*metrics)(nil)

func newMetrics(cfg *Config) *metrics {
	m := &metrics{cfg: cfg, registry: prometheus.NewRegistry(), finish: map[core.Finish]float64{core.Stop: 0, core.Length: 0, core.Abort: 0}}
	for i, d := range definitions(cfg.Engine.MaxModelLen) {
		m.hists[i] = newHist(d.buckets)
	}
	m.registry.MustRegister(&collector{m: m, descs: describe(cfg)})
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Submitted is called on the loop.
func (m *metrics) Submitted(*core.Request) {}

// Step is called on the loop.
func (m *metrics) Step(s *core.Step) {
	m.mu.Lock()
	m.state = m.engine.State()
	m.hists[iterationTokens].observe(float64(s.Tokens))
	m.mu.Unlock()
}

// Token is called on the loop.
func (m *metrics) Token(r *core.Request, gap int64) {
	m.mu.Lock()
	if gap >= 0 {
		m.hists[interToken].observe(seconds(gap))
	} else {
		m.hists[firstToken].observe(seconds(r.Stats.FirstToken - r.Stats.Arrived))
		m.totals.prompt += float64(r.Stats.Prompt)
		m.totals.cached += float64(r.Stats.Cached)
	}
	m.totals.generated++
	m.mu.Unlock()
}

// Ended is called on the loop.
func (m *metrics) Ended(r *core.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := &r.Stats
	m.finish[st.Finish]++
	if st.Finish == core.Abort { // no step need follow
		m.state = m.engine.State()
	}
	h := &m.hists
	h[endToEnd].observe(seconds(st.Ended - st.Arrived))
	h[promptTokens].observe(float64(st.Prompt))
	h[generationTokens].observe(float64(st.Output))
	h[maxGeneration].observe(float64(st.Output))
	h[paramN].observe(1)
	if r.MaxTokens > 0 {
		h[paramMaxTokens].observe(float64(r.MaxTokens))
	}
	if st.Output == 0 {
		return
	}
	h[queueTime].observe(seconds(st.Scheduled - st.Queued))
	h[prefillTime].observe(seconds(st.FirstToken - st.Scheduled))
	h[decodeTime].observe(seconds(st.LastToken - st.FirstToken))
	h[inferenceTime].observe(seconds(st.LastToken - st.Scheduled))
	h[prefillComputed].observe(float64(st.Prompt - st.Cached))
	if st.Output > 1 {
		h[perOutputToken].observe(seconds(st.LastToken-st.FirstToken) / float64(st.Output-1))
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// hist is a histogram under its owner's lock.
type hist struct {
	bounds []float64
	counts []uint64 // one more than bounds
	sum    float64
	n      uint64
}

func newHist(bounds []float64) hist {
	return hist{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *hist) observe(v float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i]++
	h.sum += v
	h.n++
}

// cumulative returns the counts as Prometheus has them.
func (h *hist) cumulative() map[float64]uint64 {
	out := make(map[float64]uint64, len(h.bounds))
	total := uint64(0)
	for i, b := range h.bounds {
		total += h.counts[i]
		out[b] = total
	}
	return out
}

// cacheInfo are the labels of vllm:cache_config_info.
func cacheInfo(cfg *Config) prometheus.Labels {
	return prometheus.Labels{"engine": "0", "block_size": strconv.FormatInt(cfg.Engine.BlockSize, 10),
		"num_gpu_blocks": strconv.FormatInt(cfg.Engine.Blocks, 10), "num_cpu_blocks": "None", "cache_dtype": "auto",
		"enable_prefix_caching":  map[bool]string{true: "True", false: "False"}[cfg.Engine.PrefixCache],
		"gpu_memory_utilization": strconv.FormatFloat(cfg.Utilization, 'g', -1, 64), "sliding_window": "None",
		"prefix_caching_hash_algo": "sha256", "is_attention_free": "False"}
}
