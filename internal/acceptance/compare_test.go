package acceptance

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
)

// comparisons is how many a test makes: some here, and as many as asked for by
// TOKAMAK_COMPARISONS, which takes minutes.
func comparisons(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("TOKAMAK_COMPARISONS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("TOKAMAK_COMPARISONS=%s: expected a number", text)
	}
	return n
}

// trial is one virtual run: of the engine slowed by a factor, at a rate, with
// the requests of a seed.
type trial struct {
	slow     float64
	rate     float64
	requests int64
	seed     uint64
}

// rowsOnly keeps what measuring needs.
type rowsOnly struct{ *measure.Accumulator }

func (rowsOnly) Dispatched(*record.Attempt) error { return nil }
func (r rowsOnly) Ended(a *record.Attempt) error  { r.Add(a); return nil }

// run makes the trial with the executor of every run.
func (c trial) run() (compare.Run, error) {
	o, err := sim.ParseTarget("sim://llama3-8b@a100-80g?engine=vllm")
	if err != nil {
		return compare.Run{}, err
	}
	g := &o.GPU
	g.BF16, g.Bandwidth = g.BF16/c.slow, g.Bandwidth/c.slow
	for _, us := range []*float64{&g.Efficiency.StepMicros, &g.Efficiency.LayerMicros, &g.Efficiency.SeqMicros, &g.Efficiency.APIMicros} {
		*us *= c.slow
	}
	v := clock.NewVirtual(time.Unix(0, 0))
	target, err := runner.NewVirtual(o, v)
	if err != nil {
		return compare.Run{}, err
	}
	source, err := load.New(load.Plan{Stages: []load.Stage{{Mode: load.OpenLoop, From: c.rate, To: c.rate}}, MaxRequests: c.requests, Seed: c.seed})
	if err != nil {
		return compare.Run{}, err
	}
	lengths := func(mean, cv string) stat.Distribution {
		d, err := stat.ParseDistribution("lognormal:mean=" + mean + ",cv=" + cv)
		if err != nil {
			panic(err) // a constant
		}
		return d
	}
	work, err := workload.New(workload.Config{Classes: []workload.Class{{Weight: 1, Prefixes: 1, Input: lengths("512", "0.8"), Output: lengths("64", "0.8")}}}, c.seed)
	if err != nil {
		return compare.Run{}, err
	}
	rec := rowsOnly{measure.New(measure.Options{})}
	l := &runner.Loop{Clock: v, Load: source, Work: work, Target: target, Recorder: rec, Seed: c.seed,
		Limits: runner.Limits{Drain: time.Hour, MaxRequests: c.requests}}
	if _, err := l.Run(context.Background()); err != nil {
		return compare.Run{}, err
	}
	all := rec.All()
	return compare.Run{Name: fmt.Sprint(c.seed), Manifest: &record.Manifest{Seed: c.seed, Virtual: true}, Window: compare.All,
		Metrics: all.Metrics(), Requests: all.Requests(), View: func() (*measure.View, error) { return rec.All(), nil }}, nil
}

// inParallel calls f for 0 … n−1 on all processors.
func inParallel(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// pairsOf makes a comparison of same-seed pairs, the factors drawn for each run.
func pairsOf(pairs int, a, b func(pair int) trial) (*compare.Comparison, error) {
	sides := []compare.Side{{Name: "a"}, {Name: "b"}}
	for i := range pairs {
		for s, c := range []trial{a(i), b(i)} {
			r, err := c.run()
			if err != nil {
				return nil, err
			}
			sides[s].Runs = append(sides[s].Runs, r)
		}
	}
	return compare.Compare(sides, compare.Options{Anyway: true})
}

// Comparisons of an engine with itself, whose every run is a little faster or
// slower by chance (sd 2 %, as machines are), raise alarms no more often than stated: as
// same-seed pairs, and as runs with other requests each.
func TestNullComparisons(t *testing.T) {
	n := comparisons(t, 100)
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprintf("same requests %v", same), func(t *testing.T) {
			var mu sync.Mutex
			alarms, others, words := 0, 0, map[compare.Word]int{}
			inParallel(t, n, func(i int) error {
				r := stat.Random(uint64(i), "null", 0)
				made := uint64(i) * 100
				draw := func(pair int, side uint64) trial {
					c := trial{slow: math.Exp(0.02 * r.NormFloat64()), rate: 14, requests: 150, seed: made + uint64(pair)}
					if !same {
						c.seed += 50 * side
					}
					return c
				}
				c, err := pairsOf(4, func(p int) trial { return draw(p, 0) }, func(p int) trial { return draw(p, 1) })
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				primary, other := false, false
				for _, d := range c.Contrasts[0].Figures {
					alarm := d.Adjusted.Or(1) <= compare.DefaultAlpha
					primary, other = primary || alarm && d.Primary, other || alarm && !d.Primary
					words[d.Word]++
				}
				if primary {
					alarms++
				}
				if other {
					others++
				}
				return nil
			})
			most := float64(n)*compare.DefaultAlpha + 2*math.Sqrt(float64(n)*compare.DefaultAlpha*(1-compare.DefaultAlpha))
			t.Logf("%d comparisons: %d call a primary figure different, %d another one; at most %.1f may. Words: %v", n, alarms, others, most, words)
			if float64(alarms) > most || float64(others) > most {
				t.Errorf("alarms in %d and %d of %d comparisons without a difference, at most %.1f may be", alarms, others, n, most)
			}
		})
	}
}

// An engine 5 % slower in all that it does, at about 60 % of what the faster
// one carries, is found by 8 pairs of 1,000 requests: in the mean, the median and the 95th
// percentile; of the 99th it is only told how often.
func TestFivePercentSlower(t *testing.T) {
	n := comparisons(t, 8)
	var mu sync.Mutex
	found, worse, compared := map[string]int{}, map[string]int{}, 0
	inParallel(t, n, func(i int) error {
		r := stat.Random(uint64(i), "slower", 0)
		draw := func(slow float64) func(int) trial {
			return func(pair int) trial { // runs of the same engine differ by 0.5 %
				return trial{slow: slow * math.Exp(0.005*r.NormFloat64()), rate: sixty, requests: 1000, seed: 1_000_000 + uint64(i)*100 + uint64(pair)}
			}
		}
		c, err := pairsOf(8, draw(1), draw(1.05))
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		compared++
		for _, d := range c.Contrasts[0].Figures {
			if low, ok := d.Low.Get(); ok && low > 0 {
				found[d.Figure]++
			}
			if d.Word == compare.Worse {
				worse[d.Figure]++
			}
		}
		return nil
	})
	for _, metric := range []string{"ttft", "itl", "tpot", "e2e"} {
		for _, s := range []string{"mean", "p50", "p95", "p99"} {
			f := metric + "." + s
			t.Logf("%-10s found in %d of %d, called worse in %d", f, found[f], compared, worse[f])
			if s != "p99" && float64(found[f]) < 0.95*float64(compared) {
				t.Errorf("%s is found in %d of %d, in 95 %% it must", f, found[f], compared)
			}
		}
	}
}

// sixty is 60 % of the 24.2 requests/s that the engine carries with those
// lengths (closed loop of 512 users, 6,000 requests).
const sixty = 14.5
