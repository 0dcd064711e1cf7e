package runner

import (
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/scenario"
)

// Plan is what a run is about to do, for people to read before it starts.
type Plan struct {
	Forecast scenario.Forecast
	// ForecastKnown says that Forecast was worked out.
	ForecastKnown bool
	Targets       []string // redacted
	API           string
	Model         string
	Tokenizer     string // empty where nothing is counted
	RunDir        string // empty: nothing is written
	Load          string // in words
	Workload      string // in words
	Timeouts      scenario.Timeouts
	Seed          uint64
	Notices       []string
}

// Plan says what the run is about to do.
func (r *Run) Plan() Plan {
	s := r.scenario
	p := Plan{API: s.Target.API, Model: r.model, RunDir: r.dir, Load: s.Load.String(), Workload: s.Workload.String(),
		Timeouts: s.Target.Timeouts, Seed: s.Seed, Notices: s.Notices}
	p.Forecast, p.ForecastKnown = s.Forecast()
	for _, f := range r.facts {
		p.Targets = append(p.Targets, f.Name)
	}
	if r.counter != nil {
		p.Tokenizer = r.counter.Name()
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
