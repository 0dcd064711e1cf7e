package self

import (
	"math"
	"runtime/metrics"
	"slices"
)

// goRuntime reads the Go runtime's own metrics.
type goRuntime struct {
	samples                [7]metrics.Sample
	cycles, gc, assist     counter
	latencies, pauses      []uint64 // counts at the last round
	latencyDelta, pauseNew []uint64
}

func newGoRuntime() *goRuntime {
	g := &goRuntime{}
	for i, name := range []string{
		"/gc/cycles/total:gc-cycles",
		"/cpu/classes/gc/total:cpu-seconds",
		"/cpu/classes/gc/mark/assist:cpu-seconds",
		"/sched/latencies:seconds",
		"/sched/pauses/total/gc:seconds",
		"/sched/goroutines:goroutines",
		"/memory/classes/heap/objects:bytes",
	} {
		g.samples[i].Name = name
	}
	return g
}

func (g *goRuntime) read(r *round) {
	metrics.Read(g.samples[:])
	s := &g.samples
	if v := s[0].Value; v.Kind() == metrics.KindUint64 {
		g.cycles.add(r, "gc_cycles", float64(v.Uint64()), 1)
	}
	if v := s[1].Value; v.Kind() == metrics.KindFloat64 {
		g.gc.rate(r, "gc_cpu", v.Float64()*1e9)
	}
	if v := s[2].Value; v.Kind() == metrics.KindFloat64 {
		g.assist.rate(r, "gc_assist", v.Float64()*1e9)
	}
	if v := s[3].Value; v.Kind() == metrics.KindFloat64Histogram {
		h := v.Float64Histogram()
		g.latencyDelta = grown(g.latencyDelta, g.latencies, h.Counts)
		g.latencies = append(g.latencies[:0], h.Counts...)
		emitEdge(r, "sched_latency_p99", h.Buckets, g.latencyDelta, 0.99)
		emitEdge(r, "sched_latency_max", h.Buckets, g.latencyDelta, 1)
	}
	if v := s[4].Value; v.Kind() == metrics.KindFloat64Histogram {
		h := v.Float64Histogram()
		g.pauseNew = grown(g.pauseNew, g.pauses, h.Counts)
		g.pauses = append(g.pauses[:0], h.Counts...)
		emitEdge(r, "gc_pause_max", h.Buckets, g.pauseNew, 1)
	}
	if v := s[5].Value; v.Kind() == metrics.KindUint64 {
		r.gauge("goroutines", float64(v.Uint64()))
	}
	if v := s[6].Value; v.Kind() == metrics.KindUint64 {
		r.gauge("heap", float64(v.Uint64()))
	}
}

// grown returns now - before, count by count, in dst.
func grown(dst, before, now []uint64) []uint64 {
	dst = append(dst[:0], now...)
	if len(before) == len(now) {
		for i := range dst {
			dst[i] -= min(before[i], dst[i])
		}
	}
	return dst
}

// emitEdge emits, in ns, the upper edge of the bucket that holds quantile q of
// a histogram in seconds; nothing where nothing was counted.
func emitEdge(r *round, name string, buckets []float64, counts []uint64, q float64) {
	if edge, ok := edgeAt(buckets, counts, q); ok {
		r.gauge(name, edge*1e9)
	}
}

func edgeAt(buckets []float64, counts []uint64, q float64) (float64, bool) {
	total := uint64(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank := max(uint64(math.Ceil(q*float64(total))), 1)
	i := slices.IndexFunc(counts, func(n uint64) bool {
		if n >= rank {
			return true
		}
		rank -= n
		return false
	})
	edge := buckets[i+1]
	if math.IsInf(edge, 1) {
		edge = buckets[i] // the last bucket has no upper edge
	}
	return edge, true
}
