package dcgm

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// work says how much of a device a step uses. Bytes and FLOP are one device's.
type work struct {
	dense, experts float64 // bytes of weights read in a step
	kv             float64 // bytes of a token's KV
	token, sample  float64 // FLOP
	pair           float64 // FLOP of a query-key pair
	share          float64 // of a layer's experts that a token touches
	bandwidth      float64 // bytes/s
	peak           float64 // FLOP/s at 16 bit; weights in fewer bits count by their own peak
	host           float64 // ns of a step in which the device waits for the host
}

func newWork(s *hardware.Setup) work {
	m, w, tp := &s.Model, s.Model.Weights(), float64(s.TP)
	const half = 2 // bytes at 16 bit, which head and embedding keep
	layers := s.WeightBytes()*tp - half*float64(w.Head+w.Embed)
	element := layers / float64(max(w.Layers+w.Experts, 1))
	size := int64(half)
	if s.KV == hardware.FP8 {
		size = 1
	}
	peak := s.GPU.BF16
	ratio := 1.0
	switch {
	case s.Weights == hardware.FP4 && s.GPU.FP4 > 0:
		ratio = s.GPU.BF16 / s.GPU.FP4
	case s.Weights != hardware.BF16 && s.Weights != hardware.INT4 && s.GPU.FP8 > 0:
		ratio = s.GPU.BF16 / s.GPU.FP8
	}
	out := work{dense: (element*float64(w.Layers) + half*float64(w.Head)) / tp, experts: element * float64(w.Experts) / tp,
		kv: float64(m.KVBytes(s.TP, size)), token: 2 * float64(w.Layers+w.Active) * ratio / tp, sample: 2 * float64(w.Head) / tp,
		pair:      4 * float64(m.Layers*m.Heads*m.HeadDim) / tp,
		bandwidth: s.GPU.Bandwidth * 1e12, peak: peak * 1e12, host: s.GPU.Efficiency.StepMicros * 1e3}
	if m.MoE.Experts > 0 {
		out.share = float64(m.MoE.Active) / float64(m.MoE.Experts)
	}
	return out
}

// of returns the activity of a step of d ns.
func (w *work) of(s *core.Step, d int64) Activity {
	t := float64(max(d, 1))
	read := w.dense + w.kv*float64(s.Context)
	if w.share > 0 {
		read += w.experts * (1 - math.Pow(1-w.share, float64(s.Tokens)))
	}
	flop := w.token*float64(s.Tokens) + w.sample*float64(s.Samples) + w.pair*s.Attention
	return Activity{Engine: 1, SM: clamp(1 - w.host/t), DRAM: clamp(read / w.bandwidth / (t / 1e9)), Tensor: clamp(flop / w.peak / (t / 1e9))}
}

func clamp(x float64) float64 { return max(0, min(1, x)) }

// context is what the driver's context takes beside weights and cache, bytes.
const context = 0.7 * (1 << 30)

// memory is what the engine holds: it takes its KV cache whole at its start,
// and after that only a leak grows, towards all of the device.
func (b *Board) memory(now int64) float64 {
	s := &b.cfg.Setup
	size := int64(2)
	if s.KV == hardware.FP8 {
		size = 1
	}
	pool := float64(b.cfg.Blocks * b.cfg.BlockSize * s.Model.KVBytes(s.TP, size))
	held, total := s.WeightBytes()+pool+context, float64(s.GPU.Memory)
	if b.cfg.Leaked != nil && held < total {
		held += (total - held) * clamp(b.cfg.Leaked(now))
	}
	return min(held, total)
}

// rest and rise are the temperature without work and what the full board power
// adds to it in the end, °C.
const (
	rest = 30
	rise = 50
)

// power is what the whole device draws, in W, at an activity of the engine's
// slice: a share without work, and more with time, memory traffic and matrix units.
func (b *Board) power(a Activity) float64 {
	part := 1.0
	if b.slice.profile != "" {
		part = float64(b.slice.compute) / 7
	}
	busy := min(1, 0.2*a.SM+0.4*a.DRAM+0.6*a.Tensor)
	return b.facts.watts * (0.15 + 0.85*part*busy)
}

func (b *Board) warmth(watts float64) float64 {
	if b.facts.watts == 0 {
		return 0
	}
	return rise * watts / b.facts.watts
}

// facts are of a board's data sheet: power in W, clocks in MHz; 0: not known.
type facts struct{ watts, sm, memory float64 }

// factsOf looks a device up by the start of its name: slices are named after it.
func factsOf(g *catalog.Accelerator) facts {
	var best facts
	longest := 0
	for name, f := range map[string]facts{
		"a100-40g": {400, 1410, 1215}, "a100-80g": {400, 1410, 1593}, "h100": {700, 1980, 2619}, "h100-pcie": {350, 1755, 1593}, "h100-nvl": {400, 1785, 2619},
		"h200": {700, 1980, 3201}, "b200": {1000, 1965, 3996}, "l40s": {350, 2520, 9001}, "l4": {72, 2040, 6251},
		"rtx4090": {450, 2520, 10501}, "rtxpro6000": {600, 2617, 14001},
	} {
		if strings.HasPrefix(g.Name, name) && len(name) > longest {
			if next := g.Name[len(name):]; next != "" && (unicode.IsLetter(rune(next[0])) || unicode.IsDigit(rune(next[0]))) {
				continue // another device, whose name only begins alike
			}
			best, longest = f, len(name)
		}
	}
	return best
}

// slice is a MIG profile; the zero value is a whole device.
type slice struct {
	profile string
	compute int
}

// sliceOf finds the profile in a device's name.
func sliceOf(name string) slice {
	m := regexp.MustCompile(`(?:^|[^0-9.])(([1-7])g\.[0-9]+gb)(?:$|[^0-9a-z])`).FindStringSubmatch(name)
	if m == nil {
		return slice{}
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return slice{}
	}
	return slice{profile: m[1], compute: n}
}
