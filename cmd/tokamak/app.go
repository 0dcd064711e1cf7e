package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
)

// streams are the command's standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// tell writes a line for people to standard error, whatever names and texts
// from outside are in it. There is nobody to tell that it failed.
func tell(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, report.Clean(fmt.Sprintf(format, args...))+"\n")
}

// terminal tells whether a stream is one, and how wide it is.
func terminal(w io.Writer) (width int, ok bool) {
	if o, ok := w.(*watched); ok {
		w = o.to
	}
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil && width > 0
}

// colours tells whether to use them on a stream: on a terminal, unless
// NO_COLOR is set (https://no-color.org) or the terminal is dumb.
func colours(w io.Writer) bool {
	_, ok := terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// output is how results are printed; every command that has one embeds it.
type output struct {
	Output string `name:"output" short:"o" enum:"text,json" default:"text" help:"text or json."`
}

func (o output) json() bool { return o.Output == "json" }

// printJSON writes a result as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

type commandLine struct {
	Run       runCommand             `cmd:"" help:"Drive a load against a target and judge it."`
	Check     checkCommand           `cmd:"" help:"Say in ten lines what a target is and takes."`
	Verify    verifyCommands         `cmd:"" help:"Hold a target against what it has to be: its API's rules."`
	Report    reportCommand          `cmd:"" help:"Show a run again; without an argument the last one."`
	Compare   compareCommand         `cmd:"" help:"Say whether runs differ: same, better, worse, cannot tell; a gate for CI."`
	Recover   recoverCommand         `cmd:"" help:"Finish the directory of a run that was killed."`
	Import    importCommand          `cmd:"" help:"Read another tool's result as a run."`
	Export    exportCommand          `cmd:"" help:"Write a run in another tool's format."`
	Workload  workloadCommands       `cmd:"" help:"Look at traffic: recorded or modelled."`
	Sim       simCommands            `cmd:"" help:"Serve the simulated engine; say how accurate it is; fit it."`
	Calibrate calibrateClientCommand `cmd:"" help:"Find out once what this machine's client carries."`
	Version   versionCommand         `cmd:"" help:"Say which version this is."`
}

// result is how a command that could be carried out ended.
type result struct{ code exit.Code }

// command parses arguments, runs the command they name, prints its error and
// returns its exit code.
func command(ctx context.Context, args []string, std streams) exit.Code {
	var cli commandLine
	helped := false
	parser, err := kong.New(&cli, kong.Name("tokamak"), onlyTarget(), kong.Vars{"dialects": dialectNames()},
		kong.Description("Stress-test, verify and price LLM inference services."),
		kong.Writers(std.out, std.err), kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "target", Title: "Target:"}, {Key: "workload", Title: "What is sent:"}, {Key: "load", Title: "When it is sent:"},
			{Key: "verdict", Title: "Verdict:"}, {Key: "out", Title: "Output:"},
			{Key: "engine", Title: "The engine:"}, {Key: "faults", Title: "Faults:"}}))
	if err != nil {
		return fail(std.err, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	call, err := parser.Parse(negative(served(args)))
	if helped {
		return exit.OK
	}
	if err != nil {
		return fail(std.err, usage(err))
	}
	ended := &result{}
	call.BindTo(ctx, (*context.Context)(nil))
	out := &watched{to: std.out}
	std.out = out
	call.Bind(std, ended)
	err = call.Run()
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled):
		tell(std.err, "tokamak: interrupted")
		return exit.Interrupted
	case out.err != nil: // the result did not reach whoever asked for it
		return fail(std.err, exit.With(exit.Usage, fmt.Errorf("standard output: %w", out.err)))
	case err != nil:
		return fail(std.err, err)
	}
	return ended.code
}

// watched remembers that a result could not be written.
type watched struct {
	to  io.Writer
	err error
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// negative joins a flag and a value that begins with a minus and a digit, which
// the parser would take for a flag: the value's own check then says what is
// wrong with it.
func negative(args []string) []string {
	var out []string
	for i, a := range args {
		if last := len(out) - 1; i > 0 && len(a) > 1 && a[0] == '-' && (a[1] == '.' || '0' <= a[1] && a[1] <= '9') &&
			strings.HasPrefix(out[last], "--") && !strings.Contains(out[last], "=") {
			out[last] += "=" + a
			continue
		}
		out = append(out, a)
	}
	return out
}

// served names the command that sim alone means, so that its help is that
// command's.
func served(args []string) []string {
	if args[0] == "sim" && (len(args) == 1 || strings.HasPrefix(args[1], "-")) {
		return slices.Insert(slices.Clone(args), 1, "serve")
	}
	return args
}

// usage makes an error of the command line one of exit 2, with a hint.
func usage(err error) error {
	hint := "see tokamak --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		hint = "see tokamak " + strings.TrimPrefix(parse.Context.Selected().FullPath(), "tokamak ") + " --help"
	}
	if flag, _, ok := strings.Cut(err.Error(), `: expected string value but got "EOL"`); ok {
		err = errors.New(flag + ": a value is missing")
	}
	return exit.Hint(exit.Usage, err, hint)
}

// configuration gives a scenario's errors their exit code.
func configuration(err error) error {
	if _, ok := errors.AsType[scenario.Errors](err); ok {
		return exit.With(exit.Usage, err)
	}
	return err
}

// fail prints an error, one line for each thing wrong, and returns its code.
func fail(w io.Writer, err error) exit.Code {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		tell(w, "tokamak: %s", line)
	}
	if h := exit.HintOf(err); h != "" {
		tell(w, "hint: %s", h)
	}
	return exit.Of(err)
}
