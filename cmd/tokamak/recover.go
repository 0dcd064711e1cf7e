package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
)

type recoverCommand struct {
	Dir string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Run directory; without it the last of runs/."`
	output
}

// Run finishes the directory, says what was found, and shows the summary.
func (c *recoverCommand) Run(std streams) error {
	dir, err := runDirectory(c.Dir)
	if err != nil {
		return err
	}
	// What is kept of a request holds no pointers: to collect often costs
	// little, and keeps the peak near what is kept.
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	summary, found, err := runner.Recover(dir)
	if errors.Is(err, record.ErrRunning) {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", dir, err))
	}
	if err != nil {
		return err
	}
	if summary == nil {
		if found.Rebuilt != "" {
			tell(std.err, "%s: %s could not be read and was made again from its stream, %s attempts in all",
				dir, found.Rebuilt, measure.Count(found.Ended+found.Cut))
		} else {
			tell(std.err, "%s was complete: nothing to do", dir)
		}
		if summary, err = runner.ReadSummary(dir); err != nil {
			return err
		}
		return c.show(std, summary)
	}
	tell(std.err, "%s: %s attempts had ended, %s were in flight and count as cut, %s bytes were torn",
		dir, measure.Count(found.Ended), measure.Count(found.Cut), measure.Count(found.Torn))
	return c.show(std, summary)
}
