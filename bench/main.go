package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/tokamak-bench/tokamak/bench/fidelity"
	"github.com/tokamak-bench/tokamak/bench/rivals"
)

// options are the command's flags.
type options struct {
	streams string
	gap     int
	window  int
	repeat  int
	tokens  int
	way     string
	profile string
	// report only
	requests, chunks int
	several          float64
	// starve only: how many, from which on, drawn from which seed
	count, from int
	seed        uint64
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "child" {
		return child(args[1:])
	}
	mode := "cpu"
	if len(args) > 0 && args[0] == "rivals" {
		return besideRivals(args[1:])
	}
	if len(args) > 0 && args[0] == "fidelity" {
		return fidelity.Run(context.Background(), args[1:])
	}
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		mode, args = args[0], args[1:]
	}
	var o options
	fs := flag.NewFlagSet("bench "+mode, flag.ContinueOnError)
	fs.StringVar(&o.streams, "streams", "", "numbers of streams, comma separated")
	fs.IntVar(&o.gap, "gap", 0, "ms between chunks")
	fs.IntVar(&o.window, "window", 4000, "ms measured")
	fs.IntVar(&o.repeat, "repeat", 1, "runs of each")
	fs.IntVar(&o.tokens, "tokens", 0, "chunks a stream")
	fs.StringVar(&o.way, "way", "poller", "poller or nethttp")
	fs.StringVar(&o.profile, "profile", "", "write a CPU profile of our reader here")
	fs.IntVar(&o.requests, "requests", 1_000_000, "requests of the run to report")
	fs.IntVar(&o.chunks, "chunks", 64, "chunks of each of them")
	fs.Float64Var(&o.several, "several", 0, "share of chunks with two tokens")
	fs.IntVar(&o.count, "n", 50, "starvations")
	fs.IntVar(&o.from, "from", 0, "number of the first of them")
	fs.Uint64Var(&o.seed, "seed", 1, "what they are drawn from")
	if err := fs.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if mode == "report" {
		return measureReport(dir, o)
	}
	if err := buildC(dir); err != nil {
		return err
	}
	switch mode {
	case "cpu":
		return compareCPU(dir, o)
	case "memory":
		return measureMemory(dir, o)
	case "many":
		return countMany(dir, o)
	case "truth":
		return compareTruth(dir, o)
	case "engine":
		return compareEngineTruth(dir, o)
	case "serve":
		return measureServing(dir, o)
	case "starve":
		c, err := starveAll(dir, o, os.Stdout)
		if err == nil && c.falseValid > 0 {
			err = fmt.Errorf("%d figures were called valid and were not", c.falseValid)
		}
		return err
	}
	return fmt.Errorf("unknown mode %q: want cpu, memory, many, truth, engine, serve, report or starve", mode)
}

// besideRivals runs the other clients.
func besideRivals(args []string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildC(dir); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return rivals.Run(ctx, dir, args)
}
