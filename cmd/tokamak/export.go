package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/interop"
)

type exportCommand struct {
	Dir string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Run directory; without it the last of runs/."`
	As  string `name:"as" required:"" placeholder:"FORMAT" help:"vllm, aiperf, aiperf-summary, llm-d, k6 or junit."`
	Out string `name:"out" placeholder:"FILE" help:"File to write (default: standard output)."`
}

// Run writes the run in another tool's format, and on standard error what that
// has no place for.
func (c *exportCommand) Run(std streams) error {
	dir, err := runDirectory(c.Dir)
	if err != nil {
		return err
	}
	var left []string
	write := func(w io.Writer) (err error) {
		left, err = interop.Export(w, dir, c.As)
		return err
	}
	if c.Out == "" {
		err = exit.With(exit.Usage, write(std.out))
	} else {
		err = replaceFile(c.Out, write)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, l := range left {
		fmt.Fprintf(&b, "left out: %s\n", l)
	}
	_, _ = std.err.Write(b.Bytes())
	return nil
}
