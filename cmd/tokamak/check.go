package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

type checkCommand struct {
	Scenario       string `arg:"" optional:"" placeholder:"SCENARIO.yaml" help:"Scenario file whose target to look at. Flags override it."`
	scenario.Flags        // those of the target: see onlyTarget
	output
}

// onlyTarget leaves the flags out of check and of verify conformance that say
// nothing of a target.
func onlyTarget() kong.Option {
	var others []string
	for f := range reflect.TypeFor[scenario.Flags]().Fields() {
		if f.Tag.Get("section") != "target" || f.Name == "Virtual" || f.Name == "Against" {
			others = append(others, f.Name)
		}
	}
	// The battery asks both whole answers and streams, over connections of its own kind.
	return kong.IgnoreFields(`^(checkCommand|conformanceCommand)\.(` + strings.Join(others, "|") + `)$|^conformanceCommand\.(NoStream|Connections|Retries|WaitReady|GPUs)$`)
}

// Run looks at the target and prints ten lines.
func (c *checkCommand) Run(ctx context.Context, std streams, ended *result) error {
	s, err := scenario.Read(c.Scenario, c.Flags)
	if err != nil {
		return configuration(err)
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	reports, broken := runner.Check(ctx, s, runner.Options{Executable: executable, Version: readVersion().Version, Stdin: std.in,
		Asking: func(what string) { tell(std.err, "asking for %s", what) }})
	if len(reports) == 0 && broken != nil {
		return broken
	}
	for _, r := range reports {
		if !r.Usable {
			ended.code = exit.Target
		}
	}
	if c.json() {
		return cmp.Or(printJSON(std.out, reports), broken)
	}
	return cmp.Or(printChecks(std, reports), broken)
}

func printChecks(std streams, reports []*check.Report) error {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := r.Text(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(std.out, report.Clean(b.String()))
	return err
}
