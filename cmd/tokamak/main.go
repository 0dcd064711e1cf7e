// Command tokamak stress-tests, verifies and prices LLM inference services.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

type memory struct{ rows []record.Attempt }

func (m *memory) Dispatched(*record.Attempt) error { return nil }
func (m *memory) Ended(a *record.Attempt) error    { m.rows = append(m.rows, *a); return nil }

func main() {
	target := flag.String("url", "", "base URL with /v1; empty: virtual")
	model := flag.String("model", "m", "")
	rate := flag.Float64("rate", 8, "")
	duration := flag.Duration("duration", 10*time.Second, "")
	flag.Parse()
	rec := &memory{}
	l := &runner.Loop{Load: load.NewOpen(*rate, *duration, 1), Recorder: rec, Limits: runner.Limits{Drain: 30 * time.Second}, Ahead: 8, Duration: *duration,
		Work: workload.Synthetic{Seed: 1, Input: 256, Output: 64}}
	if *target == "" {
		v := clock.NewVirtual(time.Now())
		l.Clock = v
		o, err := sim.ParseTarget(sim.Scheme)
		if err == nil {
			l.Target, err = runner.NewVirtual(o, v)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	} else {
		c := clock.NewReal()
		defer c.Pin()()
		base, err := url.Parse(*target)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		tr := wire.NewNetHTTP(wire.Config{Clock: c})
		defer tr.Close()
		l.Clock = c
		l.Target = &runner.HTTP{Name: *target, Transport: tr,
			Driver: openai.NewChat(openai.Options{Base: base, Model: *model, Limits: wire.Limits{Total: time.Minute}})}
	}
	if _, err := l.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	var ttft []int64
	outcomes := map[record.Outcome]int{}
	for _, r := range rec.rows {
		outcomes[r.Outcome]++
		if t, ok := r.FirstToken.Get(); ok {
			ttft = append(ttft, t-r.Intended.Or(0))
		}
	}
	slices.Sort(ttft)
	fmt.Println(outcomes)
	if len(ttft) > 0 {
		fmt.Printf("ttft p50 %v p99 %v\n", time.Duration(stat.Quantile(ttft, .5)), time.Duration(stat.Quantile(ttft, .99)))
	}
}
