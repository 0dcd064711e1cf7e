package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// planted is a service whose latencies have a known distribution.
type planted struct {
	name string
	load float64 // of an M/M/1 queue; 0: independent exponential latencies
}

// p99 is the true 99th percentile of the time in the system, in units of the
// mean time between arrivals: exponential, of rate 1/load − 1 in the queue.
func (s planted) p99() float64 { return math.Log(100) / s.rate() }

func (s planted) rate() float64 {
	if s.load == 0 {
		return 1
	}
	return 1/s.load - 1
}

// latencies draws n of them from the stationary state on: an arrival finds
// an empty queue with probability 1 − load, else it waits as long as it stays.
func (s planted) latencies(n int, random *rand.Rand) []float64 {
	out := make([]float64, n)
	wait := 0.0
	if random.Float64() < s.load {
		wait = random.ExpFloat64() / s.rate()
	}
	for i := range out {
		if s.load == 0 {
			out[i] = random.ExpFloat64()
			continue
		}
		out[i] = wait + random.ExpFloat64()*s.load
		wait = max(0, out[i]-random.ExpFloat64())
	}
	return out
}

var services = []planted{{"independent", 0}, {"queue, load 0.3", .3}, {"queue, load 0.6", .6}, {"queue, load 0.8", .8}}

// judgedAs is how often each rule gave each verdict.
type judgedAs struct {
	ours       map[Verdict]int
	claim      map[stat.Claim]int // the same without the design effect
	naive      int                // observed p99 below the limit
	sequential map[Verdict]int    // at the looks of a run that ends when it is decided
}

// judgeAll judges runs of n requests each, through rows, measuring and
// verdict as a real run goes. A true p99 is ratio times the limit.
func judgeAll(t *testing.T, s planted, ratio float64, n, runs int) judgedAs {
	t.Helper()
	j := judgedAs{ours: map[Verdict]int{}, claim: map[stat.Claim]int{}, sequential: map[Verdict]int{}}
	const scale = 100e6 // one unit of the queue's time, in ns
	limit := s.p99() / ratio * scale / 1e6
	o, err := Parse(fmt.Sprintf("e2e.p99<%.6fms", limit))
	if err != nil {
		t.Fatal(err)
	}
	for run := range runs {
		a := measure.New(measure.Options{})
		random := stat.Random(uint64(run), stat.Stream("planted/"+s.name), 0)
		at := int64(0)
		for i, x := range s.latencies(n, random) {
			a.Add(answer(int64(i), at, int64(x*scale)))
			at += int64(scale)
		}
		v := Judge(o, a)[0]
		j.ours[v.Verdict]++
		c, _ := stat.EarlyStopping(v.Evidence.N, v.Evidence.Over, .99, stat.Alpha)
		j.claim[c]++
		if v.Value.Or(0) < limit {
			j.naive++
		}
		j.sequential[JudgeLooks(o, a)[0].Verdict]++
	}
	return j
}

// answer is a request whose one token came after some ns.
func answer(id, at, ns int64) *record.Attempt {
	a := &record.Attempt{}
	a.RequestID, a.Attempt, a.Outcome = id, 1, record.OK
	a.Intended, a.WriteStart, a.Sent = record.Some(at), record.Some(at), record.Some(at)
	a.ConnReused, a.StampSource = true, record.SourceKernel
	a.Ended = record.Some(at + ns)
	a.FirstByte, a.FirstToken, a.FirstAnswer, a.LastToken = a.Ended, a.Ended, a.Ended, a.Ended
	a.Chunks = record.Chunks{At: []int64{at + ns}, Tokens: []int32{1}}
	return a
}

// TestPlantedPercentile plants a true p99 a hundredth below and above the
// limit. A pass where the truth is above it is wrong, and so is a fail where
// it is below. The table that it logs is that of docs/evidence.md.
func TestPlantedPercentile(t *testing.T) {
	const n, runs = 2000, 200
	const most = .035 * runs // wrong passes, and wrong fails
	var table strings.Builder
	naive := 0
	for _, s := range services {
		for _, ratio := range []float64{.99, 1.01} {
			j := judgeAll(t, s, ratio, n, runs)
			share := func(k int) string { return fmt.Sprintf("%.1f", 100*float64(k)/runs) }
			fmt.Fprintf(&table, "| %s | %.2f | %s | %s | %s | %s | %s | %s | %s | %s |\n", s.name, ratio, share(j.naive), share(j.claim[stat.Pass]),
				share(j.ours[Pass]), share(j.ours[Inconclusive]), share(j.ours[Fail]), share(j.sequential[Pass]), share(j.sequential[Inconclusive]), share(j.sequential[Fail]))
			if ratio < 1 {
				if float64(j.ours[Fail]) > most || float64(j.sequential[Fail]) > most {
					t.Errorf("%s, true p99 below the limit: %d and %d of %d failed", s.name, j.ours[Fail], j.sequential[Fail], runs)
				}
				continue
			}
			naive = max(naive, j.naive)
			if float64(j.ours[Pass]) > most || float64(j.sequential[Pass]) > most {
				t.Errorf("%s, true p99 above the limit: %d and %d of %d passed", s.name, j.ours[Pass], j.sequential[Pass], runs)
			}
		}
	}
	if naive < runs/2 {
		t.Errorf("the naive rule passes at most %d of %d: the queues are not what they are meant to be", naive, runs)
	}
	t.Log("\n" + table.String())
}
