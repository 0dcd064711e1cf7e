package main

import (
	"fmt"
	"os"

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
	Refit    bool   `name:"refit" help:"Fit everything again first (half a minute); with --held-out, on what is not in FILE."`
	HeldOut  string `name:"held-out" placeholder:"FILE" help:"Hold the presets, as they are, against a table of measurements of your own (CSV): see docs/accuracy.md."`
	output
}

// Run prints today's table, or what the presets are worth on another.
func (c *accuracyCommand) Run(std streams) error {
	if c.HeldOut != "" {
		return c.heldOut(std)
	}
	src, err := accuracy.Open(c.Traces)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	basis, err := accuracy.Sample()
	if err != nil {
		return err
	}
	fits, err := accuracy.Fits()
	if c.Refit {
		basis = src.Rows
		fits, err = accuracy.Refit(basis)
	}
	if err != nil {
		return err
	}
	r, err := accuracy.NewReport(src, basis, fits)
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

func (c *accuracyCommand) heldOut(std streams) error {
	f, err := os.Open(c.HeldOut)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	defer func() { _ = f.Close() }()
	rows, err := accuracy.ReadMeasured(f)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", c.HeldOut, err))
	}
	score := accuracy.NewHeldOut
	if c.Refit {
		score = accuracy.RefitWithout
	}
	h, err := score(rows)
	if err != nil {
		return err
	}
	h.File = c.HeldOut
	if c.json() {
		return printJSON(std.out, h)
	}
	if err := h.Text(std.out); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}
