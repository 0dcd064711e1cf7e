package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
)

// ReadSides reads what is to be compared: each argument is a run directory, a
// directory of runs, a pattern of either, or, standing alone, the directory
// of a run with --against, whose two sides it holds.
func ReadSides(args []string, w compare.Window) ([]compare.Side, []string, error) {
	if len(args) == 1 {
		if dirs, err := blockDirs(args[0]); err == nil && len(dirs) > 0 {
			return readBlocks(args[0], dirs, w)
		}
	}
	sides := make([]compare.Side, len(args))
	for i, arg := range args {
		dirs, err := runsOf(arg)
		if err != nil {
			return nil, nil, exit.With(exit.Usage, err)
		}
		sides[i].Name = filepath.Clean(arg)
		for _, dir := range dirs {
			r, err := ReadComparable(dir, w)
			if err != nil {
				return nil, nil, exit.With(exit.Usage, err)
			}
			sides[i].Runs = append(sides[i].Runs, r)
		}
	}
	return sides, nil, nil
}

// runsOf returns the run directories that an argument names, in order.
func runsOf(arg string) ([]string, error) {
	paths := []string{arg}
	if _, err := os.Stat(arg); err != nil {
		found, bad := filepath.Glob(arg)
		if bad != nil || len(found) == 0 {
			return nil, NoRun(arg)
		}
		paths = found
	}
	var dirs []string
	for _, p := range paths {
		if isRun(p) {
			dirs = append(dirs, p)
			continue
		}
		if b, err := blockDirs(p); err == nil && len(b) > 0 {
			return nil, fmt.Errorf("%s holds both sides of a comparison: it stands alone, or name one side as %s", p, filepath.Join(p, "pair-*-a"))
		}
		within, err := filepath.Glob(filepath.Join(escaped(p), "*", record.ManifestFile))
		if err != nil {
			return nil, err
		}
		for _, m := range within {
			dirs = append(dirs, filepath.Dir(m))
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s: expected a run directory, or a directory of runs", arg)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs), nil
}

// escaped makes a path a pattern for itself.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.ManifestFile))
	return err == nil
}

// ReadComparable reads what a comparison needs of a finished run directory.
func ReadComparable(dir string, w compare.Window) (compare.Run, error) {
	run, err := record.Open(dir)
	if err != nil {
		return compare.Run{}, err
	}
	s, err := ReadSummary(dir)
	if err != nil {
		return compare.Run{}, err
	}
	if err := run.Check(); err != nil {
		return compare.Run{}, exit.Hint(exit.Usage, err, "tokamak recover "+dir+" makes it again from the stream beside it")
	}
	return comparable(s, run, dir, w)
}

// ReadSummary reads the summary of a finished run.
func ReadSummary(dir string) (*report.Summary, error) {
	name := filepath.Join(dir, record.SummaryFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := notRun(dir); err != nil {
			return nil, err
		}
		return nil, exit.Hint(exit.Usage, fmt.Errorf("%s has no %s: the run is not finished", dir, record.SummaryFile),
			"if it was killed: tokamak recover "+dir)
	}
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	var s report.Summary
	if err := record.Decode(name, b, &s); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if s.Schema != report.Schema {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: expected the schema %s, got %q", name, report.Schema, s.Schema))
	}
	return &s, nil
}

// fromSummary takes what a comparison needs of all due requests.
func fromSummary(s *report.Summary, m *record.Manifest, name string) compare.Run {
	c := compare.Run{Name: name, Manifest: m, API: s.Run.API, Model: s.Run.Model, Window: compare.All,
		Metrics: s.Metrics, Requests: s.Requests.Requests, Validity: s.Client.Validity}
	if m.Imported != nil {
		c.Dialect = m.Imported.Tool // its client, its clocks, its idea of what failed
	}
	if s.Run.Ended != report.Done {
		c.Unfinished = string(s.Run.Ended)
	}
	return c
}

// comparable takes what a comparison needs of a window.
func comparable(s *report.Summary, run *record.Run, name string, w compare.Window) (compare.Run, error) {
	c := fromSummary(s, run.Manifest(), name)
	c.Window = w
	if w == compare.Steady {
		if s.Steady.Requests.Due == 0 {
			return c, fmt.Errorf("%s has no steady window: %s", name, s.Steady.Reason)
		}
		c.Metrics, c.Requests = s.Steady.Metrics, s.Steady.Requests
	}
	c.View = func() (*measure.View, error) { return view(run, w) }
	return c, nil
}

// view reads a run's rows.
func view(run *record.Run, w compare.Window) (*measure.View, error) {
	s, err := scenario.Thaw(run.Manifest().Scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", run.Dir(), err)
	}
	rec, _, err := remeasure(run, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", run.Dir(), err)
	}
	if w == compare.Steady {
		v, _, reason := rec.sums.Steady()
		if v == nil {
			return nil, fmt.Errorf("%s has no steady window: %s", run.Dir(), reason)
		}
		return v, nil
	}
	return rec.sums.All(), nil
}

// NoRun says that nothing goes by the name of a run that was asked for.
func NoRun(asked string) error {
	return fmt.Errorf("no run matches %s: expected a run directory, a directory of runs or a pattern", asked)
}

// notRun says what a directory is that is no run's; nil where it is one.
func notRun(dir string) error {
	if isRun(dir) {
		return nil
	}
	if b, err := blockDirs(dir); err == nil && len(b) > 0 {
		first := filepath.Join(dir, b[0])
		return exit.Hint(exit.Usage, fmt.Errorf("%s holds the blocks of a run --against, each a run of its own", dir),
			fmt.Sprintf("tokamak compare %s holds its whole pairs against each other; report and recover take one block, as %s", dir, first))
	}
	return exit.With(exit.Usage, fmt.Errorf("%s is not a run directory: it has no %s", dir, record.ManifestFile))
}
