package main

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
)

// dialectFlags ask for a run in the terms of other tools.
type dialectFlags struct {
	Dialect  string `name:"dialect" placeholder:"NAME" xor:"dialect" help:"Show what another tool would have printed: ${dialects}."`
	Dialects bool   `name:"dialects" xor:"dialect" help:"Show what every tool would have printed, and why they differ."`
}

func (f *dialectFlags) asked() bool { return f.Dialect != "" || f.Dialects }

func dialectNames() string {
	var names []string
	for _, d := range dialect.Dialects() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// show prints a run as other tools would have told it.
func (f *dialectFlags) show(std streams, o output, dir string) error {
	var d dialect.Dialect
	if f.Dialect != "" {
		var ok bool
		if d, ok = dialect.Find(f.Dialect); !ok {
			return exit.With(exit.Usage, fmt.Errorf("--dialect: expected one of %s, got %q", dialectNames(), f.Dialect))
		}
	}
	told, err := runner.ReadDialects(dir)
	if err != nil {
		return err
	}
	if f.Dialects {
		c := told.Trace.Compare(told.Ours)
		if o.json() {
			return printJSON(std.out, &c)
		}
		width, _ := terminal(std.out)
		return report.DialectsText(std.out, &c, report.TextOptions{Colour: colours(std.out), Width: width})
	}
	one := &report.Told{Column: dialect.Column{Name: d.Name, Tool: d.Tool, Version: d.Version}, Figures: told.Trace.Figures(&d)}
	if o.json() {
		return printJSON(std.out, one)
	}
	return report.DialectText(std.out, one)
}
