package load

import (
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Open is an open loop of one stage: Poisson arrivals at Rate for Duration.
type Open struct {
	next Due
	rate float64
	end  int64
	seed uint64
}

// NewOpen returns Poisson arrivals of rate requests/s.
func NewOpen(rate float64, duration time.Duration, seed uint64) *Open {
	o := &Open{rate: rate, end: int64(duration), seed: seed, next: Due{User: NoUser}}
	o.next.At = o.gap(0)
	return o
}

func (o *Open) gap(i int64) int64 {
	u := stat.Random(o.seed, "arrival", uint64(i)).Float64()
	return int64(-math.Log(1-u) / o.rate * 1e9)
}

// Peek returns the next arrival.
func (o *Open) Peek() (Due, State) {
	if o.next.At >= o.end {
		return Due{}, Finished
	}
	return o.next, Ready
}

// Pop moves to the arrival after the present one.
func (o *Open) Pop() {
	o.next.Index++
	o.next.At += o.gap(o.next.Index)
}

// Ended does nothing: an open loop does not wait for answers.
func (o *Open) Ended(_, _ int64) {}
