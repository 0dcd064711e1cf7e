package dcgm

import (
	"math"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

func board(t *testing.T, gpu string, rename string) *Board {
	t.Helper()
	m, err := catalog.FindModel("llama3-8b")
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.FindAccelerator(gpu)
	if err != nil {
		t.Fatal(err)
	}
	if rename != "" {
		g.Name = rename
	}
	s := hardware.Setup{Model: m, GPU: g, TP: 1, Weights: hardware.BF16, KV: hardware.BF16}
	return NewBoard(Config{Setup: s, Blocks: 1000, BlockSize: 16, Seed: 1}, fixed(500e6))
}

// fixed is a timer that always says the same.
type fixed int64

func (f fixed) StepTime(*core.Step) int64 { return int64(f) }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A step of half a second that begins 0.8 s into a second is active for 0.2 s
// of it and 0.3 s of the next.
func TestActivityIsOfWholeSeconds(t *testing.T) {
	b := board(t, "a100-80g", "")
	s := core.Step{Start: 800e6, Sequences: 1, Tokens: 1, Samples: 1, Context: 1000}
	if d := b.StepTime(&s); d != 500e6 {
		t.Fatalf("the step takes %d ns, the timer said 500 ms", d)
	}
	near(t, "engine activity before the first second ends", b.Read(900e6).Engine, 0)
	near(t, "engine activity of the first second", b.Read(1e9).Engine, 0.2)
	r := b.Read(2.5e9)
	near(t, "engine activity of the second second", r.Engine, 0.3)
	// All weights but the embedding table and 1,000 tokens of KV in half a
	// second, of 2.039 TB/s.
	w := b.cfg.Setup.Model.Weights()
	near(t, "DRAM activity", r.DRAM, 0.3*(float64(2*(w.Layers+w.Head))+1000*131072)/2.039e12/0.5)
	near(t, "tensor activity", r.Tensor, 0.3*2*float64(w.Layers+w.Head)/312e12/0.5)
	near(t, "SM activity", r.SM, 0.3*(1-b.cfg.Setup.GPU.Efficiency.StepMicros*1e-6/0.5))
	near(t, "engine activity later", b.Read(10e9).Engine, 0)
}

func TestALongStepFillsItsSeconds(t *testing.T) {
	b := board(t, "a100-80g", "")
	b.timer = fixed(10.5e9)
	b.StepTime(&core.Step{Start: 0, Sequences: 1, Tokens: 1})
	near(t, "activity of the tenth second", b.Read(10e9).Engine, 1)
	near(t, "activity of the eleventh second", b.Read(11e9).Engine, 0.5)
	near(t, "activity of the twelfth", b.Read(12e9).Engine, 0)
}

// Two replicas, of which one works: each of the two devices is said to be half busy.
func TestReplicasAreToldInTheMean(t *testing.T) {
	b := board(t, "a100-80g", "")
	b.cfg.Replicas = 2
	b.StepTime(&core.Step{Start: 0, Sequences: 1, Tokens: 1})
	near(t, "activity", b.Read(1e9).Engine, 0.25)
	if b.Devices() != 2 {
		t.Errorf("%d devices", b.Devices())
	}
}

func TestPowerAndTemperature(t *testing.T) {
	b := board(t, "a100-80g", "")
	r := b.Read(1000e9)
	near(t, "idle power", r.Watts, 60)
	near(t, "idle energy", r.Joules, 60*1000)
	near(t, "idle temperature", r.Celsius, rest+0.15*rise)
	near(t, "one more half second", b.Read(1000.5e9).Joules, 60*1000.5)
	full := b.power(Activity{1, 1, 1, 1})
	near(t, "full power", full, 400)
	// One window at full power after rest: the first-order step.
	before := b.heat
	b.timer = fixed(1e9)
	b.work = work{bandwidth: 1e-9, peak: 1e-9, dense: 1, token: 1}
	b.StepTime(&core.Step{Start: 1001e9, Tokens: 1})
	near(t, "temperature a second later", b.Read(1002e9).Celsius-rest, before+(rise-before)*(1-math.Exp(-1.0/lag)))
}

func TestMemory(t *testing.T) {
	b := board(t, "a100-80g", "")
	near(t, "memory used", b.Read(0).Used, b.cfg.Setup.WeightBytes()+1000*16*131072+context)
	b.cfg.Blocks = 1 << 30
	near(t, "memory used at most", b.Read(0).Used, float64(b.cfg.Setup.GPU.Memory))
}

// scrape parses what the handler writes.
func scrape(t *testing.T, b *Board, now int64) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	b.Handler(func() int64 { return now }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func labels(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, l := range m.GetLabel() {
		out[l.GetName()] = l.GetValue()
	}
	return out
}

func TestExposition(t *testing.T) {
	b := board(t, "h100", "")
	b.cfg.Setup.TP = 2
	f := scrape(t, b, 3e9)
	used := f["DCGM_FI_DEV_FB_USED"].GetMetric()
	if len(used) != 2 {
		t.Fatalf("%d devices, want 2", len(used))
	}
	want := map[string]string{"gpu": "1", "UUID": b.UUID(1), "pci_bus_id": "00000000:11:00.0", "device": "nvidia1",
		"modelName": "NVIDIA H100 SXM 80GB", "Hostname": "tokamak-sim", "DCGM_FI_DRIVER_VERSION": "sim"}
	if d := cmp.Diff(want, labels(used[1])); d != "" {
		t.Error(d)
	}
	total := used[0].GetGauge().GetValue() + f["DCGM_FI_DEV_FB_FREE"].GetMetric()[0].GetGauge().GetValue()
	if whole := math.Floor(float64(b.cfg.Setup.GPU.Memory) / (1 << 20)); total != whole {
		t.Errorf("used and free are %v MiB, the device has %v", total, whole)
	}
	for _, name := range []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_POWER_USAGE"} {
		if f[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if got := f["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"].GetMetric()[0].GetCounter().GetValue(); got != 3*0.15*700e3 {
		t.Errorf("%v mJ, want %v", got, 3*0.15*700e3)
	}
}

// A slice has its labels, and not the two fields that DCGM cannot tell of one.
func TestExpositionOfASlice(t *testing.T) {
	b := board(t, "h100", "h100-3g.40gb")
	f := scrape(t, b, 0)
	l := labels(f["DCGM_FI_PROF_DRAM_ACTIVE"].GetMetric()[0])
	if l["GPU_I_PROFILE"] != "3g.40gb" || l["GPU_I_ID"] == "" {
		t.Errorf("labels of a slice: %v", l)
	}
	for _, name := range []string{"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL"} {
		if f[name] != nil {
			t.Errorf("%s is told of a slice", name)
		}
	}
	near(t, "power with the slice at full work", b.power(Activity{1, 1, 1, 1}), 700*(0.15+0.85*3/7))
}

func TestWhatIsNotKnownIsAbsent(t *testing.T) {
	f := scrape(t, board(t, "h100", "mine"), 0)
	for _, name := range []string{"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"} {
		if f[name] != nil {
			t.Errorf("%s of an unknown board is told", name)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]slice{"h100": {}, "a100-80g": {}, "a100-40g": {}, "h100-1g.10gb": {"1g.10gb", 1}, "h200:7g.141gb": {"7g.141gb", 7},
		"1g.5gb": {"1g.5gb", 1}, "a100-40g-3g.20gb": {"3g.20gb", 3}} {
		if got := sliceOf(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"l4": 72, "l40s": 350, "h100-pcie": 350, "h100-1g.10gb": 700, "h1000": 0, "l4x": 0, "": 0} {
		if got := factsOf(&catalog.Accelerator{Name: name}).watts; got != want {
			t.Errorf("%s: %v W, want %v", name, got, want)
		}
	}
}
