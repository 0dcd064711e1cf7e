package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/verify"
)

// comparing are the flags that say how to compare, and how to show it.
type comparing struct {
	FailIf  []string `name:"fail-if" sep:"none" placeholder:"EXPR" group:"verdict" help:"Gate, e.g. ttft.p99>+5%, itl.p50>+2ms, output_token_rate<-3%. Repeatable, comma separated."`
	Primary []string `name:"primary" sep:"none" placeholder:"FIGURES" group:"verdict" help:"Figures that decide, tested together (default: p50 and p95 of ttft, itl and e2e, output_token_rate, error_rate)."`
	Margin  string   `name:"margin" placeholder:"P" default:"5%" group:"verdict" help:"Apart by less is the same (p99 and max: twice that)."`
	Noise   string   `name:"noise" placeholder:"FILE" group:"verdict" help:"Noise between runs, as --noise-floor writes it."`
	JUnit   string   `name:"junit" placeholder:"FILE" group:"out" help:"Write the gates as JUnit XML."`
}

type compareCommand struct {
	Runs       []string `arg:"" name:"runs" placeholder:"RUN" help:"The baseline and what to hold against it: run directories, directories of runs, patterns; or one directory of run --against."`
	Window     string   `name:"window" enum:"all,steady" default:"all" help:"all requests due, or the steady window."`
	Anyway     bool     `name:"anyway" help:"Compare what is not alike, and say in what it differs."`
	NoiseFloor bool     `name:"noise-floor" help:"Say how far the runs, all of the same thing, differ by noise."`
	Out        string   `name:"out" placeholder:"FILE" help:"Write the comparison, or the noise floor, as JSON too."`
	comparing
	Output string `name:"output" short:"o" enum:"text,json,markdown" default:"text" help:"text, json or markdown."`
}

// Run compares and shows what came of it.
func (c *compareCommand) Run(std streams, ended *result) error {
	o, gates, err := c.options()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := writable(c.Out); err != nil {
		return err
	}
	o.Anyway = c.Anyway
	sides, notes, err := runner.ReadSides(c.Runs, compare.Window(c.Window))
	if err != nil {
		return err
	}
	if c.NoiseFloor {
		return c.noiseFloor(std, sides)
	}
	if len(sides) < 2 {
		return exit.Hint(exit.Usage, fmt.Errorf("%s: a comparison takes a baseline and at least one other", c.Runs[0]), "tokamak compare A B")
	}
	found, err := compare.Compare(sides, o)
	if err != nil {
		return unlike(err)
	}
	found.Notes = append(found.Notes, notes...)
	r := report.NewCompared(found, gates, false)
	ended.code = exit.Code(r.Verdict.Exit)
	return errors.Join(c.write(r), writeJSON(c.Out, r), c.show(std, r))
}

// unlike gives runs that are not comparable their exit code.
func unlike(err error) error {
	if n, ok := errors.AsType[*compare.NotAlike](err); ok {
		return exit.Hint(exit.Usage, n, "--anyway compares them all the same")
	}
	return exit.With(exit.Usage, err)
}

// options reads what the flags say of the comparison, and its gates.
func (c *comparing) options() (compare.Options, []verify.Change, error) {
	var o compare.Options
	var gates []verify.Change
	for _, expr := range c.FailIf {
		g, err := verify.ParseChanges(expr)
		if err != nil {
			return o, nil, fmt.Errorf("--fail-if: %w", err)
		}
		gates = append(gates, g...)
	}
	for i := range gates {
		o.Extra = append(o.Extra, gates[i].Figure)
	}
	for _, expr := range c.Primary {
		f, err := verify.ParseFigures(expr)
		if err != nil {
			return o, nil, fmt.Errorf("--primary: %w", err)
		}
		for _, x := range f {
			if !slices.Contains(o.Primary, x) {
				o.Primary = append(o.Primary, x)
			}
		}
	}
	margin, err := verify.ParseMargin(c.Margin)
	if err != nil {
		return o, nil, fmt.Errorf("--margin: %w", err)
	}
	o.Margin, o.TailMargin = margin, 2*margin
	if c.Noise != "" {
		b, err := os.ReadFile(c.Noise)
		if err != nil {
			return o, nil, err
		}
		if o.Noise, err = compare.ReadNoise(c.Noise, b); err != nil {
			return o, nil, err
		}
	}
	return o, gates, writable(c.JUnit)
}

// write writes the JUnit file that was asked for.
func (c *comparing) write(r *report.Compared) error {
	if c.JUnit == "" {
		return nil
	}
	return replaceFile(c.JUnit, func(w io.Writer) error { return report.JUnit(w, r.Suite()) })
}

// show prints a comparison on standard output.
func (c *compareCommand) show(std streams, r *report.Compared) error {
	switch c.Output {
	case "json":
		return printJSON(std.out, r)
	case "markdown":
		return report.CompareMarkdown(std.out, r)
	}
	return showCompared(std, r)
}

func showCompared(std streams, r *report.Compared) error {
	width, _ := terminal(std.out)
	return report.CompareText(std.out, r, report.TextOptions{Colour: colours(std.out), Width: width})
}

// noiseFloor shows the noise of repeated runs, all of one side.
func (c *compareCommand) noiseFloor(std streams, sides []compare.Side) error {
	all := compare.Side{Name: sides[0].Name}
	for i := range sides {
		all.Runs = append(all.Runs, sides[i].Runs...)
	}
	n, err := compare.MeasureNoise(all, c.Anyway)
	if err != nil {
		return unlike(err)
	}
	if err := writeJSON(c.Out, n); err != nil {
		return err
	}
	if c.Output == "json" {
		return printJSON(std.out, n)
	}
	return report.NoiseText(std.out, n)
}

// writeJSON writes a result into a file, if one is named.
func writeJSON(name string, v any) error {
	if name == "" {
		return nil
	}
	return replaceFile(name, func(w io.Writer) error { return printJSON(w, v) })
}
