package accuracy

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// Measured is a line of a table of measurements that names its own GPU, model
// and engine.
type Measured struct {
	Row
	Line       int
	Throughput float64 // output tokens/s of all devices; 0: not measured
	Why        string  // the step model does not speak of it; empty: it does
}

// The most that a line of a table may ask for, so that a damaged one cannot
// keep the program busy for hours, and the least time that errors are told of.
const (
	leastMillis = 1e-3
	mostTokens  = 1 << 17
	mostClients = 1 << 12
)

// ReadMeasured reads a table of published measurements, by the names in its
// header: model, gpu, engine, isl, osl, load_value and tpot_ms_mean or
// tpot_ms_unspecified_stat; where they are there, load_kind, tensor_parallel,
// gpu_count, weight_dtype, engine_version, ttft_ms_mean,
// ttft_ms_unspecified_stat, output_tok_s, output_tok_s_per_gpu and notes. A
// table with the columns of aiconfigurator's silicon sample is read as that.
// Errors name line, column and what was expected.
func ReadMeasured(r io.Reader) ([]Measured, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	t.columns[0] = strings.TrimPrefix(t.columns[0], "\ufeff")
	silicon := t.has("silicon_tpot_ms")
	if err := t.needs(silicon); err != nil {
		return nil, err
	}
	var list []Measured
	for t.next() {
		m := Measured{}
		m.Line, _ = t.csv.FieldPos(0)
		if silicon {
			m.Row, m.Why = t.siliconRow()
			t.bounded(&m, "batch_size")
		} else {
			t.published(&m)
		}
		if t.err != nil {
			break
		}
		list = append(list, m)
	}
	return list, t.err
}

func (t *table) needs(silicon bool) error {
	names := []string{"model", "gpu", "engine", "isl", "osl", "load_value"}
	if silicon {
		names = []string{"model_path", "system", "backend", "isl", "osl", "batch_size", "tp_size", "mode"}
	}
	for _, name := range names {
		if !t.has(name) {
			return fmt.Errorf("line 1: no column %s: expected %s and a column of the time per output token, and others as in docs/accuracy.md", name, strings.Join(names, ", "))
		}
	}
	if !silicon && !t.has("tpot_ms_mean") && !t.has("tpot_ms_unspecified_stat") {
		return fmt.Errorf("line 1: no column tpot_ms_mean or tpot_ms_unspecified_stat: expected one of them")
	}
	return nil
}

// published reads the current line into m.
func (t *table) published(m *Measured) {
	text := func(name string) string { return strings.TrimSpace(t.text(name)) }
	m.GPU, m.Engine, m.Model = deviceName(text("gpu")), strings.ToLower(text("engine")), text("model")
	if v := text("engine_version"); v != "not stated" {
		m.Version = version(v)
	}
	if kind := text("load_kind"); kind != "" && !strings.HasPrefix(kind, "closed-loop") {
		m.Why = fmt.Sprintf("its load is %q, not a closed loop", kind)
		return
	}
	known := t.names(m)
	if m.Why != "" {
		return
	}
	m.ISL, m.OSL, m.Concurrency = t.integer("isl"), t.integer("osl"), t.integer("load_value")
	m.TPOT, m.TTFT = t.either("tpot_ms_mean", "tpot_ms_unspecified_stat"), t.either("ttft_ms_mean", "ttft_ms_unspecified_stat")
	devices := max(t.integer("gpu_count"), 1)
	m.TP = t.integer("tensor_parallel")
	m.Throughput = t.number("output_tok_s")
	if m.Throughput == 0 {
		m.Throughput = t.number("output_tok_s_per_gpu") * float64(devices)
	}
	switch attention := noted(text("notes"), "attn_dp"); {
	case text("isl") == "" || text("osl") == "" || text("load_value") == "":
		m.Why = "no lengths or no load stated"
	case m.TPOT == 0:
		m.Why = "no TPOT"
	case m.TP == 0 && devices > 1:
		m.Why = "no degree of tensor parallelism stated"
	case t.text("gpu_count") != "" && devices != max(m.TP, 1):
		m.Why = fmt.Sprintf("%d devices and tensor parallelism %d: replicas or a pipeline", devices, m.TP)
	case m.TP > 8:
		m.Why = "more than 8 devices"
	case attention > 1:
		m.Why = "attention data-parallel"
	case known.MoE.Experts > 0:
		if split := max(noted(text("notes"), "moe_tp"), 1) * max(noted(text("notes"), "moe_ep"), 1); strings.Contains(text("notes"), "moe_") && split != max(m.TP, 1) {
			m.Why = fmt.Sprintf("experts split %d ways, attention %d", split, m.TP)
		}
	}
	m.TP = max(m.TP, 1)
	t.bounded(m, "load_value")
}

