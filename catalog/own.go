package catalog

import (
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ReadAccelerator reads a device from a YAML file; what its efficiency leaves
// out is taken from [Unfitted]. An error names file, line and column, and what
// was expected.
func ReadAccelerator(path string) (Accelerator, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Accelerator{}, err
	}
	a := Accelerator{Efficiency: Unfitted()}
	if err := yaml.UnmarshalWithOptions(text, &a, yaml.Strict()); err != nil {
		return Accelerator{}, fmt.Errorf("%s: %w", path, err)
	}
	if key, err := a.check(); err != nil {
		return Accelerator{}, fmt.Errorf("%s%s: %w", path, position(text, key), err)
	}
	a.File = path
	return a, nil
}

// position is where a key of a YAML file stands, as :LINE:COLUMN; empty where
// it does not.
func position(text []byte, key string) string {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return ""
	}
	at, err := yaml.PathString("$." + key)
	if err != nil {
		return ""
	}
	var node ast.Node
	if node, err = at.FilterFile(file); err != nil || node == nil {
		return ""
	}
	p := node.GetToken().Position
	return fmt.Sprintf(":%d:%d", p.Line, p.Column)
}

// check returns the first key with a value that cannot be.
func (a *Accelerator) check() (key string, err error) {
	if a.Name == "" {
		return "name", errors.New("name is missing")
	}
	e := &a.Efficiency
	for _, f := range []struct {
		key   string
		value float64
		zero  bool // may be 0
		high  float64
	}{
		{"bf16_tflops", a.BF16, false, 1e6}, {"fp8_tflops", a.FP8, true, 1e6}, {"fp4_tflops", a.FP4, true, 1e6},
		{"memory_tb_per_s", a.Bandwidth, false, 1e4}, {"memory_bytes", float64(a.Memory), false, 1e15}, {"link_gb_per_s", a.Link, true, 1e6},
		{"efficiency.matmul", e.Matmul, false, 1}, {"efficiency.weights", e.Weights, false, 1}, {"efficiency.kv", e.KV, false, 1},
		{"efficiency.attention", e.Attention, false, 1}, {"efficiency.link", e.LinkShare, false, 1}, {"efficiency.link_us", e.LinkMicros, true, 1e6},
		{"efficiency.step_us", e.StepMicros, true, 1e9}, {"efficiency.layer_us", e.LayerMicros, true, 1e6}, {"efficiency.sequence_us", e.SeqMicros, true, 1e6},
		{"efficiency.expert_us", e.ExpertMicros, true, 1e6}, {"efficiency.api_us", e.APIMicros, true, 1e9}, {"efficiency.pace", e.Pace, true, 100},
	} {
		low := "above 0"
		if f.zero {
			low = "from 0"
		}
		if !(f.value >= 0 && f.value <= f.high) || f.value == 0 && !f.zero {
			return f.key, fmt.Errorf("%s is %v: expected a number %s to %v", f.key, f.value, low, f.high)
		}
	}
	if e.Blend != 2 && e.Blend != 4 && e.Blend != 8 {
		return "efficiency.blend_exponent", fmt.Errorf("efficiency.blend_exponent is %d: expected 2, 4 or 8", e.Blend)
	}
	return "", nil
}
