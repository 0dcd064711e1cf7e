package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

type workloadCommands struct {
	Fit    workloadFitCommand    `cmd:"" help:"Learn a model of traffic from logs."`
	Sample workloadSampleCommand `cmd:"" help:"Write the sessions of a traffic model as a dataset."`
	Show   workloadShowCommand   `cmd:"" help:"Draw a trace, a log or a model of traffic on one page."`
}

// logFlags say how a log is read; every command that reads one embeds them. The
// words of run for the same things go too.
type logFlags struct {
	Format      string `aliases:"dataset-format" placeholder:"NAME" help:"The log's format (default: told by its content)."`
	Map         string `name:"dataset-map" aliases:"map" placeholder:"FILE" help:"Mapping file for JSON lines of any other form."`
	Turns       string `aliases:"dataset-turns" placeholder:"delta|cumulative|independent" help:"What the rows of one session hold: their new text, the whole prompt with all that came before, or prompts without history (default: told by their blocks and lengths)."`
	BlockTokens *int64 `placeholder:"N" help:"Length of the blocks that ids name (default: the format's own)."`
	MaxBad      string `placeholder:"SHARE" help:"Share of the lines that may be unusable (default 1%)."`
}

// options checks the flags. Errors are exit 2.
func (f *logFlags) options() (trace.Options, error) {
	o := trace.Options{Format: f.Format, Turns: trace.Turns(f.Turns)}
	if f.BlockTokens != nil {
		if o.BlockTokens = *f.BlockTokens; o.BlockTokens < 1 {
			return o, exit.With(exit.Usage, fmt.Errorf("--block-tokens: expected a whole number of at least 1, found %d", o.BlockTokens))
		}
	}
	switch o.Turns {
	case "", trace.DeltaTurns, trace.CumulativeTurns:
	case fit.IndependentTurns:
		o.Turns = trace.CumulativeTurns // whole prompts
	default:
		return o, exit.With(exit.Usage, fmt.Errorf("--turns: expected %s, %s or %s, found %q", trace.DeltaTurns, trace.CumulativeTurns, fit.IndependentTurns, f.Turns))
	}
	if f.MaxBad != "" {
		var err error
		if o.MaxBad, err = trace.ParseShare(f.MaxBad); err != nil {
			return o, exit.With(exit.Usage, fmt.Errorf("--max-bad: %w", err))
		}
	}
	if f.Map == "" {
		return o, nil
	}
	if f.Format != "" {
		return o, exit.With(exit.Usage, errors.New("--dataset-map: format and dataset-map exclude each other"))
	}
	text, err := os.ReadFile(f.Map)
	if err == nil {
		o.Mapping, err = trace.ParseMapping(f.Map, text)
	}
	if err != nil {
		return o, exit.With(exit.Usage, err)
	}
	return o, nil
}

// openLog begins to read a log; - is standard input. Errors are exit 2.
func (f *logFlags) openLog(name string, std streams) (*trace.Reader, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(name, opener(name, std), o)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return r, nil
}

// asked is a duration that was given, which 0 would not be, or 0 where none was.
func asked(flag string, d *time.Duration) (time.Duration, error) {
	switch {
	case d == nil:
		return 0, nil
	case *d <= 0:
		return 0, fmt.Errorf("%s: expected a duration above 0, found %v", flag, *d)
	}
	return *d, nil
}

// given are the flags of a log that were, where another thing is read to which
// none of them is of use.
func (f *logFlags) given() []string {
	var list []string
	for _, k := range []struct {
		name string
		ok   bool
	}{{"--format", f.Format != ""}, {"--dataset-map", f.Map != ""}, {"--turns", f.Turns != ""}, {"--block-tokens", f.BlockTokens != nil}, {"--max-bad", f.MaxBad != ""}} {
		if k.ok {
			list = append(list, k.name)
		}
	}
	return list
}

// ofFile refuses - as a name where only a file goes.
func ofFile(flag, name string) error {
	if name != "-" {
		return nil
	}
	return exit.With(exit.Usage, fmt.Errorf("%s: expected a file: standard output has the result", flag))
}

// opener opens a file; - is standard input.
func opener(name string, std streams) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		if name == "-" {
			return io.NopCloser(std.in), nil
		}
		if s, err := os.Stat(name); err == nil && s.IsDir() {
			return nil, fmt.Errorf("%s is a directory: expected a file", name)
		}
		return os.Open(name)
	}
}
