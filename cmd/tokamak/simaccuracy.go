package main

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/sim/accuracy"
)

// simCommands are what there is about the simulated engine; serving it is what
// sim does when no other is named.
type simCommands struct {
	Serve     simCommand       `cmd:"" default:"withargs" help:"Serve the simulated engine: what sim does with flags alone. The others: sim accuracy, sim calibrate."`
	Accuracy  accuracyCommand  `cmd:"" help:"Print how far the simulated engine is from what was measured on real ones."`
	Calibrate calibrateCommand `cmd:"" help:"Fit the step times to a run or a table, and write an accelerator for sim://."`
}

type accuracyCommand struct {
	Traces   string `name:"traces" default:"../shared/traces" placeholder:"DIR" help:"Directory of the public tables; without them the embedded sample is used."`
	Markdown bool   `name:"markdown" help:"As the tables of docs/accuracy.md."`
	Refit    bool   `name:"refit" help:"Fit everything again first (half a minute)."`
	output
}

// Run prints today's table.
func (c *accuracyCommand) Run(std streams) error {
	src, err := accuracy.Open(c.Traces)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	fits, err := accuracy.Fits()
	if c.Refit {
		fits, err = accuracy.Refit(src.Rows)
	}
	if err != nil {
		return err
	}
	r, err := accuracy.NewReport(src, fits)
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(std.out, r)
	case c.Markdown:
		return r.Markdown(std.out)
	}
	if err := r.Text(std.out); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}
