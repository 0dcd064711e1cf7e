package runner

import (
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
)

// loadPlan is the plan of moments that a scenario asks for; schedule are the
// dataset's own moments where it has them.
func loadPlan(s *scenario.Scenario, schedule []int64) (load.Plan, error) {
	l := &s.Load
	p := load.Plan{Seed: s.Seed, MaxRequests: l.Requests}
	var err error
	if l.Arrival != "" {
		if p.Arrival, err = load.ParseArrival(l.Arrival); err != nil {
			return p, configError("load.arrival", err)
		}
	}
	if l.Think != "" {
		if p.Think, err = stat.ParseDurations(l.Think); err != nil {
			return p, configError("load.think", err)
		}
	}
	switch l.Kind {
	case scenario.OpenLoop:
		p.Stages = []load.Stage{{Mode: load.OpenLoop, From: l.Rate, To: l.Rate, Duration: l.Duration, Requests: l.Requests}}
	case scenario.ClosedLoop:
		n := float64(l.Concurrency)
		p.Stages = []load.Stage{{Mode: load.ClosedLoop, From: n, To: n, Duration: l.Duration, Requests: l.Requests}}
	case scenario.Staged:
		if p.Stages, err = load.ParseStages(l.Stages); err != nil {
			return p, configError("load.stages", err)
		}
	case scenario.OwnTiming:
		p.Schedule, p.Speed = schedule, l.Speed
	}
	unbounded(&p)
	return p, nil
}

// unbounded lets a load that only its dataset ends go on for as long as that
// has rows.
func unbounded(p *load.Plan) {
	if len(p.Stages) == 1 && p.Stages[0].Duration == 0 && p.Stages[0].Requests == 0 {
		p.Stages[0].Requests = 1 << 40
	}
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

func configError(key string, err error) error {
	return exit.With(exit.Usage, fmt.Errorf("%s: %w", key, err))
}

// workloadConfig is the workload that a scenario asks for.
func workloadConfig(s *scenario.Scenario) (workload.Config, error) {
	w := &s.Workload
	class := workload.Class{PrefixTokens: w.PrefixTokens}
	var err error
	if w.InputTokens != "" {
		if class.Input, err = stat.ParseDistribution(w.InputTokens); err != nil {
			return workload.Config{}, configError("workload.input-tokens", err)
		}
	}
	if w.OutputTokens != "" {
		if class.Output, err = stat.ParseDistribution(w.OutputTokens); err != nil {
			return workload.Config{}, configError("workload.output-tokens", err)
		}
	}
	if w.Turns > 1 {
		class.Turns = stat.Constant(w.Turns)
	}
	return workload.Config{Classes: []workload.Class{class}}, nil
}
