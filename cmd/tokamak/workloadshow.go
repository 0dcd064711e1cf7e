package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

type workloadShowCommand struct {
	File string `arg:"" placeholder:"FILE" help:"Trace, gateway log, dataset or traffic.yaml; - reads standard input."`
	logFlags
	Lengths   string `placeholder:"FILE" help:"Table of length quantiles beside ServeGen client windows."`
	Tokenizer string `placeholder:"NAME|FILE" help:"Count the texts of a log that does not give their lengths: builtin, tiktoken:ENCODING, estimate, or the file of a tokenizer."`
	Seed      uint64 `default:"1" placeholder:"N" help:"Of the sample that a model is shown by (default 1)."`
	HTML      string `name:"html" placeholder:"FILE" help:"Also write the page as HTML to FILE."`
	SVG       string `name:"svg" placeholder:"DIR" help:"Also write each picture as SVG into DIR."`
	Force     bool   `help:"Overwrite files of the page and its pictures that exist."`
	Tenants   bool   `help:"Show the names of tenants."`
	ASCII     bool   `name:"ascii" help:"Draw with plain ASCII characters."`
	output
}

// Run reads the file and shows it.
func (c *workloadShowCommand) Run(ctx context.Context, std streams) error {
	if err := ofFile("--html", c.HTML); err != nil {
		return err
	}
	if err := apart([]string{c.File, c.Lengths}, c.HTML); err != nil {
		return err
	}
	if err := unforced(c.Force, c.HTML); err != nil {
		return err
	}
	seen, err := interruptible(ctx, func() (s shown, err error) {
		s.facts, s.page, err = c.read(ctx, std)
		return s, err
	})
	facts, page := seen.facts, seen.page
	switch {
	case exit.HintOf(err) != "", errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return exit.With(exit.Usage, err)
	}
	if c.HTML != "" {
		if err := replaceFile(c.HTML, page.HTML); err != nil {
			return err
		}
	}
	if err := c.pictures(page); err != nil {
		if exit.HintOf(err) != "" {
			return err
		}
		return exit.With(exit.Usage, err)
	}
	if c.json() {
		return printJSON(std.out, facts)
	}
	width, _ := terminal(std.out)
	return page.Text(std.out, portrait.TextOptions{Width: width, Colour: colours(std.out), ASCII: c.ASCII})
}

// shown is what a file says of itself.
type shown struct {
	facts *portrait.Facts
	page  *portrait.Page
}

// pictures writes each picture into a file of its own, where asked for.
func (c *workloadShowCommand) pictures(page *portrait.Page) error {
	if c.SVG == "" {
		return nil
	}
	if err := os.MkdirAll(c.SVG, 0o755); err != nil {
		return err
	}
	var names []string
	for _, p := range page.Pictures() {
		names = append(names, filepath.Join(c.SVG, p.Name))
	}
	if err := unforced(c.Force, names...); err != nil { // before any is written
		return err
	}
	for i, p := range page.Pictures() {
		if err := replaceFile(names[i], bytesOf(p.SVG)); err != nil {
			return err
		}
	}
	return nil
}

// read finds out what the file is: a model says so at its beginning or by its
// name.
func (c *workloadShowCommand) read(ctx context.Context, std streams) (*portrait.Facts, *portrait.Page, error) {
	o := portrait.Options{Name: filepath.Base(c.File), Tenants: c.Tenants}
	if c.File == "-" {
		o.Name = "standard input"
	}
	f, err := opener(c.File, std)()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	head := bufio.NewReaderSize(f, 4096)
	begin, _ := head.Peek(512) // what cannot be read fails again below
	if ext := filepath.Ext(c.File); ext == ".yaml" || ext == ".yml" || bytes.Contains(begin, []byte(traffic.Schema)) {
		m, err := traffic.Read(c.File, head)
		if err != nil {
			return nil, nil, err
		}
		if err := c.unused("a traffic model", append(c.given(), named("--tokenizer", c.Tokenizer)...)); err != nil {
			return nil, nil, err
		}
		return portrait.Model(ctx, m, c.Seed, o)
	}
	options, err := c.options()
	if err != nil {
		return nil, nil, err
	}
	if c.Tokenizer != "" {
		if o.Tokenizer, err = openTokenizer(c.Tokenizer); err != nil {
			return nil, nil, err
		}
	}
	r, err := trace.Open(c.File, func() (io.ReadCloser, error) { return io.NopCloser(head), nil }, options)
	if errors.Is(err, trace.ErrServeGen) && c.File != "-" {
		return c.windows(ctx, std, o)
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = r.Close() }() // only read
	if err := c.unused("a log of requests", nil); err != nil {
		return nil, nil, err
	}
	return portrait.Log(ctx, r, o)
}

// unused refuses flags that go with another kind of file than the one that is
// shown; the lengths of client windows do with neither a log nor a model.
func (c *workloadShowCommand) unused(what string, flags []string) error {
	if flags = append(flags, named("--lengths", c.Lengths)...); len(flags) == 0 {
		return nil
	}
	return fmt.Errorf("%s: it does not go with %s, which %s is", flags[0], what, c.File)
}

// named is a flag's name where it was given.
func named(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{flag}
}

// openTokenizer opens one by its name or its file.
func openTokenizer(spec string) (token.Tokenizer, error) {
	if spec == "builtin" || spec == "estimate" || strings.HasPrefix(spec, "tiktoken:") {
		return token.Open(spec)
	}
	return token.OpenFile(spec)
}

// windows shows a table of client windows, which is a model, without lengths
// unless their table is given.
func (c *workloadShowCommand) windows(ctx context.Context, std streams, o portrait.Options) (*portrait.Facts, *portrait.Page, error) {
	m, _, err := fit.WindowFiles(c.File, c.Lengths, func(name string) (io.ReadCloser, error) { return opener(name, std)() })
	if bad, ok := errors.AsType[*fit.TableError](err); ok && bad.Line == 1 && bad.Name == c.File {
		return nil, nil, exit.Hint(exit.Usage, err, "a table of lengths goes with the client windows: show those, and give it as --lengths")
	}
	if err != nil {
		return nil, nil, err
	}
	o.NoLengths = c.Lengths == ""
	return portrait.Model(ctx, m, c.Seed, o)
}
