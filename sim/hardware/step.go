package hardware

import (
	"cmp"
	"math"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// Timer gives step times for a setup. All terms are in seconds.
type Timer struct {
	layerFLOP   float64 // compute of a token in all layers
	expertFLOP  float64
	headFLOP    float64 // of a sample
	layerRead   float64 // reading the weights of all layers but the routed experts
	expertRead  float64 // reading all routed experts
	headRead    float64
	attention   float64 // of one query-key pair, all layers
	kv          float64 // reading one token's KV
	link        float64 // one token's all-reduces, all layers
	linkStart   float64 // start-up of all all-reduces
	fixed       float64 // step and layers
	sequence    float64
	expertShare float64 // share of a layer's experts that one token touches
	pace        float64
	blend       int
}

var _ core.StepTimer = (*Timer)(nil)

// NewTimer prepares the step times of a setup.
func NewTimer(s Setup) *Timer {
	const micro = 1e-6
	m, e, tp := &s.Model, &s.GPU.Efficiency, float64(s.TP)
	w := m.Weights()
	bandwidth := s.GPU.Bandwidth * 1e12
	gemm := tp * s.peak(s.Weights) * e.Matmul
	gemm16 := tp * s.GPU.BF16 * 1e12 * e.Matmul
	read := tp * bandwidth * e.Weights
	t := &Timer{
		layerFLOP:  2 * float64(w.Layers) / gemm,
		expertFLOP: 2 * float64(w.Active) / gemm,
		headFLOP:   2 * float64(w.Head) / gemm16,
		layerRead:  s.Weights.bytes(w.Layers) / read,
		expertRead: s.Weights.bytes(w.Experts) / read,
		headRead:   BF16.bytes(w.Head) / read,
		attention:  4 * float64(m.Layers*m.Heads*m.HeadDim) / (tp * s.GPU.BF16 * 1e12 * e.Attention),
		kv:         float64(m.KVBytes(s.TP, s.kvElement())) / (bandwidth * e.KV),
		fixed:      e.StepMicros*micro + float64(m.Layers)*e.LayerMicros*micro,
		sequence:   e.SeqMicros * micro,
		pace:       cmp.Or(e.Pace, 1),
		blend:      e.Blend,
	}
	if m.MoE.Experts > 0 {
		t.fixed += float64(m.Layers-m.MoE.DenseLayers) * e.ExpertMicros * micro
		t.expertShare = float64(m.MoE.Active) / float64(m.MoE.Experts)
	}
	if s.TP > 1 {
		layers := 2 * float64(m.Layers)
		t.linkStart = layers * e.LinkMicros * micro
		if e.LinkGrows {
			t.linkStart *= math.Log2(tp)
		}
		t.link = layers * 2 * (tp - 1) / tp * float64(m.Hidden) * 2 / (s.GPU.Link * 1e9 * e.LinkShare)
	}
	return t
}

// StepTime returns the time of a step in ns. Every product is rounded on its
// own (the conversions), so that processors with fused multiply-add give the
// same bits.
func (t *Timer) StepTime(s *core.Step) int64 {
	tokens := float64(s.Tokens)
	compute := float64((t.layerFLOP + t.expertFLOP) * tokens)
	memory := t.layerRead
	if t.expertShare > 0 {
		memory += float64(t.expertRead * t.touched(s.Tokens))
	}
	sum := smoothMax(compute, memory, t.blend)
	sum += smoothMax(float64(t.headFLOP*float64(s.Samples)), t.headRead, t.blend)
	sum += float64(t.attention * s.Attention)
	sum += float64(t.kv * float64(s.Context))
	sum += t.linkStart + float64(t.link*tokens)
	sum += t.fixed + float64(t.sequence*float64(s.Sequences))
	return int64(math.Round(float64(sum * 1e9 * t.pace)))
}

// touched is the share of experts that n tokens use, chosen independently:
// 1 − (1 − k/E)ⁿ.
func (t *Timer) touched(n int64) float64 {
	miss, base := 1.0, 1-t.expertShare
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			miss = float64(miss * base)
		}
		base = float64(base * base)
	}
	return 1 - miss
}

// smoothMax is (aᵖ + bᵖ)^(1/p) for p = 2, 4 or 8, by squares and square roots
// alone, which every processor rounds alike.
func smoothMax(a, b float64, p int) float64 {
	if a < b {
		a, b = b, a
	}
	if a == 0 {
		return 0
	}
	x := float64(b / a) // in [0, 1]: no overflow
	x = float64(x * x)
	for i := 2; i < p; i *= 2 {
		x = float64(x * x)
	}
	r := 1 + x
	for i := 1; i < p; i *= 2 {
		r = math.Sqrt(r)
	}
	return float64(a * r)
}
