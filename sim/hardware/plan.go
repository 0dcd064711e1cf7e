package hardware

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/catalog"
)

// Precision is an element type of weights or KV cache.
type Precision string

// The precisions.
const (
	BF16 Precision = "bf16"
	FP8  Precision = "fp8"
	FP4  Precision = "fp4"
	INT4 Precision = "int4" // weights alone: they are computed with at 16 bit
)

// Precisions lists the known names.
func Precisions() []string { return []string{string(BF16), string(FP8), string(FP4), string(INT4)} }

// Setup is a model on tensor-parallel accelerators.
type Setup struct {
	Model   catalog.Model
	GPU     catalog.Accelerator
	TP      int64
	Weights Precision // of the layers; the LM head stays at 16 bit
	KV      Precision
}

// bytes returns the size of n elements. Four-bit weights carry one 8-bit scale
// for each 16.
func (p Precision) bytes(n int64) float64 {
	switch p {
	case FP8:
		return float64(n)
	case FP4, INT4:
		return float64(n) * 0.5625
	}
	return float64(2 * n)
}

func (s *Setup) kvElement() int64 {
	if s.KV == FP8 {
		return 1
	}
	return 2
}

// peak returns the dense compute peak in FLOP/s at which GEMMs of a precision
// run: that of the next wider units where the device has none of its own.
func (s *Setup) peak(p Precision) float64 {
	peak := s.GPU.BF16
	if p == INT4 {
		return peak * 1e12
	}
	if p != BF16 && s.GPU.FP8 > 0 {
		peak = s.GPU.FP8
	}
	if p == FP4 && s.GPU.FP4 > 0 {
		peak = s.GPU.FP4
	}
	return peak * 1e12
}

// WeightBytes is the memory of the weights on one device.
func (s *Setup) WeightBytes() float64 {
	w := s.Model.Weights()
	return (s.Weights.bytes(w.Layers+w.Experts) + BF16.bytes(w.Head+w.Embed)) / float64(s.TP)
}

// Memory says what an engine reserves.
type Memory struct {
	Utilization float64 // share of the device that the engine may use
	MaxTokens   int64   // token budget of a step: sizes the profile run
	MaxSeqs     int64
	BlockSize   int64
}

// Blocks returns how many KV blocks fit on each device: what the utilisation
// leaves after weights, the activations of the profile run and a base for the
// context, communication buffers and graphs. It is an error when no block fits.
//
// The base was set on one measured engine (RTX 4090, 8B, vLLM 0.19: 2,588
// blocks) and is within 0.4 GiB of a second (70B W8A8: 1,381 blocks).
func (s *Setup) Blocks(m Memory) (int64, error) {
	free := float64(s.GPU.Memory)*m.Utilization - s.WeightBytes() - s.overhead(m)
	page := float64(m.BlockSize * s.Model.KVBytes(s.TP, s.kvElement()))
	if s.Model.Window.Layers > 0 {
		// Layers with a window hold at most its tokens of each sequence.
		heads := max((s.Model.KVHeads+s.TP-1)/s.TP, 1)
		free -= float64(s.Model.Window.Layers*2*heads*s.Model.HeadDim*s.kvElement()) * float64(s.Model.Window.Tokens*min(m.MaxSeqs, 64))
	}
	if blocks := int64(free / page); blocks > 1 {
		return blocks, nil
	}
	return 0, fmt.Errorf("%s in %s on %d× %s: weights take %.1f GiB of %.1f GiB a device and leave no room for a KV cache; raise tp or gpu_memory_utilization, or take a smaller dtype",
		s.Model.Name, s.Weights, s.TP, s.GPU.Name, s.WeightBytes()/(1<<30), float64(s.GPU.Memory)/(1<<30))
}

func (s *Setup) overhead(m Memory) float64 {
	const base = 0.70 * (1 << 30)
	h, i := float64(s.Model.Hidden), float64(max(s.Model.Intermediate, s.Model.MoE.Intermediate*max(s.Model.MoE.Active, 1)))
	tp := float64(s.TP)
	activations := float64(m.MaxTokens) * 2 * (2*i/tp + 6*h)
	sampler := float64(m.MaxSeqs) * float64(s.Model.Vocab) * 4 * 2
	if s.TP > 1 {
		return base + 0.45*(1<<30) + activations + sampler
	}
	return base + activations + sampler
}

// Peak returns the dense compute peak in FLOP/s of the layers' GEMMs on one device.
func (s *Setup) Peak() float64 { return s.peak(s.Weights) }
