package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tokamak-bench/tokamak/calibration"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/runner"
)

type calibrateClientCommand struct {
	Short bool `name:"short" hidden:"" help:"Look for an instant only, keep nothing."`
	Serve bool `name:"serve" hidden:"" help:"Be the paced server until standard input ends."`
	output
}

// Run finds out what this machine's client carries, and keeps it.
func (c *calibrateClientCommand) Run(ctx context.Context, std streams) error {
	if c.Serve {
		return servePaced(ctx, std)
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	r, err := runner.Calibrate(ctx, executable, readVersion().Version, c.Short, func(what string) { tell(std.err, "measuring: %s", what) })
	if ctx.Err() != nil {
		return ctx.Err() // whatever broke then broke for that reason
	}
	if err != nil {
		return err
	}
	cache, err := calibration.UserCache()
	if err == nil && !c.Short {
		err = cache.Keep(r)
	}
	if c.json() {
		if err := printJSON(std.out, r); err != nil {
			return err
		}
	} else if _, err := io.WriteString(std.out, r.Text()); err != nil {
		return err
	}
	switch {
	case err != nil:
		return exit.With(exit.Usage, fmt.Errorf("the calibration could not be kept, so runs will not know of it: %w", err))
	case !c.Short:
		tell(std.err, "kept in %s", cache.Path)
	}
	return nil
}

// servePaced serves until the process that asked for it closes standard input.
func servePaced(ctx context.Context, std streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, std.in)
		cancel()
	}()
	return calibration.Serve(ctx, std.out)
}
