package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
)

// runsDir is where runs are written unless --out says otherwise.
const runsDir = "runs"

type reportCommand struct {
	Dir string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Run directory; without it the last of runs/."`
	dialectFlags
	output
}

// Run shows a run's summary. It exits 0 whatever the verdict was: showing it
// succeeded.
func (c *reportCommand) Run(std streams) error {
	dir, err := runDirectory(c.Dir)
	if err != nil {
		return err
	}
	if c.asked() {
		return c.dialectFlags.show(std, c.output, dir)
	}
	if found, err := runner.ReadComparison(dir); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		if c.json() {
			return printJSON(std.out, found)
		}
		return showCompared(std, found)
	}
	s, err := runner.ReadSummary(dir)
	if err != nil {
		return err
	}
	if s.Run.Dir != "" {
		s.Run.Dir = dir // where it is now: it may have been moved since
	}
	return c.output.show(std, s)
}

// show prints a summary on standard output.
func (o output) show(std streams, s *report.Summary) error {
	if o.json() {
		b, err := s.Encode()
		if err != nil {
			return err
		}
		_, err = std.out.Write(b)
		return err
	}
	width, _ := terminal(std.out)
	return report.Text(std.out, s, report.TextOptions{Colour: colours(std.out), Width: width})
}

// runDirectory returns the directory asked for, or that of the last run.
func runDirectory(asked string) (string, error) {
	if asked != "" {
		info, err := os.Stat(asked)
		if errors.Is(err, fs.ErrNotExist) {
			return "", exit.With(exit.Usage, runner.NoRun(asked))
		}
		if err != nil {
			return "", exit.With(exit.Usage, err)
		}
		if !info.IsDir() {
			return "", exit.With(exit.Usage, fmt.Errorf("%s: expected a run directory", asked))
		}
		return asked, nil
	}
	entries, err := os.ReadDir(runsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", exit.With(exit.Usage, err)
	}
	last, at := "", time.Time{}
	for _, e := range entries {
		for _, name := range []string{record.ManifestFile, runner.ComparisonFile} {
			info, err := os.Stat(filepath.Join(runsDir, e.Name(), name))
			if err == nil && info.ModTime().After(at) {
				last, at = filepath.Join(runsDir, e.Name()), info.ModTime()
			}
		}
	}
	if last == "" {
		return "", exit.Hint(exit.Usage, fmt.Errorf("there is no run in %s/", runsDir), "tokamak run --url URL makes one; tokamak report RUN shows one from elsewhere")
	}
	return last, nil
}
