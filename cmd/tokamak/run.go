package main

import (
	"context"
	"errors"

	"github.com/tokamak-bench/tokamak/scenario"
)

type runCommand struct {
	Scenario string `arg:"" optional:"" placeholder:"SCENARIO.yaml" help:"Scenario file; - is standard input. Flags override it."`
	scenario.Flags
	DryRun bool `name:"dry-run" group:"out" help:"Print the plan, the first body, and the same as curl; send nothing."`
	Quiet  bool `name:"quiet" short:"q" group:"out" help:"No plan and no progress."`
	output
}

// Run drives the load.
func (c *runCommand) Run(ctx context.Context, std streams, ended *result) error {
	s, err := scenario.Read(c.Scenario, c.Flags)
	if err != nil {
		return configuration(err)
	}
	_ = s
	return errors.New("not yet")
}
