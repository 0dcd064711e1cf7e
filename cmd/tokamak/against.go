package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

// against drives two targets in turns and shows how they compare.
func (c *runCommand) against(ctx context.Context, std streams, s *scenario.Scenario, o runner.Options, ended *result) error {
	opt, gates, err := c.options()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	p := runner.NewAgainst(s, o)
	if err := c.announce(ctx, std, s, p); err != nil || c.DryRun {
		return err
	}
	p.Began = func(b runner.Block) func() { return c.began(ctx, std, b) }
	found, err := p.Do(ctx, opt, gates)
	if found == nil {
		return err
	}
	if !c.Quiet {
		tell(std.err, "")
	}
	ended.code = exit.Code(found.Verdict.Exit)
	shown := c.write(found)
	if c.json() {
		return errors.Join(err, shown, printJSON(std.out, found))
	}
	return errors.Join(err, shown, showCompared(std, found))
}

// announce says what will be sent.
func (c *runCommand) announce(ctx context.Context, std streams, s *scenario.Scenario, p *runner.Against) error {
	if c.Quiet && !c.DryRun {
		return nil
	}
	first, err := p.First(ctx)
	if err != nil {
		return err
	}
	defer first.Close()
	w := std.err
	if c.DryRun {
		if err := c.dryRun(std, s.Block(false, s.Seed, s.Name, s.Out.Dir), first); err != nil {
			return err
		}
		w = std.out
	} else {
		plan := first.Plan()
		plan.RunDir = p.Dir()
		tell(w, "%s", planText(s.Block(false, s.Seed, s.Name, ""), plan))
	}
	tell(w, "%-10s %s: the above %d times to each, in pairs with the same requests, in random order; seeds %d to %d", "against",
		scenario.Redacted(s.Target.Against), s.Load.Pairs, s.Seed, s.Seed+uint64(s.Load.Pairs)-1)
	return nil
}

// began tells that a block begins, and shows how it gets on until the returned
// function is called.
func (c *runCommand) began(ctx context.Context, std streams, b runner.Block) func() {
	if c.Quiet {
		return func() {}
	}
	name := "a"
	if b.Other {
		name = "b"
	}
	tell(std.err, "pair %d of %d, %s: %s", b.Pair, b.Pairs, name, scenario.Redacted(b.Scenario.Target.URLs[0]))
	return c.progress(std, b.Scenario, b.Run).start(ctx)
}

// progress is how a run's progress is shown.
func (c *runCommand) progress(std streams, s *scenario.Scenario, r *runner.Run) *progress {
	plan := s.Load.Plan.Describe()
	p := &progress{w: std.err, width: lineWidth(std.err), total: plan.Duration, snapshot: r.Snapshot}
	if s.Load.Requests > 0 {
		p.requests = s.Load.Requests
	}
	if !s.Target.Virtual {
		start := time.Now()
		p.snapshot = func() runner.Snapshot {
			now := r.Snapshot()
			now.At = int64(time.Since(start))
			return now
		}
	}
	return p
}

// alone refuses flags that only a comparison has.
func (c *runCommand) alone() error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"--fail-if", len(c.FailIf) > 0}, {"--primary", len(c.Primary) > 0}, {"--noise", c.Noise != ""}, {"--junit", c.JUnit != ""}} {
		if f.given {
			return exit.With(exit.Usage, fmt.Errorf("%s needs --against: without a second target there is nothing to compare", f.name))
		}
	}
	return nil
}
