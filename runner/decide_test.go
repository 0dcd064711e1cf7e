package runner

import (
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
)

// TestADeciderAwaitsTheFirst: 200 requests decide a p50, but not before the
// slowest of the first 200 has ended, however many others have.
func TestADeciderAwaitsTheFirst(t *testing.T) {
	o, err := verify.Parse("ttft.p50<1s")
	if err != nil {
		t.Fatal(err)
	}
	sums := measure.New(measure.Options{})
	d := newDecider(&scenario.Scenario{SLO: o, Load: scenario.Load{StopWhenDecided: true}}, sums)
	end := func(id int64) bool {
		a := &record.Attempt{}
		a.RequestID, a.Attempt, a.Outcome = id, 1, record.OK
		a.Intended, a.FirstToken, a.Ended = record.Some(id*ms), record.Some(id*ms+ms), record.Some(id*ms+ms)
		sums.Add(a)
		return d.Settled(id)
	}
	for id := int64(1); id < 300; id++ {
		if end(id) {
			t.Fatalf("decided after request %d, without the first", id)
		}
	}
	if !end(0) {
		t.Error("not decided by the first 200")
	}
	if newDecider(&scenario.Scenario{SLO: o}, sums) != nil {
		t.Error("a decider that nobody asked for")
	}
}
