package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

type verifyCommands struct {
	Conformance conformanceCommand `cmd:"" help:"Ask an endpoint a fixed battery of questions, and say rule by rule where it breaks its API."`
}

type conformanceCommand struct {
	Scenario       string `arg:"" optional:"" placeholder:"SCENARIO.yaml" help:"Scenario file whose target to ask. Flags override it."`
	scenario.Flags        // those of the target: see onlyTarget
	Save           string `name:"out" placeholder:"FILE" help:"Also write the report as JSON to FILE."`
	JUnit          string `name:"junit" placeholder:"FILE" help:"Also write the rules as JUnit XML to FILE."`
	output
}

// Run asks the questions and prints one line a rule.
func (c *conformanceCommand) Run(ctx context.Context, std streams, ended *result) error {
	s, err := scenario.Read(c.Scenario, c.Flags)
	if err != nil {
		return configuration(err)
	}
	if err := writable(c.Save, c.JUnit); err != nil { // before the first question
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	for _, n := range s.Notices {
		tell(std.err, "note: %s", n)
	}
	tell(std.err, "asks about 37 questions: at most %d tokens out of an endpoint that keeps max_tokens, about 1,000 in, and one prompt just over the context where it is known", conformance.MaxOutput)
	reports, broken := runner.Conformance(ctx, s, runner.Options{Executable: executable, Version: readVersion().Version, Stdin: std.in})
	if len(reports) == 0 && broken != nil {
		return broken
	}
	for _, r := range reports {
		switch {
		case !r.Usable:
			ended.code = exit.Worst(ended.code, exit.Target)
		case r.Fail > 0:
			ended.code = exit.Worst(ended.code, exit.Failed)
		}
	}
	var text, inJSON bytes.Buffer
	if err := printJSON(&inJSON, reports); err != nil {
		return err
	}
	if c.Save != "" {
		if err := replaceFile(c.Save, bytesOf(inJSON.Bytes())); err != nil {
			return err
		}
	}
	if err := c.junit(reports); err != nil {
		return err
	}
	if c.json() {
		_, err := std.out.Write(inJSON.Bytes())
		return cmp.Or(err, broken)
	}
	for i, r := range reports {
		if i > 0 {
			text.WriteByte('\n')
		}
		if err := r.Text(&text); err != nil {
			return err
		}
	}
	_, err = strings.NewReader(report.Clean(text.String())).WriteTo(std.out)
	return cmp.Or(err, broken)
}

// junit writes the JUnit file that was asked for, a suite a URL.
func (c *conformanceCommand) junit(reports []*conformance.Report) error {
	if c.JUnit == "" {
		return nil
	}
	suites := make([]report.Suite, len(reports))
	for i, r := range reports {
		suites[i] = r.Suite()
	}
	return replaceFile(c.JUnit, func(w io.Writer) error { return report.JUnit(w, suites...) })
}
