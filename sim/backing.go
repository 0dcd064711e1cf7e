package sim

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// backing takes the efficiencies of the preset that speaks best of the model,
// precision and engine on the device. A user's accelerator keeps its own.
func (o *Options) backing() {
	if o.GPU.File != "" {
		return
	}
	p, ok := catalog.FindPreset(o.GPU.Name, o.Engine, string(o.Weights), &o.Model)
	if !ok {
		return
	}
	o.GPU.Efficiency, o.versioned = p.At(o.EngineVersion)
	o.kv = hardware.Precision(p.KVDType)
}

// Setup is the model on its devices as the step times see it.
func (o *Options) Setup() hardware.Setup {
	s := hardware.Setup{Model: o.Model, GPU: o.GPU, TP: o.TP, Weights: o.Weights, KV: o.KV}
	if s.KV == "" {
		s.KV = o.kv
	}
	if s.KV == "" {
		s.KV = hardware.BF16
	}
	return s
}

// Backing says which measurements stand behind the step times, and which do not.
type Backing struct {
	// Fitted names the measurements that the efficiencies were fitted on; empty: none.
	Fitted string
	// Warnings are sentences that a user should read before trusting a figure.
	Warnings []string
	// Custom tells that the accelerator or the model is the user's own.
	Custom bool
}

// Backing tells what stands behind the options' step times.
func (o *Options) Backing() Backing {
	b := Backing{Fitted: o.GPU.Efficiency.Fitted}
	switch {
	case o.GPU.File != "" && b.Fitted == "":
		b.Custom = true
		b.Warnings = append(b.Warnings, fmt.Sprintf("no measurement backs the accelerator %s (%s): its step times follow from the file's figures alone", o.GPU.Name, o.GPU.File))
	case o.GPU.File != "":
		b.Custom = true
	case b.Fitted == "":
		b.Warnings = append(b.Warnings, fmt.Sprintf("no end-to-end measurement backs %s under %s: its efficiencies are guesses or from operator profiles; expect errors of 20 %%", o.GPU.Name, o.Engine))
	}
	if o.EngineVersion != "" && !o.versioned && o.GPU.File == "" && b.Fitted != "" {
		b.Warnings = append(b.Warnings, fmt.Sprintf("no measurement tells %s %s from other versions for %s in %s on %s: its step times are those of all that were measured", o.Engine, o.EngineVersion, o.Model.Name, o.Weights, o.GPU.Name))
	}
	if o.Model.FromFile() {
		b.Custom = true
		b.Warnings = append(b.Warnings, fmt.Sprintf("no measurement backs the model %s: it is not in the catalogue, and its shape was read from %s", o.Model.Name, o.Model.Source))
	}
	return b
}
