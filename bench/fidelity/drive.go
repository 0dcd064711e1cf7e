package fidelity

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/stat"
)

// seen is what an engine showed under a traffic.
type seen struct {
	requests    int
	failed      int
	ttft        float64 // p99 in ms from the intended time, failures as +Inf
	preemptions int64
}

// drive sends requests at a speed to a simulated engine of its own.
func drive(target string, list []request, speed float64) (seen, error) {
	o, err := sim.ParseTarget(target)
	if err != nil {
		return seen{}, err
	}
	v := clock.NewVirtual(time.Unix(0, 0))
	t, err := runner.NewVirtual(o, v)
	if err != nil {
		return seen{}, err
	}
	src, err := moments(list, speed)
	if err != nil {
		return seen{}, err
	}
	rows := &waits{}
	l := &runner.Loop{Clock: v, Load: src, Work: content{list}, Target: t, Recorder: rows, Seed: 1,
		Limits: runner.Limits{Drain: 24 * time.Hour}}
	if _, err := l.Run(context.Background()); err != nil {
		return seen{}, err
	}
	slices.Sort(rows.ttft)
	s := seen{requests: len(rows.ttft), failed: rows.failed, preemptions: t.Engine.State().Counts.Preemptions}
	s.ttft = stat.Quantile(rows.ttft, 0.99)
	return s, nil
}

// waits are the TTFTs of what ended, in ms.
type waits struct {
	ttft   []float64
	failed int
}

func (w *waits) Dispatched(*record.Attempt) error { return nil }

func (w *waits) Ended(a *record.Attempt) error {
	if a.Outcome != record.OK || !a.FirstToken.Valid() {
		w.failed++
		w.ttft = append(w.ttft, math.Inf(1))
		return nil
	}
	w.ttft = append(w.ttft, float64(a.FirstToken.Or(0)-a.Intended.Or(0))/1e6)
	return nil
}
