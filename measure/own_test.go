package measure

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
)

// TestOwn by hand: intended at 10 ms, first token at 30, last of five at 70,
// ended at 90.
func TestOwn(t *testing.T) {
	made := func(o record.Outcome, tokens bool) *record.Attempt {
		a := &record.Attempt{}
		a.Outcome = o
		a.Intended, a.Moments.Ended = record.Some(10e6), record.Some(90e6)
		if tokens {
			a.FirstToken, a.LastToken, a.OutputUsage = record.Some(30e6), record.Some(70e6), record.Some(5)
		}
		return a
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		outcome record.Outcome
		tokens  bool
		want    float64
	}{
		{"ttft", record.OK, true, 20}, {"e2e", record.OK, true, 60}, {"tpot", record.OK, true, 10}, {"itl", record.OK, true, nan},
		{"ttft", record.Abandoned, true, 20}, {"ttft", record.Abandoned, false, 80}, {"e2e", record.Abandoned, true, 80}, {"tpot", record.Abandoned, true, nan},
		{"ttft", record.Rejected, false, inf}, {"e2e", record.Timeout, true, inf}, {"output_tokens", record.Timeout, true, nan},
		{"e2e", record.Cut, true, nan},
	} {
		if got := Own(c.name, made(c.outcome, c.tokens)); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s of one that ended %s is %v, want %v", c.name, c.outcome, got, c.want)
		}
	}
}

// TestWhoWasGivenUpFailed: an abandoned request is over every limit, and in
// the error rate.
func TestWhoWasGivenUpFailed(t *testing.T) {
	a := New(Options{Limits: []Limit{{Metric: "ttft", Value: 1000}}})
	for i := range int64(4) {
		row := &record.Attempt{}
		row.RequestID, row.Attempt, row.Outcome = i, 1, record.OK
		row.Intended, row.WriteStart, row.Sent, row.Moments.Ended = record.Some(0), record.Some(0), record.Some(0), record.Some(90e6)
		row.FirstToken, row.LastToken = record.Some(30e6), record.Some(70e6)
		if i == 3 {
			row.Outcome = record.Abandoned
		}
		a.Add(row)
	}
	v := a.All()
	if r := v.Requests(); r.Failed != 1 || r.OK != 3 || r.ByOutcome["abandoned"] != 1 {
		t.Errorf("%+v", r)
	}
	if over, of := v.Errors(); over != 1 || of != 4 {
		t.Errorf("%d of %d failed, want 1 of 4", over, of)
	}
	m := v.Metrics()
	if adj := m["ttft_adj"]; !math.IsInf(adj.Max.Or(0), 1) || adj.Count != 4 {
		t.Errorf("ttft_adj %+v", adj)
	}
}
