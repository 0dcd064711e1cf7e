//go:build linux

package runner

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

// BenchmarkLoopPacing runs an open loop of 2,000 requests/s at constant gaps
// through the whole loop, in turns with a bare C loop of absolute sleeps, and
// reports how late a call is handed to the target against how late C wakes up.
// The aim: p99 at most 1.5 times that of C.
func BenchmarkLoopPacing(b *testing.B) {
	const rate, seconds = 2000, 1
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("no C compiler to compare with")
	}
	pace := filepath.Join(b.TempDir(), "pace")
	if out, err := exec.Command(cc, "-O2", "-o", pace, "../clock/testdata/pace.c").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var ours, theirs []int64
	for range b.N {
		ours = append(ours, loopLags(b, rate, seconds)...)
		out, err := exec.Command(pace, fmt.Sprint(1_000_000_000/rate), fmt.Sprint(rate*seconds)).Output()
		if err != nil {
			b.Fatal(err)
		}
		for line := range bytes.Lines(out) {
			var x int64
			if _, err := fmt.Sscan(string(line), &x); err != nil {
				b.Fatal(err)
			}
			theirs = append(theirs, x)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	at := func(sorted []int64, q float64) float64 { return float64(sorted[int(q*float64(len(sorted)-1))]) }
	b.ReportMetric(at(ours, 0.5)/1e3, "p50-µs")
	b.ReportMetric(at(ours, 0.99)/1e3, "p99-µs")
	b.ReportMetric(at(theirs, 0.5)/1e3, "C-p50-µs")
	b.ReportMetric(at(theirs, 0.99)/1e3, "C-p99-µs")
	b.ReportMetric(at(ours, 0.99)/at(theirs, 0.99), "p99/C")
}

// loopLags returns the schedule lag of each request of a run.
func loopLags(b *testing.B, rate float64, seconds int64) []int64 {
	c := clock.NewReal()
	defer c.Close()
	defer c.Pin()()
	source, err := load.New(load.Plan{Arrival: load.Arrival{Process: load.EvenGaps},
		Stages: []load.Stage{{Mode: load.OpenLoop, From: rate, To: rate, Duration: time.Duration(seconds) * time.Second}}})
	if err != nil {
		b.Fatal(err)
	}
	target := &answering{clock: c}
	stop := target.run()
	defer stop()
	l := &Loop{Clock: c, Load: source, Target: target, Recorder: discard{}, Ahead: 256, Prefill: 256,
		Duration: time.Duration(seconds) * time.Second,
		Work:     workload.Synthetic{Seed: 1, Input: 256, Output: 64}, Limits: Limits{Drain: time.Second}}
	if _, err := l.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	return target.lags
}

// answering notes when calls start and ends them every few milliseconds, from
// another goroutine, as a transport does.
type answering struct {
	clock *clock.Real
	lags  []int64

	mu   sync.Mutex
	open []func()
}

func (a *answering) Prepare(*Call) error          { return nil }
func (a *answering) Cancel(*Call, record.Outcome) {}

func (a *answering) Start(c *Call, sink Sink) {
	now := a.clock.Now()
	a.lags = append(a.lags, now-c.Row.Intended.Or(now))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, func() {
		c.Row.Outcome, c.Row.Moments.Ended = record.OK, record.Some(a.clock.Now())
		sink.Ended(c)
	})
}

func (a *answering) run() (stop func()) {
	tick := time.NewTicker(4 * time.Millisecond)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			a.mu.Lock()
			ended := a.open
			a.open = nil
			a.mu.Unlock()
			for _, f := range ended {
				f()
			}
		}
	})
	return func() { close(done); wg.Wait(); tick.Stop() }
}

type discard struct{}

func (discard) Dispatched(*record.Attempt) error { return nil }
func (discard) Ended(*record.Attempt) error      { return nil }
