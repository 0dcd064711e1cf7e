package measure

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// queueView is a run whose ttft is the time in an M/M/1 queue in its stationary
// state, exponential of rate 1/load − 1; with load 0 values are independent.
// One unit of the queue's time is a millisecond.
func queueView(n int, load float64, random *rand.Rand) *View {
	a := New(Options{})
	a.outcomes, a.fates = []record.Outcome{record.OK}, []fate{good}
	v := &View{a: a, from: 0, to: int64(n) * 1e6}
	wait := 0.0
	if random.Float64() < load {
		wait = random.ExpFloat64() / (1/load - 1)
	}
	rows := make([]row, n)
	for i := range rows {
		x := random.ExpFloat64()
		if load > 0 {
			x = wait + random.ExpFloat64()*load
			wait = max(0, x-random.ExpFloat64())
		}
		rows[i] = row{id: int64(i), intended: int64(i) * 1e6, firstToken: int64(i)*1e6 + int64(x*1e6)}
		v.rows = append(v.rows, &rows[i])
	}
	return v
}

// full asks for as many runs as the tables of docs/evidence.md are made of.
var full = flag.Bool("full", false, "as many runs as docs/evidence.md tells of")

// TestCoverage: of many runs, those that print a 95 % interval which misses the
// truth are few, and where intervals cannot cover, none is printed. The table
// that it logs is that of docs/evidence.md.
func TestCoverage(t *testing.T) {
	runs, sizes, most := 60, []int{500, 2000}, .15
	if *full {
		runs, sizes, most = 200, append(sizes, 10_000), .1
	}
	var table strings.Builder
	for _, load := range []float64{0, .3, .6, .8, .9} {
		rate := 1.0
		if load > 0 {
			rate = 1/load - 1
		}
		truth := map[string]float64{"mean": 1 / rate, "p50": math.Log(2) / rate, "p95": math.Log(20) / rate, "p99": math.Log(100) / rate}
		for _, n := range sizes {
			given, missed := map[string]int{}, map[string]int{}
			for run := range runs {
				v := queueView(n, load, stat.Random(uint64(run), "coverage", uint64(n)))
				for name, i := range v.blocked("ttft").intervals() {
					low, ok := i.Low.Get()
					if !ok {
						if i.Reason == "" {
							t.Fatalf("no interval and no reason: %+v", i)
						}
						continue
					}
					given[name]++
					if high := i.High.Or(math.NaN()); !(low <= truth[name] && truth[name] <= high) {
						missed[name]++
					}
				}
			}
			percent := func(k int) float64 { return 100 * float64(k) / float64(runs) }
			fmt.Fprintf(&table, "| %.1f | %d |", load, n)
			for _, name := range []string{"mean", "p50", "p95", "p99"} {
				fmt.Fprintf(&table, " %.0f | %.1f |", percent(given[name]), percent(missed[name]))
				if percent(missed[name]) > 100*most {
					t.Errorf("load %v, %d requests, %s: %d of %d runs print an interval without the truth", load, n, name, missed[name], runs)
				}
			}
			table.WriteByte('\n')
			if load == 0 && n >= 2000 && (given["p99"] < runs*8/10 || given["p50"] < runs*9/10) {
				t.Errorf("independent values have too few intervals: %v", given)
			}
		}
	}
	t.Log("\n" + table.String())
}

// TestBlocksCarryAll: what the blocks of time carried is what the run did, each
// moment in one block.
func TestBlocksCarryAll(t *testing.T) {
	a := New(Options{})
	fill(a, 2000, 16)
	v := a.All()
	completed, output := 0, 0.0
	for _, b := range v.carriedByBlock() {
		completed += b.completed
		output += b.output
	}
	if whole := v.tally(); completed != whole.completed || math.Abs(output-whole.output) > 1e-6 {
		t.Errorf("%d completed and %v tokens in blocks, %d and %v in all", completed, output, whole.completed, whole.output)
	}
}
