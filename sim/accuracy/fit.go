package accuracy

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

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
// weak pull of each parameter to where it starts.
func Fit(cases []*Case, start catalog.Efficiency) catalog.Efficiency {
	ks := knobsOf(cases)
	for i := range ks {
		*ks[i].at(&start) = ks[i].start
	}
	return search(ks, start, func(e *catalog.Efficiency) float64 { return objective(cases, e, ks) })
}

// Search finds the named parameters that make cost least, from where start has
// them, with a weak pull to their common values. Unknown names are left out.
func Search(names []string, start catalog.Efficiency, cost func(*catalog.Efficiency) float64) catalog.Efficiency {
	var ks []knob
	for _, k := range append(knobs(true, true), knob{"api_us", func(e *catalog.Efficiency) *float64 { return &e.APIMicros }, 2000, 1, 1e6}) {
		if slices.Contains(names, k.name) {
			p := k.at(&start)
			*p = min(max(*p, k.low), k.high)
			ks = append(ks, k)
		}
	}
	of := func(e *catalog.Efficiency) float64 { return cost(e) + pull(e, ks)*0.01 }
	return polish(ks, search(ks, start, of), of)
}

// polish goes on from where a coordinate search stuck, in a valley that runs
// across the coordinates, by simplex (Nelder and Mead), then by coordinates again.
func polish(ks []knob, best catalog.Efficiency, of func(*catalog.Efficiency) float64) catalog.Efficiency {
	at := func(x []float64) catalog.Efficiency {
		e := best
		for i, k := range ks {
			*k.at(&e) = min(max(math.Exp(x[i]), k.low), k.high)
		}
		return e
	}
	x := make([]float64, len(ks))
	for i, k := range ks {
		x[i] = math.Log(*k.at(&best))
	}
	problem := optimize.Problem{Func: func(x []float64) float64 {
		e := at(x)
		return of(&e)
	}}
	settings := &optimize.Settings{MajorIterations: 100 * len(ks), Converger: &optimize.FunctionConverge{Absolute: 1e-7, Iterations: 100}}
	r, err := optimize.Minimize(problem, x, settings, &optimize.NelderMead{SimplexSize: 0.3})
	if r == nil || err != nil && r.F > of(&best) {
		return best
	}
	if e := at(r.X); r.F < of(&best) {
		best = e
	}
	return search(ks, best, of)
}

// search goes along coordinates and along the line of each whole round, in
// logarithms with shrinking steps, from a fixed start: the same cost gives the
// same result.
func search(ks []knob, best catalog.Efficiency, of func(*catalog.Efficiency) float64) catalog.Efficiency {
	cost := of(&best)
	steps := make([]float64, len(ks))
	for i := range steps {
		steps[i] = 0.4
	}
	for range 200 {
		before := best
		moved := false
		for i, k := range ks {
			for _, sign := range []float64{1, -1} {
				trial := best
				p := k.at(&trial)
				*p = min(max(*p*math.Exp(sign*steps[i]), k.low), k.high)
				if c := of(&trial); c < cost-1e-7 {
					cost, best, moved = c, trial, true
					steps[i] *= sign * 1.3
					break
				}
				if sign < 0 {
					steps[i] *= 0.5
				}
			}
		}
		if moved {
			best, cost = along(ks, before, best, cost, of)
		}
		largest := 0.0
		for _, d := range steps {
			largest = max(largest, math.Abs(d))
		}
		if largest < 0.002 {
			break
		}
	}
	return best
}

// along goes on in the direction of a round, by growing strides.
func along(ks []knob, before, best catalog.Efficiency, cost float64, of func(*catalog.Efficiency) float64) (catalog.Efficiency, float64) {
	for f := 1.0; f < 20; f *= 2 {
		trial := best
		for _, k := range ks {
			p := k.at(&trial)
			*p = min(max(*p*math.Pow(*k.at(&best) / *k.at(&before), f), k.low), k.high)
		}
		c := of(&trial)
		if c >= cost-1e-7 {
			break
		}
		cost, best = c, trial
	}
	return best, cost
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
	return sum + pull(e, ks)
}

// pull is what it costs to be away from the common values.
func pull(e *catalog.Efficiency, ks []knob) float64 {
	sum := 0.0
	for _, k := range ks {
		x := math.Log(*k.at(e) / k.start)
		sum += 0.0005 * x * x
	}
	return sum
}

// soft is |x|, rounded off near 0.
func soft(x float64) float64 { return math.Sqrt(x*x+1e-4) - 1e-2 }
