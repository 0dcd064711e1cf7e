package runner

import (
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/workload"
)

// Plan is what a run is about to do, for people to read before it starts.
type Plan struct {
	Load     load.Summary
	Workload workload.Expected
	// WorkloadKnown says that Workload was worked out.
	WorkloadKnown bool
	// Requests is the expected number of requests, 0 where nothing tells.
	Requests float64
	// PeakUsers bounds the requests in flight of a closed loop; 0: none known.
	PeakUsers int64
	Model     string
	Tokenizer string
	RunDir    string // empty: nothing is written
	Timeouts  scenario.Timeouts
}

// describe works out the plan.
func (r *Run) describe() Plan {
	p := Plan{Load: r.plan.Describe(), Model: r.model, Timeouts: r.scenario.Target.Timeouts, RunDir: r.dir}
	if r.codec != nil {
		p.Tokenizer = r.codec.Name()
	}
	p.PeakUsers = p.Load.PeakUsers
	p.Workload, p.WorkloadKnown = workload.Describe(r.work, 500)
	if p.Load.Known && p.Load.Requests < scenario.Unbounded {
		p.Requests = p.Load.Requests
		if p.WorkloadKnown {
			p.Requests *= p.Workload.Requests
		}
	}
	return p
}

// duration is the load's fixed length, or 0 where something else ends it.
func duration(p load.Plan) time.Duration {
	var d time.Duration
	for _, s := range p.Stages {
		if s.Duration == 0 || s.Requests > 0 && len(p.Stages) > 1 {
			return 0
		}
		d += s.Duration
	}
	return d
}

// workloadConfig is the workload that a scenario asks for.
func workloadConfig(w *scenario.Workload) workload.Config {
	class := workload.Class{Input: w.InputTokens, Output: w.OutputTokens, PrefixTokens: w.PrefixTokens}
	if w.Turns > 1 {
		class.Turns = constant(w.Turns)
	}
	return workload.Config{Classes: []workload.Class{class}}
}
