package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

// readyPause is the time between two looks at a target that is not ready.
const readyPause = 250 * time.Millisecond

// listTimeout bounds one listing of models.
const listTimeout = 10 * time.Second

// findModel asks the target for its models where the scenario names none, and
// waits for it to answer where the scenario says so.
func (r *Run) findModel(ctx context.Context, bases []*url.URL, cfg wire.Config, auth scenario.Header) error {
	t := &r.scenario.Target
	if t.Model != "" {
		r.model = t.Model
	}
	if t.Sim() || t.Model != "" && t.WaitReady == 0 {
		return nil
	}
	for _, base := range bases {
		models, err := r.listModels(ctx, base, cfg, auth)
		if err != nil {
			return err
		}
		if r.model != "" {
			continue
		}
		switch len(models) {
		case 1:
			r.model = models[0]
		case 0:
			return exit.Hint(exit.Usage, fmt.Errorf("%s lists no model", scenario.Redacted(base)), "name one with --model")
		default:
			return exit.With(exit.Usage, fmt.Errorf("%s has several models, expected --model with one of: %s",
				scenario.Redacted(base), strings.Join(models, ", ")))
		}
	}
	return nil
}

// listModels asks once, or until the target answers or the wait is over.
func (r *Run) listModels(ctx context.Context, base *url.URL, cfg wire.Config, auth scenario.Header) ([]string, error) {
	o := check.Options{Base: base, Wire: cfg, Header: r.fields(), Auth: wire.Field{Name: auth.Name, Value: auth.Value.Reveal()},
		Timeout: listTimeout}
	until := time.Now().Add(r.scenario.Target.WaitReady)
	for {
		models, err := check.Models(ctx, o)
		if err == nil {
			return models, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, exit.With(exit.Interrupted, ctx.Err())
		}
		if !time.Now().Add(readyPause).Before(until) {
			return nil, exit.Hint(exit.Target, fmt.Errorf("list the models of %s: %w", scenario.Redacted(base), err),
				"name the model with --model if the target has no list")
		}
		time.Sleep(readyPause)
	}
}

// fields are the header fields that the scenario adds to each request.
func (r *Run) fields() []wire.Field {
	var f []wire.Field
	for _, h := range r.scenario.Target.Header {
		f = append(f, wire.Field{Name: h.Name, Value: h.Value.Reveal()})
	}
	return f
}
