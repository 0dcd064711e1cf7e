package main

import (
	"bytes"
	"fmt"
	"os"

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
	w := std.out
	var file *os.File
	if c.Out != "" {
		if file, err = os.Create(c.Out); err != nil {
			return exit.With(exit.Usage, err)
		}
		w = file
	}
	left, err := interop.Export(w, dir, c.As)
	if file != nil {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if info, gone := os.Lstat(c.Out); err != nil && gone == nil && info.Mode().IsRegular() {
			_ = os.Remove(c.Out) // half a file is none; a device or a link is not ours
		}
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	var b bytes.Buffer
	for _, l := range left {
		fmt.Fprintf(&b, "left out: %s\n", l)
	}
	_, _ = std.err.Write(b.Bytes())
	return nil
}
