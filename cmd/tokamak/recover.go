package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
)

type recoverCommand struct {
	Dir string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Run directory; without it the last of runs/."`
	output
}

// Run makes the directory complete and says what was found.
func (c *recoverCommand) Run(_ context.Context, std streams) error {
	dir, err := runDirectory(c.Dir)
	if err != nil {
		return err
	}
	found, err := record.Recover(dir)
	if errors.Is(err, record.ErrRunning) {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", dir, err))
	}
	if err != nil {
		return err
	}
	if found.Complete {
		fmt.Fprintf(std.err, "%s was complete: nothing to do\n", dir)
		return nil
	}
	fmt.Fprintf(std.err, "%s: %d attempts had ended, %d were in flight and are now cut, %d samples\n", dir, found.Ended, found.Cut, found.Samples)
	return nil
}
