package runner

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
)

// Told is a run as other tools would have told it.
type Told struct {
	Trace *dialect.Trace
	Ours  *measure.Result
}

// ReadDialects reads the rows of a run directory once: into what the dialects
// need of them, beside our own figures as summary.json has them.
func ReadDialects(dir string) (*Told, error) {
	sum, err := ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	run, err := record.Open(dir)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	s, err := scenario.Thaw(run.Manifest().Scenario)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: the scenario in %s: %w", dir, record.ManifestFile, err))
	}
	o, err := dialectOptions(run, s, int64(sum.Requests.Due))
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	t := &Told{Trace: dialect.New(o), Ours: &measure.Result{Requests: sum.Requests.Requests, Metrics: sum.Metrics}}
	for a, err := range run.Attempts() {
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		t.Trace.Add(a)
	}
	return t, nil
}

// dialectOptions are the load's window and the run's objectives.
func dialectOptions(run *record.Run, s *scenario.Scenario, due int64) (dialect.Options, error) {
	var opt measure.Options
	for e, err := range run.Events() {
		if err != nil {
			return dialect.Options{}, err
		}
		if e.Kind == loadEvent {
			opt.Start = record.Some(e.At)
		}
	}
	opt.End = plannedEnd(opt.Start, s.Load.Plan, due)
	return dialect.Options{Start: opt.Start, End: opt.End, Limits: verify.Limits(s.SLO)}, nil
}
