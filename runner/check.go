package runner

import (
	"context"
	"net/url"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

// Check looks at each target of a scenario with a handful of requests, through
// the same connections, credentials and limits as a run.
func Check(ctx context.Context, s *scenario.Scenario, o Options) ([]*check.Report, error) {
	r := &Run{scenario: s, opt: o, real: clock.NewReal(), live: NewLive()}
	defer r.Close()
	bases, err := r.bases(ctx)
	if err != nil {
		return nil, err
	}
	cfg, err := r.wireConfig()
	if err != nil {
		return nil, err
	}
	if err := r.credential(ctx); err != nil {
		return nil, err
	}
	var reports []*check.Report
	for _, base := range bases {
		report, err := r.checkOne(ctx, base, cfg)
		if err != nil {
			return reports, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func (r *Run) checkOne(ctx context.Context, base *url.URL, cfg wire.Config) (*check.Report, error) {
	t, err := wire.New(cfg)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	defer t.Close()
	opt := r.driverOptions(base)
	opt.Model = r.scenario.Target.Model
	return check.Run(ctx, check.Options{Transport: t, API: r.scenario.Target.API, OpenAI: opt})
}