// bounded demands lengths and clients of a line that the step model speaks of,
// and leaves out those that are too many to be simulated.
func (t *table) bounded(m *Measured, load string) {
	if m.Why != "" {
		return
	}
	for _, c := range []struct {
		name    string
		v, most int64
	}{{"isl", m.ISL, mostTokens}, {"osl", m.OSL, mostTokens}, {load, m.Concurrency, mostClients}} {
		if t.err == nil && c.v < 1 {
			t.err = t.wrong(c.name, "a whole number from 1")
		}
		if c.v > c.most {
			m.Why = fmt.Sprintf("%s of %d: at most %d is simulated", c.name, c.v, c.most)
		}
	}
	if m.TPOT < leastMillis && m.Why == "" {
		m.Why = fmt.Sprintf("TPOT below %g ms", leastMillis)
	}
}

// names puts the catalogue's names in place of those of the line, and says in
// Why which the catalogue does not know.
func (t *table) names(m *Measured) catalog.Model {
	for _, ext := range []string{".json", ".yaml", ".yml"} {
		if strings.HasSuffix(m.Model, ext) || strings.HasSuffix(m.GPU, ext) { // a table must not make us open files
			m.Why = "it names a file, not a GPU or a model of the catalogue"
			return catalog.Model{}
		}
	}
	gpu, err := catalog.FindAccelerator(m.GPU)
	if err != nil {
		m.Why = fmt.Sprintf("the catalogue does not know the GPU %q", t.text("gpu"))
		return catalog.Model{}
	}
	name := siliconModel(m.Model)
	if name == "" { // Llama-3.1-8B, without its owner
		name = siliconModel(strings.Replace(strings.ToLower(m.Model), "llama-", "llama", 1))
	}
	known, err := catalog.FindModel(name)
	if name == "" || err != nil {
		m.Why = fmt.Sprintf("the catalogue does not know the model %q", m.Model)
		return catalog.Model{}
	}
	m.GPU, m.Model = gpu.Name, known.Name
	if m.Engine, err = fittedEngine(m.Engine); err != nil {
		m.Why = err.Error()
	}
	if d, ok := precision(t.text("weight_dtype")); ok {
		m.DType = d
	} else if m.Why == "" {
		m.Why = fmt.Sprintf("unknown precision %q", t.text("weight_dtype"))
	}
	return known
}

// deviceName drops maker, form and memory from the name of a device of which
// they say nothing new: NVIDIA H100-SXM-80GB is h100.
func deviceName(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(s), "nvidia "), "_sxm")
	if m := sxm.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return s
}

var sxm = regexp.MustCompile(`^(h100|h200|b200)(?:-sxm)?-(?:80|141|180)gb$`)

// fittedEngine returns the name in presets of an engine that has some.
func fittedEngine(name string) (string, error) {
	switch strings.ReplaceAll(name, "_", "-") {
	case "tensorrt-llm", "trt-llm", "tensorrtllm":
		name = "trtllm"
	}
	for _, p := range catalog.Presets() {
		if p.Engine == name {
			return name, nil
		}
	}
	return name, fmt.Errorf("the catalogue has no measurement of the engine %q", name)
}

// precision reads the first word of a precision; empty is 16 bit.
func precision(s string) (hardware.Precision, bool) {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), " ")
	switch word {
	case "", "bf16", "fp16", "bfloat16", "float16":
		return hardware.BF16, true
	case "fp8":
		return hardware.FP8, true
	case "fp4", "nvfp4", "mxfp4":
		return hardware.FP4, true
	case "int4", "uint4":
		return hardware.INT4, true
	}
	return "", false
}

// either is the first of two columns that has a value.
func (t *table) either(first, second string) float64 {
	if v := t.number(first); v > 0 {
		return v
	}
	return t.number(second)
}

// noted reads name=number out of a note; 0: not there.
func noted(note, name string) int64 {
	m := regexp.MustCompile(`\b` + name + `=(\d{1,6})\b`).FindStringSubmatch(note)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseInt(m[1], 10, 64)
	return v
}
