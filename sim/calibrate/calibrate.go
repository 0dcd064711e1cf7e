package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/accuracy"
)

// Result is a fit and what it is worth.
type Result struct {
	Efficiency        catalog.Efficiency
	Names             []string // the parameters that were fitted
	InSample, HeldOut Score
	Unit              string // of the scores: requests or rows
}

// Score is how far predictions were off, in percent of what was measured.
type Score struct {
	N                      int
	TPOT, TPOTMedian, TTFT float64 // TTFT: median; NaN where none was measured
}

// folds is the number of parts that are held out one after the other.
const folds = 5

// parameters are those that one model's measurements can tell apart: what each
// layer costs is left to the step, and a share of the link to its start-up.
func parameters(o *sim.Options, ttft bool) []string {
	names := []string{"matmul", "weights", "kv", "step_us", "sequence_us"}
	if ttft {
		names = append(names, "attention", "api_us")
	}
	if o.TP > 1 {
		names = append(names, "link_us")
	}
	if o.Model.MoE.Experts > 0 {
		names = append(names, "expert_us")
	}
	return names
}

// start is where a fit starts: the device's own efficiencies, with what a layer
// costs counted to the step.
func start(o *sim.Options) catalog.Efficiency {
	e := o.GPU.Efficiency
	e.StepMicros += float64(o.Model.Layers) * e.LayerMicros
	e.LayerMicros = 0
	e.Fitted = ""
	return e
}

// deviations are relative errors in percent.
type deviations struct{ tpot, ttft []float64 }

func (e *deviations) add(tpot, ttft, wantTPOT, wantTTFT float64) {
	if wantTPOT > 0 {
		e.tpot = append(e.tpot, 100*math.Abs(tpot/wantTPOT-1))
	}
	if wantTTFT > 0 {
		e.ttft = append(e.ttft, 100*math.Abs(ttft/wantTTFT-1))
	}
}

func (e *deviations) score() Score {
	s := Score{N: max(len(e.tpot), len(e.ttft)), TPOT: math.NaN(), TPOTMedian: median(e.tpot), TTFT: median(e.ttft)}
	if len(e.tpot) > 0 {
		s.TPOT = 0
		for _, v := range e.tpot {
			s.TPOT += v / float64(len(e.tpot))
		}
	}
	return s
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)-1)/2]
}

// Table fits rows of closed loops that an engine as o describes was measured
// with; each loop is taken as ten requests a client of exactly the row's lengths.
func Table(o sim.Options, rows []accuracy.Row) (*Result, error) {
	if len(rows) < folds {
		return nil, fmt.Errorf("%d rows: expected at least %d", len(rows), folds)
	}
	var cases []*accuracy.Case
	ttft := false
	for i, r := range rows {
		own := o
		if r.TP > 0 {
			own.TP = r.TP
		}
		if r.DType != "" {
			own.Weights = r.DType
		}
		c, err := accuracy.NewLoopCase(r, own, accuracy.Loop{Clients: r.Concurrency, Requests: 10 * r.Concurrency, ISL: r.ISL, OSL: r.OSL})
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		ttft = ttft || r.TTFT > 0
		o.TP = max(o.TP, own.TP)
		cases = append(cases, c)
	}
	names := parameters(&o, ttft)
	fit := func(keep func(int) bool) catalog.Efficiency {
		return accuracy.Search(names, start(&o), func(e *catalog.Efficiency) float64 {
			sum, n := 0.0, 0
			for i, c := range cases {
				if keep(i) {
					tpot, ttft := c.Predict(e)
					sum += loss(tpot, c.TPOT) + 0.1*loss(ttft, c.TTFT)
					n++
				}
			}
			return sum / float64(max(n, 1))
		})
	}
	add := func(to *deviations, i int, e *catalog.Efficiency) {
		tpot, ttft := cases[i].Predict(e)
		to.add(tpot, ttft, cases[i].TPOT, cases[i].TTFT)
	}
	return result(len(cases), "rows", names, fit, add), nil
}

// loss is the absolute logarithm of predicted over measured, rounded off near 0;
// 0 where nothing was measured.
func loss(predicted, measured float64) float64 {
	if measured <= 0 {
		return 0
	}
	if predicted <= 0 {
		return 10
	}
	x := math.Log(predicted / measured)
	return math.Sqrt(x*x+1e-6) - 1e-3
}

// result fits all, and all but each fold, and scores both.
func result(n int, unit string, names []string, fit func(keep func(int) bool) catalog.Efficiency, add func(*deviations, int, *catalog.Efficiency)) *Result {
	r := &Result{Efficiency: fit(func(int) bool { return true }), Names: names, Unit: unit}
	var in, held deviations
	for i := range n {
		add(&in, i, &r.Efficiency)
	}
	for f := range folds {
		e := fit(func(i int) bool { return i%folds != f })
		for i := f; i < n; i += folds {
			add(&held, i, &e)
		}
	}
	r.InSample, r.HeldOut = in.score(), held.score()
	return r
}

// Accelerator is the device of o with what was fitted, for a YAML file; from
// names the measurements.
func (r *Result) Accelerator(o *sim.Options, from string) catalog.Accelerator {
	a := o.GPU
	a.Name += "-calibrated"
	a.Title, a.File = "", ""
	a.Source += "; efficiencies fitted by tokamak sim calibrate"
	a.Efficiency = r.Efficiency
	a.Efficiency.Fitted = fmt.Sprintf("%s: %d %s of %s in %s, tp %d; TPOT error held out %.1f %%, median %.1f %%",
		from, r.InSample.N, r.Unit, o.Model.Name, o.Weights, o.TP, r.HeldOut.TPOT, r.HeldOut.TPOTMedian)
	return a
}
