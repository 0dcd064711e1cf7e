package face

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Lateness is how long after the engine's moment tokens were written: the clock
// before the write less the nominal end of the step. Tokens of several steps that
// leave in one write count with the oldest's. Percentiles are nearest rank over
// buckets 3 % wide, of which they are the upper end.
type Lateness struct {
	Seconds float64 `json:"seconds"` // of counting
	Tokens  int64   `json:"tokens"`  // streamed, Held ones left out
	Writes  int64   `json:"writes"`  // … by so many writes
	// Held are tokens that waited because their client did not read; they are in no percentile.
	Held int64   `json:"held"`
	Late *Spread `json:"late_ms"` // nil: no tokens
}

// Spread is a distribution in ms.
type Spread struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// fine is the number of buckets to an octave.
const fine = 32

// lateness counts in buckets: below 2·fine ns one each, then fine to an octave.
type lateness struct {
	since                     atomic.Int64 // unix ns
	writes, held, max, counts atomic.Int64
	buckets                   [fine * 60]atomic.Int64
}

// bucket returns the bucket of a value that is not negative.
func bucket(ns int64) int {
	if ns < 2*fine {
		return int(ns)
	}
	shift := bits.Len64(uint64(ns)) - 6
	return shift*fine + int(ns>>shift)
}

// upper is the largest value of a bucket.
func upper(i int) int64 {
	if i < 2*fine {
		return int64(i)
	}
	shift := i/fine - 1
	return int64(i-shift*fine+1)<<shift - 1
}

// add counts a write of n tokens of which the oldest is so many ns late.
func (l *lateness) add(n, ns int64) {
	ns = max(ns, 0)
	l.writes.Add(1)
	l.counts.Add(n)
	l.buckets[bucket(ns)].Add(n)
	for {
		most := l.max.Load()
		if ns <= most || l.max.CompareAndSwap(most, ns) {
			return
		}
	}
}

func (l *lateness) reset(now time.Time) {
	l.since.Store(now.UnixNano())
	for _, n := range []*atomic.Int64{&l.writes, &l.held, &l.max, &l.counts} {
		n.Store(0)
	}
	for i := range l.buckets {
		l.buckets[i].Store(0)
	}
}

func (l *lateness) read(now time.Time) Lateness {
	out := Lateness{Seconds: float64(now.UnixNano()-l.since.Load()) / 1e9, Writes: l.writes.Load(), Held: l.held.Load()}
	var counts [len(l.buckets)]int64
	for i := range counts {
		counts[i] = l.buckets[i].Load()
		out.Tokens += counts[i]
	}
	if out.Tokens == 0 {
		return out
	}
	most := float64(l.max.Load()) / 1e6
	at := func(q float64) float64 {
		rank, sum := int64(stat.Rank(int(out.Tokens), q)), int64(0)
		for i, n := range counts {
			if sum += n; sum >= rank {
				return min(float64(upper(i))/1e6, most)
			}
		}
		return most
	}
	out.Late = &Spread{P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: most}
	return out
}
