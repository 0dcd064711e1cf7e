package runner

import (
	"context"
	"net/url"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

// Check looks at each target of a scenario with a handful of requests, through
// the same connections, credentials and limits as a run.
func Check(ctx context.Context, s *scenario.Scenario, o Options) ([]*check.Report, error) {
	return eachTarget(ctx, s, o, func(r *Run, base *url.URL, t wire.Transport) (*check.Report, error) {
		opt := r.driverOptions(base)
		opt.Model, opt.Limits = r.scenario.Target.Model, wire.Limits(r.scenario.Target.Timeouts.Probing())
		return check.Run(ctx, check.Options{Transport: t, API: r.scenario.Target.API, OpenAI: opt, Asking: o.Asking})
	})
}

// Conformance puts each target of a scenario through the conformance battery,
// through the same connections and credentials as a run.
func Conformance(ctx context.Context, s *scenario.Scenario, o Options) ([]*conformance.Report, error) {
	return eachTarget(ctx, s, o, func(r *Run, base *url.URL, t wire.Transport) (*conformance.Report, error) {
		opt := r.driverOptions(base)
		opt.Model, opt.Extra, opt.Limits = r.scenario.Target.Model, nil, wire.Limits(r.scenario.Target.Timeouts.Probing())
		return conformance.Run(ctx, conformance.Options{Transport: t, API: r.scenario.Target.API, OpenAI: opt})
	})
}

// eachTarget asks each target of a scenario over a transport of its own.
func eachTarget[T any](ctx context.Context, s *scenario.Scenario, o Options, ask func(*Run, *url.URL, wire.Transport) (*T, error)) ([]*T, error) {
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
	var out []*T
	for _, base := range bases {
		t, err := wire.New(cfg)
		if err != nil {
			return out, exit.With(exit.Usage, err)
		}
		answer, err := ask(r, base, t)
		t.Close()
		if answer != nil { // with an error it is what there was until then
			out = append(out, answer)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
