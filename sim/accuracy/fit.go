package accuracy

import (
	"math"

	"github.com/tokamak-bench/tokamak/catalog"
)

// knob is a parameter of the fit: where it stands in an Efficiency, what it may be,
// and how strongly it is held to where it starts.
type knob struct {
	name      string
	at        func(*catalog.Efficiency) *float64
	start     float64
	low, high float64
}

func knobs(tp, moe bool) []knob {
	k := []knob{
		{"matmul", func(e *catalog.Efficiency) *float64 { return &e.Matmul }, 0.7, 0.15, 1},
		{"weights", func(e *catalog.Efficiency) *float64 { return &e.Weights }, 0.85, 0.2, 1},
		{"kv", func(e *catalog.Efficiency) *float64 { return &e.KV }, 0.7, 0.1, 1},
		{"attention", func(e *catalog.Efficiency) *float64 { return &e.Attention }, 0.4, 0.05, 1},
		{"step_us", func(e *catalog.Efficiency) *float64 { return &e.StepMicros }, 1000, 50, 10000},
		{"layer_us", func(e *catalog.Efficiency) *float64 { return &e.LayerMicros }, 20, 0.5, 200},
		{"sequence_us", func(e *catalog.Efficiency) *float64 { return &e.SeqMicros }, 10, 0.1, 200},
	}
	if tp {
		k = append(k, knob{"link", func(e *catalog.Efficiency) *float64 { return &e.LinkShare }, 0.6, 0.05, 1},
			knob{"link_us", func(e *catalog.Efficiency) *float64 { return &e.LinkMicros }, 10, 0.5, 100})
	}
	if moe {
		k = append(k, knob{"expert_us", func(e *catalog.Efficiency) *float64 { return &e.ExpertMicros }, 20, 0.5, 300})
	}
	return k
}

// Fit finds the efficiencies that predict the cases best: least mean absolute
// logarithm of predicted over measured TPOT, with a tenth of that of TTFT, and a
// weak pull of each parameter to where it starts. It is a coordinate search in
// logarithms with halving steps from a fixed start: the same cases give the same
// result.
func Fit(cases []*Case, start catalog.Efficiency) catalog.Efficiency {
	ks := knobsOf(cases)
	best := start
	for i := range ks {
		*ks[i].at(&best) = ks[i].start
	}
	cost := objective(cases, &best, ks)
	direction := make([]float64, len(ks))
	for i := range direction {
		direction[i] = 0.4
	}
	for round := 0; round < 200; round++ {
		moved, before := false, best
		for i, k := range ks {
			for _, sign := range []float64{1, -1} {
				trial := best
				p := k.at(&trial)
				*p = min(max(*p*math.Exp(sign*direction[i]), k.low), k.high)
				if c := objective(cases, &trial, ks); c < cost-1e-7 {
					cost, best, moved = c, trial, true
					direction[i] *= sign * 1.3
					break
				}
				if sign < 0 {
					direction[i] *= 0.5
				}
			}
		}
		if moved { // along the line of the whole round
			for f := 1.0; f < 20; f *= 2 {
				trial := best
				for _, k := range ks {
					p := k.at(&trial)
					*p = min(max(*p*math.Pow(*k.at(&best) / *k.at(&before), f), k.low), k.high)
				}
				c := objective(cases, &trial, ks)
				if c >= cost-1e-7 {
					break
				}
				cost, best = c, trial
			}
		}
		largest := 0.0
		for _, d := range direction {
			largest = max(largest, math.Abs(d))
		}
		if largest < 0.002 {
			break
		}
	}
	return best
}

func knobsOf(cases []*Case) []knob {
	tp, moe := false, false
	for _, c := range cases {
		tp = tp || c.TP > 1
		moe = moe || c.setup.Model.MoE.Experts > 0
	}
	return knobs(tp, moe)
}

func cost(cases []*Case, e *catalog.Efficiency) float64 { return objective(cases, e, knobsOf(cases)) }

func objective(cases []*Case, e *catalog.Efficiency, ks []knob) float64 {
	sum := 0.0
	for _, c := range cases {
		tpot, ttft := c.Predict(e)
		sum += soft(off(tpot, c.TPOT))
		if c.TTFT > 0 {
			sum += 0.1 * math.Min(soft(off(ttft, c.TTFT)), 0.5)
		}
	}
	sum /= float64(len(cases))
	for _, k := range ks {
		x := math.Log(*k.at(e) / k.start)
		sum += 0.0005 * x * x
	}
	return sum
}

// soft is |x|, rounded off near 0.
func soft(x float64) float64 { return math.Sqrt(x*x+1e-4) - 1e-2 }
