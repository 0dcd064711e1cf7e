package dcgm

import (
	"fmt"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// field is a series: a gauge unless counter.
type field struct {
	name, help string
	counter    bool
	whole      bool // not told of MIG instances
	get        func(*Board, *Reading) float64
}

func fields() []field {
	const mib = 1 << 20
	percent := func(x float64) float64 { return math.Round(100 * x) }
	known := func(x float64) float64 {
		if x == 0 {
			return math.NaN()
		}
		return x
	}
	return []field{
		{name: "DCGM_FI_DEV_SM_CLOCK", help: "SM clock, MHz.", get: func(b *Board, _ *Reading) float64 { return known(b.facts.sm) }},
		{name: "DCGM_FI_DEV_MEM_CLOCK", help: "Memory clock, MHz.", get: func(b *Board, _ *Reading) float64 { return known(b.facts.memory) }},
		{name: "DCGM_FI_DEV_GPU_TEMP", help: "Temperature of the GPU, °C.", get: func(_ *Board, r *Reading) float64 { return math.Round(r.Celsius) }},
		{name: "DCGM_FI_DEV_POWER_USAGE", help: "Power of the board, W.", get: func(_ *Board, r *Reading) float64 { return r.Watts }},
		{name: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", help: "Energy since the start, mJ.", counter: true, get: func(_ *Board, r *Reading) float64 { return math.Floor(1e3 * r.Joules) }},
		{name: "DCGM_FI_DEV_GPU_UTIL", help: "Share of the time with a kernel running, percent.", whole: true, get: func(_ *Board, r *Reading) float64 { return percent(r.Engine) }},
		{name: "DCGM_FI_DEV_MEM_COPY_UTIL", help: "Share of the time with memory traffic, percent.", whole: true, get: func(_ *Board, r *Reading) float64 { return percent(r.DRAM) }},
		{name: "DCGM_FI_DEV_XID_ERRORS", help: "Last XID error.", get: func(*Board, *Reading) float64 { return 0 }},
		{name: "DCGM_FI_DEV_FB_FREE", help: "Memory free, MiB.", get: func(_ *Board, r *Reading) float64 { return math.Floor((r.Total - r.Used) / mib) }},
		{name: "DCGM_FI_DEV_FB_USED", help: "Memory used, MiB.", get: func(_ *Board, r *Reading) float64 { return math.Ceil(r.Used / mib) }},
		{name: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", help: "Share of the time in which the graphics engine was active.", get: func(_ *Board, r *Reading) float64 { return r.Engine }},
		{name: "DCGM_FI_PROF_SM_ACTIVE", help: "Share of the cycles in which SMs had work.", get: func(_ *Board, r *Reading) float64 { return r.SM }},
		{name: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", help: "Share of the cycles in which the tensor pipes were active.", get: func(_ *Board, r *Reading) float64 { return r.Tensor }},
		{name: "DCGM_FI_PROF_DRAM_ACTIVE", help: "Share of the cycles in which the memory interface moved data.", get: func(_ *Board, r *Reading) float64 { return r.DRAM }},
	}
}

// maxDevices bounds the devices that are told of one by one.
const maxDevices = 64

// labels are those of device i, as dcgm-exporter writes them.
func (b *Board) labels(i int) prometheus.Labels {
	l := prometheus.Labels{"gpu": fmt.Sprint(i), "UUID": b.UUID(i), "pci_bus_id": fmt.Sprintf("00000000:%02X:00.0", 16+i),
		"device": fmt.Sprintf("nvidia%d", i), "modelName": b.cfg.Setup.GPU.Title, "Hostname": "tokamak-sim", "DCGM_FI_DRIVER_VERSION": "sim"}
	if b.slice.profile != "" {
		l["GPU_I_PROFILE"], l["GPU_I_ID"] = b.slice.profile, "1"
	}
	return l
}

// UUID is the made-up serial number of device i.
func (b *Board) UUID(i int) string {
	h, l := core.Mix(b.cfg.Seed, uint64(2*i)), core.Mix(b.cfg.Seed, uint64(2*i+1))
	return fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", h>>32, h>>16&0xffff, h&0xffff, l>>48, l&0xffffffffffff)
}

// Devices is how many devices there are.
func (b *Board) Devices() int {
	return int(min(b.cfg.Setup.TP*int64(max(b.cfg.Replicas, 1)), maxDevices))
}

// Handler answers /metrics; now is the engine's clock.
func (b *Board) Handler(now func() int64) http.Handler {
	c := &collector{board: b, now: now, fields: fields()}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	m := http.NewServeMux()
	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	m.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	return m
}

type collector struct {
	board  *Board
	now    func() int64
	fields []field
}

// Describe sends nothing: an unchecked collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends all series. A field that is not known is absent.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	r := c.board.Read(c.now())
	for i := range c.board.Devices() {
		labels := c.board.labels(i)
		for _, f := range c.fields {
			v := f.get(c.board, &r)
			if math.IsNaN(v) || f.whole && c.board.slice.profile != "" {
				continue
			}
			kind := prometheus.GaugeValue
			if f.counter {
				kind = prometheus.CounterValue
			}
			ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, nil, labels), kind, v)
		}
	}
}
