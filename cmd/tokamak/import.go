package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/interop"
	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/verify"
)

type importCommand struct {
	File           string   `arg:"" placeholder:"FILE" help:"Result of another tool, or the directory it wrote."`
	Out            string   `name:"out" placeholder:"DIR" help:"Run directory to make (default runs/START-FORMAT; none: write nothing)."`
	From           string   `name:"from" placeholder:"FORMAT" help:"Format of the file, where its content is not to decide."`
	Pick           int      `name:"run" placeholder:"N" help:"Which run of a file that has several, from 1."`
	SLO            []string `name:"slo" sep:"none" placeholder:"EXPR" help:"Judge it by these objectives; repeatable."`
	InconclusiveOK bool     `name:"inconclusive-ok" help:"Exit 0 where the evidence is too little."`
	output
}

// Run imports a file and shows what it came to.
func (c *importCommand) Run(std streams, ended *result) error {
	objectives, err := verify.Parse(strings.Join(c.SLO, ","))
	if err != nil && len(c.SLO) > 0 {
		return exit.With(exit.Usage, err)
	}
	if len(c.SLO) == 0 {
		objectives = nil
	}
	o := interop.Options{From: c.From, Run: c.Pick, Out: c.Out, SLO: objectives, InconclusiveOK: c.InconclusiveOK, Version: readVersion().Version}
	if c.Out == "none" {
		o.Out = ""
	}
	if c.Out == "" {
		o.Dir = runsDir
	}
	s, sum, err := interop.Import(c.File, o)
	if err != nil {
		return unreadable(err)
	}
	if sum == nil {
		tell(std.err, "%s has no data of single requests: these are the tool's own figures, and no run was made of them", filepath.Base(c.File))
		return c.figures(std, s)
	}
	ended.code = exit.Code(sum.Verdict.Exit)
	if len(objectives) == 0 {
		ended.code = exit.OK // reading it succeeded, whatever was measured
	}
	return c.show(std, sum)
}

// unreadable gives an error of a file its exit code.
func unreadable(err error) error {
	var at *jsonstream.Error
	if errors.As(err, &at) {
		if line, column, ok := place(at); ok {
			err = fmt.Errorf("%w (line %d, column %d)", err, line, column)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return exit.Hint(exit.Usage, err, "choose another --out, or remove the directory")
	}
	return exit.With(exit.Usage, err)
}

// figures prints what a file of summaries says.
func (c *importCommand) figures(std streams, s *interop.Source) error {
	if c.json() {
		return printJSON(std.out, s)
	}
	_, err := std.out.Write([]byte(report.Clean(s.Text())))
	return err
}

// place finds the line and column of an error of a file.
func place(e *jsonstream.Error) (line, column int, ok bool) {
	f, err := os.Open(e.File)
	if err != nil {
		return 0, 0, false
	}
	defer func() { _ = f.Close() }()
	return jsonstream.Place(f, e.Offset)
}
