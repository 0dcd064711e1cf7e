package accuracy

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// ReadSilicon reads aiconfigurator's silicon_sample.csv and returns a row for
// each configuration that the step model speaks of: prefill and decode on the
// same devices, tensor parallel alone, a device and a model of the catalogue.
// The rest is counted.
func ReadSilicon(r io.Reader) (rows []Row, left int, err error) {
	t, err := newTable(r)
	if err != nil {
		return nil, 0, err
	}
	groups := map[string][]Row{}
	for t.next() {
		row, why := t.siliconRow()
		if t.err != nil {
			break
		}
		if why != "" {
			left++
			continue
		}
		groups[row.key()] = append(groups[row.key()], row)
	}
	for _, g := range groups {
		rows = append(rows, merge(g))
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(order(&a), order(&b)) })
	return rows, left, t.err
}

// siliconRow is the current line, and why the step model does not speak of it;
// empty: it does.
func (t *table) siliconRow() (row Row, why string) {
	row = Row{GPU: strings.TrimSuffix(t.text("system"), "_sxm"), Engine: t.text("backend"), Version: version(t.text("backend_version")),
		Model: siliconModel(t.text("model_path")), DType: siliconPrecision(t.text("precision")), TP: t.integer("tp_size"), ISL: t.integer("isl"), OSL: t.integer("osl"),
		Concurrency: t.integer("batch_size"), TTFT: t.number("silicon_ttft_ms"), TPOT: t.number("silicon_tpot_ms")}
	split := max(t.integer("moe_tp_size"), 1) * max(t.integer("moe_ep_size"), 1)
	switch {
	case t.text("mode") != "agg":
		return row, fmt.Sprintf("prefill and decode on separate devices (mode %q)", t.text("mode"))
	case t.integer("attention_dp_size") > 1:
		return row, "attention data-parallel"
	case t.integer("pp_size") > 1:
		return row, "pipelined"
	case row.Model == "":
		row.Model = t.text("model_path")
		return row, fmt.Sprintf("the catalogue does not know the model %q", row.Model)
	case row.TPOT <= 0:
		return row, "no TPOT"
	case row.TP > 8:
		return row, "more than 8 devices"
	}
	s, err := row.Setup()
	if err != nil {
		return row, fmt.Sprintf("the catalogue does not know the GPU %q", row.GPU)
	}
	if s.Model.MoE.Experts > 0 && split != row.TP {
		return row, fmt.Sprintf("experts split %d ways, attention %d", split, row.TP)
	}
	return row, ""
}

// merge makes one row of the measurements of a configuration.
func merge(g []Row) Row {
	column := func(get func(*Row) float64) []float64 {
		var v []float64
		for i := range g {
			v = append(v, get(&g[i]))
		}
		slices.Sort(v)
		return v
	}
	tpot, ttft := column(func(r *Row) float64 { return r.TPOT }), column(func(r *Row) float64 { return r.TTFT })
	r := g[0]
	r.Repeats, r.Spread = len(g), tpot[len(tpot)-1]/tpot[0]
	r.TPOT, r.TTFT = tpot[(len(tpot)-1)/2], ttft[(len(ttft)-1)/2]
	return r
}

// version drops what is not a release.
func version(s string) string {
	if len(s) > 16 {
		return "nightly"
	}
	return s
}

func siliconPrecision(s string) hardware.Precision {
	switch s {
	case "fp8":
		return hardware.FP8
	case "fp4":
		return hardware.FP4
	case "int4":
		return hardware.INT4
	}
	return hardware.BF16
}

// siliconModel returns the catalogue's name of a checkpoint.
func siliconModel(path string) string {
	names := map[string]string{
		"meta-llama/Llama-3.1-70B": "llama3.1-70b", "nvidia/Llama-3.1-8B-Instruct-FP8": "llama3.1-8b", "Qwen/Qwen3-235B-A22B-FP8": "qwen3-235b-a22b",
		"nvidia/Qwen3-32B-NVFP4": "qwen3-32b", "nvidia/DeepSeek-R1-NVFP4": "deepseek-r1",
		// V3 has R1's layers, and many measurements stand under both names.
		"deepseek-ai/DeepSeek-V3": "deepseek-r1", "nvidia/DeepSeek-V3.1-NVFP4": "deepseek-r1",
	}
	if n, ok := names[path]; ok {
		return n
	}
	if m, err := catalog.FindModel(path); err == nil {
		return m.Name
	}
	return ""
}
