package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// readyPause is the time between two looks at a target that is not ready.
const readyPause = 250 * time.Millisecond

// findModel asks the target for its models where the scenario names none, and
// waits for it to answer where the scenario says so. A scenario that names its
// model and does not wait sends nothing before its first request.
func (r *Run) findModel(ctx context.Context, t wire.Transport, o openai.Options) error {
	target := &r.scenario.Target
	if target.Model != "" {
		r.model = target.Model
	}
	if target.WaitReady > 0 && !r.opt.DryRun {
		if err := awaitReady(ctx, t, o, target.WaitReady); err != nil {
			return err
		}
	}
	if r.model != "" || r.opt.DryRun {
		return nil
	}
	var err error
	r.model, err = check.DefaultModel(ctx, t, o)
	return err
}

// awaitReady asks for the list of models until there is one.
func awaitReady(ctx context.Context, t wire.Transport, o openai.Options, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	last := errors.New("it never answered")
	for {
		_, err := check.Models(ctx, t, o)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil { // else it is we who ended the question
			last = err
		}
		select {
		case <-time.After(readyPause):
		case <-ctx.Done():
			return exit.With(exit.Target, fmt.Errorf("the target was not ready within %v: %w", wait, last))
		}
	}
}
