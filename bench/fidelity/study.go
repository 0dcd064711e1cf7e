package fidelity

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Options say what to study.
type Options struct {
	Trace string         // a file of package trace's, of lone requests
	Model *traffic.Model // fitted to it
	// Kept is the model that keeps the log's own bursts in windows of Bursts.
	Kept   *traffic.Model
	Bursts time.Duration
	Target string // sim://…
	// Limit is the SLO on TTFT p99 in ms.
	Limit float64
	// Shares are the loads to compare at, as shares of the trace's own highest
	// rate inside the SLO.
	Shares []float64
	// Samples is how many there are of all but the trace.
	Samples int
	// Progress hears a line for each part; nil: nobody.
	Progress io.Writer
}

// Traffic is one way to make requests, and what it showed.
type Traffic struct {
	Name string
	// Highest is the highest mean rate inside the SLO in requests/s: the
	// median over samples, and the range of their middle half.
	Highest Spread
	// At holds the figures at each load of Options.Shares.
	At []Figures
}

// Figures are what an engine shows at one load.
type Figures struct{ TTFT, Preemptions Spread } // ms; a number

// Spread is the median of samples and its quartiles.
type Spread struct{ Median, Low, High float64 }

// Result is a study's.
type Result struct {
	Options
	Requests int
	Rate     float64 // mean of the trace, requests/s
	Speeds   []float64
	Traffics []Traffic // the trace first
}

// kind is a way to make requests from a seed.
type kind struct {
	name string
	seed int // how many samples
	draw func(seed uint64) ([]request, error)
}

// Study drives the engine with each kind of traffic.
func Study(o Options) (*Result, error) {
	real, err := recorded(o.Trace)
	if err != nil {
		return nil, err
	}
	r := &Result{Options: o, Requests: len(real), Rate: meanRate(real)}
	kinds := []kind{
		{"the trace", 1, func(uint64) ([]request, error) { return real, nil }},
		{"the trace, lengths shuffled in 10s", o.Samples, func(seed uint64) ([]request, error) { return shuffled(real, seed), nil }},
		{"the fitted model", o.Samples, func(seed uint64) ([]request, error) { return fitted(o.Model, seed) }},
		{fmt.Sprintf("the fitted model, bursts of %v kept", o.Bursts), o.Samples, func(seed uint64) ([]request, error) { return fitted(o.Kept, seed) }},
		{"Poisson, one length model", o.Samples, func(seed uint64) ([]request, error) { return naive(real, seed), nil }},
		{"a fixed prompt", o.Samples, func(seed uint64) ([]request, error) { return fixed(real, seed), nil }},
	}
	for i, k := range kinds {
		t, err := r.traffic(k, i == 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		r.Traffics = append(r.Traffics, t)
	}
	return r, nil
}

func meanRate(list []request) float64 {
	return float64(len(list)-1) / (float64(list[len(list)-1].at) / 1e9)
}

func (r *Result) traffic(k kind, first bool) (Traffic, error) {
	t := Traffic{Name: k.name}
	var highest []float64
	at := make([][2][]float64, len(r.Shares))
	for seed := range k.seed {
		list, err := k.draw(uint64(seed) + 1)
		if err != nil {
			return t, err
		}
		speed, err := r.highest(list)
		if err != nil {
			return t, err
		}
		highest = append(highest, speed*meanRate(list))
		if first {
			for _, s := range r.Shares {
				r.Speeds = append(r.Speeds, s*speed)
			}
		}
		for i, s := range r.Speeds {
			seen, err := drive(r.Target, list, s)
			if err != nil {
				return t, err
			}
			at[i][0], at[i][1] = append(at[i][0], seen.ttft), append(at[i][1], float64(seen.preemptions))
		}
		if r.Progress != nil {
			fmt.Fprintf(r.Progress, "%s, sample %d: %.2f requests/s inside the SLO\n", k.name, seed+1, speed*meanRate(list))
		}
	}
	t.Highest = spread(highest)
	for _, a := range at {
		t.At = append(t.At, Figures{spread(a[0]), spread(a[1])})
	}
	return t, nil
}

func spread(values []float64) Spread {
	slices.Sort(values)
	return Spread{stat.Quantile(values, 0.5), stat.Quantile(values, 0.25), stat.Quantile(values, 0.75)}
}

// highest looks for the highest speed at which TTFT p99 is inside the SLO, by
// halving to half a percent.
func (r *Result) highest(list []request) (float64, error) {
	inside := func(speed float64) (bool, error) {
		s, err := drive(r.Target, list, speed)
		return s.ttft < r.Limit, err
	}
	low, high := 1.0/64, 64.0
	for math.Log(high/low) > 0.005 {
		middle := math.Sqrt(low * high)
		ok, err := inside(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
