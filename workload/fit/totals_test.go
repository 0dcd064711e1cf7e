package fit

import "testing"

// By hand, as in docs/metrics.md: of client a 2 of 4 requests tell 20 tokens, of b
// all 4 tell 400, of c none of 2. Compared are 40 + 400 of 8 requests with what the
// model has of a and b, 550, whatever it makes up of c: +25 %.
func TestTotalsAreExtrapolatedByClient(t *testing.T) {
	l := newLog(Options{})
	l.clients = make([]client, 3)
	l.client = []int32{0, 0, 0, 0, 1, 1, 1, 1, 2, 2}
	l.whole = make([]int32, 10)
	l.output = []int32{8, 0, 12, 0, 100, 100, 100, 100, 0, 0}
	sum, told := l.sums()
	var k Total
	k.logged(2, sum, told)
	k.sampled(2, [][]sums{{{0, 0, 50}, {0, 0, 500}, {0, 0, 7000}}}, told)
	if k.Known != 6 || *k.Log != 420 || *k.LogCompared != 440 || k.ComparedRequests != 8 {
		t.Errorf("%+v: %v, %v compared", k, *k.Log, *k.LogCompared)
	}
	if k.Model != 7550 || k.ModelCompared != 550 || *k.Off != .25 || k.Low != 550 {
		t.Errorf("%+v: off by %v", k, *k.Off)
	}
	if got, want := k.extrapolated(10), "6 requests of the log tell theirs, 420 in all; what is compared is of the 8 requests of clients that tell some, the others count as their client's mean"; got != want {
		t.Errorf("%q", got)
	}
}

// By the second both are ÷ the span; of made-up arrivals there is no such rate.
func TestTotalsPerSecond(t *testing.T) {
	tokens := 1000.0
	k := Total{Model: 1562.5, Log: &tokens}
	k.perSecond(&log{span: 50})
	if *k.LogPerSecond != 20 || *k.ModelPerSecond != 31.25 {
		t.Errorf("%v and %v a second", *k.LogPerSecond, *k.ModelPerSecond)
	}
	k = Total{Model: 1562.5}
	k.perSecond(&log{madeUp: true})
	if k.sampled(1, [][]sums{{{1, 5, 5}}}, make([]sums, 1)); k.Off != nil || k.ModelPerSecond != nil || k.Model != 5 || k.High != 5 {
		t.Errorf("%+v", k)
	}
}
