package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

type workloadSampleCommand struct {
	Model    string         `arg:"" placeholder:"MODEL" help:"Traffic model, such as traffic.yaml; - is standard input."`
	Out      string         `required:"" placeholder:"FILE|-" help:"Where the sessions go, as JSON lines that run --dataset reads; - is standard output."`
	Scale    float64        `default:"1" placeholder:"X" help:"Multiply the model's rates (default 1)."`
	ScaleBy  string         `name:"scale-by" enum:"rate,clients" default:"rate" help:"What scale multiplies: each client's rate, bursts kept, or the number of clients (default rate)."`
	Duration *time.Duration `placeholder:"D" help:"How long (default: the model's duration); a longer one begins its rates again."`
	Seed     uint64         `default:"1" placeholder:"N" help:"Seed of every draw: that of a run sends the same (default 1)."`
	Force    bool           `help:"Overwrite the file."`
	Quiet    bool           `short:"q" help:"No progress."`
	output
}

// Run samples the model, writes the sessions and says what they come to.
func (c *workloadSampleCommand) Run(ctx context.Context, std streams) error {
	s, err := c.sampler(std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	for _, n := range s.Notices() {
		tell(std.err, "note: %s", n)
	}
	var sum traffic.Summary
	write := func(w io.Writer) (err error) {
		sum, err = s.WriteRows(w, c.progress(ctx, std.err))
		return err
	}
	to := std.out
	if c.Out == "-" {
		to = std.err // standard output has the sessions
		err = write(std.out)
	} else if err = c.file(write); err == nil && !c.json() {
		tell(std.err, "written to %s", c.Out)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return exit.With(exit.Usage, err)
	case c.json():
		return printJSON(to, sum)
	}
	return sampleText(to, sum)
}

// sampler reads the model.
func (c *workloadSampleCommand) sampler(std streams) (*traffic.Sampler, error) {
	switch {
	case !(c.Scale > 0):
		return nil, fmt.Errorf("--scale: expected a factor above 0, got %v", c.Scale)
	}
	duration, err := asked("--duration", c.Duration)
	if err != nil {
		return nil, err
	}
	f, err := opener(c.Model, std)()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	m, err := traffic.Read(c.Model, f)
	if err != nil {
		return nil, err
	}
	return m.Sampler(traffic.SampleOptions{Seed: c.Seed, Scale: c.Scale, ScaleBy: traffic.Scaling(c.ScaleBy), Duration: duration})
}

// file writes the file, and takes it back where it could not be finished.
func (c *workloadSampleCommand) file(write func(io.Writer) error) error {
	if err := unforced(c.Force, c.Out); err != nil {
		return err
	}
	if err := apart([]string{c.Model}, c.Out); err != nil {
		return err
	}
	return replaceFile(c.Out, write)
}

// progress tells every few seconds how far the sample is, and ends it where
// nobody waits for it any more.
func (c *workloadSampleCommand) progress(ctx context.Context, w io.Writer) func(sessions, at int64) error {
	last := time.Now()
	return func(sessions, at int64) error {
		if now := time.Now(); !c.Quiet && now.Sub(last) >= period {
			last = now
			tell(w, "%s sessions, up to %s", grouped(float64(sessions)), scenario.Short(time.Duration(at).Round(time.Second)))
		}
		return ctx.Err()
	}
}

// sampleText says for people what a sample came to.
func sampleText(w io.Writer, s traffic.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(t, "sessions\t%s in %s, %s requests\n", grouped(float64(s.Sessions)), scenario.Short(time.Duration(s.Duration*1e9)), grouped(float64(s.Requests)))
	fmt.Fprintf(t, "tokens\t%s in (%s of shared prefixes), %s out\n", grouped(float64(s.InputTokens)), grouped(float64(s.PrefixTokens)), grouped(float64(s.OutputTokens)))
	fmt.Fprintf(t, "rate\t%s sessions/s, at most %s in a second\n", number(s.Rate), grouped(float64(s.PeakRate)))
	fmt.Fprintf(t, "bursts\tgaps with a CV of %s; index of dispersion %s at 1 s, %s at 10 s, %s at 60 s\n",
		figure(s.CV), figure(s.Dispersion.Second), figure(s.Dispersion.TenSecond), figure(s.Dispersion.Minute))
	return t.Flush()
}

// figure writes a number that may not be known.
func figure(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}
