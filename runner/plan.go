package runner

import (
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
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
	Prompts       string // how whole prompts are counted; empty: only the texts in them are
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
		p.Tokenizer, p.Prompts = r.counter.Name(), r.promptWords()
	}
	return p
}

// duration is the load's fixed length, or 0 where something else ends it.
func duration(p load.Plan) time.Duration {
	if p.Stream != nil {
		return p.Stream.Summary.Duration
	}
	var d time.Duration
	for _, s := range p.Stages {
		if s.Duration == 0 || s.Requests > 0 && len(p.Stages) > 1 {
			return 0
		}
		d += s.Duration
	}
	return d
}

// plannedEnd is the moment at which the load of a run that began at start was to
// end, absent where something else ended it: it has none, or all requests that it
// was to send were due before.
func plannedEnd(start record.Int, p load.Plan, due int64) record.Int {
	d := duration(p)
	if d == 0 || !start.Valid() || p.MaxRequests > 0 && due >= p.MaxRequests {
		return record.Int{}
	}
	return record.Some(start.Or(0) + int64(d))
}

// firstUsers is how many users the first closed stage has, on a ramp the larger end.
func firstUsers(p load.Plan) int64 {
	for _, s := range p.Stages {
		if s.Mode == load.ClosedLoop {
			return int64(max(s.From, s.To))
		}
	}
	return 0
}

// closed tells whether a load is bounded by its users alone.
func closed(p load.Plan) bool {
	return len(p.Stages) == 1 && p.Stages[0].Mode == load.ClosedLoop
}

// intent is what a workload means its prompts to be to a prefix cache. Without
// a prefix, further turns or an asked reuse, synthetic prompts are salted and
// share nothing; of a dataset that holds for single turns behind a salt.
func intent(c *workload.Config) measure.CacheIntent {
	if d := c.Dataset; d != nil {
		if d.Salt && !d.Conversations {
			return measure.Cold
		}
		return measure.Unasked
	}
	if t := c.Traffic; t != nil {
		if t.Shares() {
			return measure.Reuse
		}
		return measure.Cold
	}
	for i := range c.Classes {
		k := &c.Classes[i]
		if k.Reuse || k.PrefixTokens > 0 || k.Turns != nil && k.Turns != stat.Constant(1) {
			return measure.Reuse
		}
	}
	return measure.Cold
}
