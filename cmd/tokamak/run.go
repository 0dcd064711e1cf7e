package main

import (
	"context"
	"os"

	"github.com/tokamak-bench/tokamak/calibration"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

type runCommand struct {
	Scenario string `arg:"" optional:"" placeholder:"SCENARIO.yaml" help:"Scenario file; - is standard input. Flags override it."`
	scenario.Flags
	comparing
	DryRun bool `name:"dry-run" group:"out" help:"Print the plan, the first body, and the same as curl; send nothing."`
	Quiet  bool `name:"quiet" short:"q" group:"out" help:"No plan and no progress."`
	output
}

// Run drives the load and shows what came of it.
func (c *runCommand) Run(ctx context.Context, std streams, ended *result) error {
	s, err := scenario.Read(c.Scenario, c.Flags)
	if err != nil {
		return configuration(err)
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	known, _ := calibration.UserCache() // a machine without a place for caches has none
	o := runner.Options{Executable: executable, DryRun: c.DryRun, Version: readVersion().Version, Command: os.Args, Stdin: std.in, Calibrations: known}
	if !c.Quiet {
		o.Writing = writing(ctx, std.err, lineWidth(std.err))
	}
	if s.Target.Against != nil {
		return c.against(ctx, std, s, o, ended)
	}
	if err := c.alone(); err != nil {
		return err
	}
	r, err := runner.New(ctx, s, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if c.DryRun {
		return c.dryRun(std, s, r)
	}
	if !c.Quiet {
		tell(std.err, "%s", planText(s, r.Plan()))
	}
	summary, err := c.drive(ctx, std, s, r)
	if summary != nil {
		if !c.Quiet {
			tell(std.err, "") // on a terminal the results stand apart
		}
		ended.code = exit.Code(summary.Verdict.Exit)
		if err := c.show(std, summary); err != nil {
			return err
		}
	}
	return err
}

// drive runs the load with progress on standard error.
func (c *runCommand) drive(ctx context.Context, std streams, s *scenario.Scenario, r *runner.Run) (*report.Summary, error) {
	if c.Quiet {
		return r.Do(ctx)
	}
	stop := c.progress(std, s, r).start(ctx)
	defer stop()
	return r.Do(ctx)
}
