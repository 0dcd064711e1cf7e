package fidelity

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Run is the command `bench fidelity`:
//
//	fidelity -trace FILE [-target sim://…] [-limit MS] [-bursts 1s] [-shares LIST] [-samples N] [-svg FILE]
//
// It prints the table, and draws the TTFTs where -svg names a file.
func Run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("bench fidelity", flag.ContinueOnError)
	o := Options{Progress: os.Stderr}
	fs.StringVar(&o.Trace, "trace", "", "a trace of lone requests")
	fs.StringVar(&o.Target, "target", "sim://llama3.1-8b@h100-80g?num-gpu-blocks=4000", "the simulated engine")
	fs.Float64Var(&o.Limit, "limit", 800, "the SLO on TTFT p99, ms")
	fs.IntVar(&o.Samples, "samples", 9, "how often all but the trace are drawn")
	shares := fs.String("shares", "0.5,0.6,0.7,0.8,0.9,1,1.1,1.2,1.3", "loads, as shares of the trace's highest rate inside the SLO")
	table := fs.String("table", "0.8,0.9,1.2", "those that the table shows")
	fs.DurationVar(&o.Bursts, "bursts", time.Second, "windows of the log's own bursts that one of the models keeps")
	svg := fs.String("svg", "", "draw TTFT p99 over the rate into this file")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if o.Shares, err = numbers(*shares); err != nil {
		return err
	}
	shown, err := numbers(*table)
	if err != nil {
		return err
	}
	if o.Model, err = learn(ctx, o.Trace, fit.Options{}); err != nil {
		return err
	}
	if o.Kept, err = learn(ctx, o.Trace, fit.Options{Bursts: o.Bursts}); err != nil {
		return err
	}
	r, err := Study(o)
	if err != nil {
		return err
	}
	fmt.Print(r.Markdown(shown))
	if *svg == "" {
		return nil
	}
	return os.WriteFile(*svg, r.Picture(), 0o644)
}

// learn fits the model as `tokamak workload fit` does.
func learn(ctx context.Context, path string, o fit.Options) (*traffic.Model, error) {
	r, err := trace.Open(filepath.Base(path), func() (io.ReadCloser, error) { return os.Open(path) }, trace.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m, _, err := fit.Fit(ctx, r, o)
	return m, err
}

func numbers(list string) ([]float64, error) {
	var out []float64
	for word := range strings.SplitSeq(list, ",") {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil || !(x > 0) {
			return nil, fmt.Errorf("expected numbers above 0, comma separated, found %q", list)
		}
		out = append(out, x)
	}
	return out, nil
}
