package catalog

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed presets.yaml presets-runs.yaml
var presetFile embed.FS

// Preset is a fitted set of efficiencies: for one device and engine, one model
// and precision or, where these are empty, all that have no preset of their own.
type Preset struct {
	GPU        string     `yaml:"gpu"`
	Engine     string     `yaml:"engine"`
	Model      string     `yaml:"model,omitempty"`
	DType      string     `yaml:"dtype,omitempty"`
	Family     string     `yaml:"family,omitempty"` // dense or moe; empty: both
	KVDType    string     `yaml:"kv_dtype,omitempty"`
	Efficiency Efficiency `yaml:"efficiency"`
	Rows       int        `yaml:"rows"` // that it was fitted on
	Versions   []Version  `yaml:"versions,omitempty"`
	HeldOut    *Error     `yaml:"held_out,omitempty"`
	InSample   *Error     `yaml:"in_sample,omitempty"`
}

// Version is what a version of the engine takes to what the preset says: the
// preset is of all versions together.
type Version struct {
	Name string  `yaml:"version"`
	Pace float64 `yaml:"pace"` // of the time of a step
	Rows int     `yaml:"rows"` // that tell
}

// At returns the efficiencies under a version of the engine, and whether
// measurements tell of it apart from others; else they are those of all.
func (p *Preset) At(version string) (e Efficiency, known bool) {
	e = p.Efficiency
	for _, v := range p.Versions {
		if v.Name == version && version != "" {
			e.Pace = v.Pace
			return e, true
		}
	}
	return e, false
}

// Error is how far predictions were from measurements, in percent of these.
type Error struct {
	Rows   int     `yaml:"rows"`
	MAPE   float64 `yaml:"tpot_mape"`   // mean absolute error of the time per output token
	Median float64 `yaml:"tpot_median"` // median of the same
	TTFT   float64 `yaml:"ttft_median"` // median absolute error of the time to first token
}

// readPresets reads the catalogue files once: fits on rows of closed loops
// (written by sim/accuracy) and fits on single runs.
var readPresets = sync.OnceValues(func() ([]Preset, error) {
	var list []Preset
	for _, name := range []string{"presets.yaml", "presets-runs.yaml"} {
		text, err := presetFile.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var part []Preset
		if err := yaml.UnmarshalWithOptions(text, &part, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, part...)
	}
	return list, nil
})

// Presets returns the catalogue's presets. The slice is the caller's.
func Presets() []Preset {
	list, err := readPresets()
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return slices.Clone(list)
}

// engineName is an engine's name in presets.
func engineName(s string) string {
	switch s = strings.ToLower(strings.ReplaceAll(s, "_", "-")); s {
	case "tensorrt-llm", "trt-llm", "triton", "tensorrtllm":
		return "trtllm"
	}
	return s
}

// Family tells a model's family in presets: dense or moe.
func (m *Model) Family() string {
	if m.MoE.Experts > 0 {
		return "moe"
	}
	return "dense"
}

// FindPreset returns the preset that speaks best of a model in a precision on a
// device under an engine: of the same model and precision, else of other models
// of its family, else none. Where an engine has none, vLLM's stands in.
func FindPreset(gpu, engine, dtype string, m *Model) (p Preset, ok bool) {
	return ChoosePreset(Presets(), gpu, engine, dtype, m)
}

// ChoosePreset is FindPreset among presets of one's own.
func ChoosePreset(list []Preset, gpu, engine, dtype string, m *Model) (p Preset, ok bool) {
	for _, name := range []string{engineName(engine), "vllm"} {
		best := -1
		for _, c := range list {
			if c.GPU != gpu || c.Engine != name || c.Model != "" && !sameShape(c.Model, m) || c.DType != "" && c.DType != dtype || c.Family != "" && c.Family != m.Family() {
				continue
			}
			score := 0 // the same name before the same layers, these before the precision, this before the family
			switch c.Model {
			case "":
			case m.Name:
				score += 8
			default:
				score += 4
			}
			if c.DType != "" {
				score += 2
			}
			if c.Family != "" {
				score++
			}
			if score > best {
				best, p = score, c
			}
		}
		if best >= 0 {
			return p, true
		}
	}
	return Preset{}, false
}

// sameShape tells whether a model of the catalogue has a model's layers: then
// its measurements speak of that one too.
func sameShape(name string, m *Model) bool {
	if name == m.Name {
		return true
	}
	for _, c := range Models() {
		if c.Name == name {
			return c.Layers == m.Layers && c.Hidden == m.Hidden && c.Heads == m.Heads && c.KVHeads == m.KVHeads && c.Intermediate == m.Intermediate && c.MoE == m.MoE
		}
	}
	return false
}

// FromFile tells whether a model was read from a file and not the catalogue.
func (m *Model) FromFile() bool { return m.Source != hub }
