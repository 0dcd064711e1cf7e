package verify

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// attempt is a request of 100 ms every 100 ms, whose first token takes ms.
func attempt(id, ms int64, outcome record.Outcome) *record.Attempt {
	at := id * 100e6
	a := &record.Attempt{}
	a.RequestID, a.Attempt, a.Outcome = id, 1, outcome
	a.Intended, a.WriteStart, a.Sent = record.Some(at), record.Some(at), record.Some(at)
	a.ConnReused, a.StampSource = true, record.SourceKernel
	a.Ended = record.Some(at + ms*1e6)
	if outcome == record.OK {
		a.FirstByte, a.FirstToken, a.FirstAnswer, a.LastToken = a.Ended, a.Ended, a.Ended, a.Ended
		a.Chunks = record.Chunks{At: []int64{at + ms*1e6}, Tokens: []int32{1}}
	}
	return a
}

func judged(t interface{ Fatal(...any) }, expr string, attempts []*record.Attempt) []SLO {
	o, err := Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	a := measure.New(measure.Options{Limits: Limits(o)})
	for _, x := range attempts {
		a.Add(x)
	}
	return Judge(o, a)
}

// TestAFailureNeverImproves: turning a success into a failure never earns a
// pass, nor takes a request off those over the limit. (It may turn a fail into
// an inconclusive: a failure beside others makes a cluster of them, which is
// worth less evidence.)
func TestAFailureNeverImproves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 600).Draw(t, "n")
		slow := rapid.IntRange(0, min(n, 12)).Draw(t, "slow")
		victim := rapid.IntRange(0, n-1).Draw(t, "victim")
		expr := rapid.SampledFrom([]string{"ttft.p99<150ms", "ttft.p50<150ms", "e2e.p90<=150ms", "ttft.mean<150ms", "error_rate<1%", "ttft.max<150ms"}).Draw(t, "expr")
		var rows []*record.Attempt
		for i := range n {
			ms := int64(100)
			if i%7 == 0 && i/7 < slow {
				ms = 200
			}
			rows = append(rows, attempt(int64(i), ms, record.OK))
		}
		before := judged(t, expr, rows)[0]
		rows[victim] = attempt(int64(victim), 1, record.Rejected)
		after := judged(t, expr, rows)[0]
		if after.Verdict == Pass && before.Verdict != Pass || after.Evidence.Over < before.Evidence.Over {
			t.Errorf("%s: %+v became %+v by a failure", expr, before, after)
		}
	})
}

func TestClustersNeedMore(t *testing.T) {
	var rows []*record.Attempt
	for i := range 1000 {
		ms := int64(100 + i%3)
		if i%100 < 5 {
			ms = 140 // the slowest come five in a row
		}
		rows = append(rows, attempt(int64(i), ms, record.OK))
	}
	s := judged(t, "ttft.p99<150ms", rows)[0]
	if s.Verdict != Inconclusive || *s.Evidence.NEffective >= 459 || s.Evidence.Needed == nil || *s.Evidence.Needed < 1000 {
		t.Errorf("%+v", s)
	}
}

func TestDefaultGateOfASmallRun(t *testing.T) {
	var rows []*record.Attempt
	for i := range 20 {
		rows = append(rows, attempt(int64(i), 100, record.OK))
	}
	s := judged(t, Default, rows)
	if s[0].Verdict != Pass || s[0].Evidence.Upper.Or(0) < 20 {
		t.Errorf("%+v", s[0])
	}
	rows[3] = attempt(3, 100, record.HTTPError)
	if s := judged(t, Default, rows); s[0].Verdict != Fail {
		t.Errorf("%+v", s[0])
	}
}

func TestEvidenceOnPaper(t *testing.T) {
	s := judged(t, "ttft.p99<150ms", []*record.Attempt{attempt(0, 100, record.OK)})[0]
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"expr":"ttft.p99\u003c150ms","metric":"ttft","stat":"p99","value":100,"threshold":150,"unit":"ms","verdict":"inconclusive",` +
		`"evidence":{"n":1,"n_effective":1,"over":0,"needed":458,"failures":0,"cut_over":0,"left_out":0,"absent":0,"theta":1,"deff":1,"spread":0,"upper":null,"risk":0.01,"look":null},` +
		`"reason":"0 of 1 requests are over; a pass takes 458 more, all within the limit"}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestNothingWasSent(t *testing.T) {
	for _, s := range judged(t, "ttft.p99<1s, error_rate<1%, ttft.mean<1s, request_rate>1/s, itl.p99<1s", nil) {
		if s.Verdict != Unmeasured || s.Reason == "" {
			t.Errorf("%+v", s)
		}
	}
}

func TestOverall(t *testing.T) {
	for _, c := range []struct {
		in   []Verdict
		want Verdict
		code exit.Code
	}{
		{nil, Pass, exit.OK},
		{[]Verdict{Pass, Pass}, Pass, exit.OK},
		{[]Verdict{Pass, Unmeasured}, Inconclusive, exit.Inconclusive},
		{[]Verdict{Inconclusive, Fail, Pass}, Fail, exit.Failed},
		{[]Verdict{Fail, Invalid}, Invalid, exit.Invalid},
	} {
		var slos []SLO
		for _, v := range c.in {
			slos = append(slos, SLO{Verdict: v, Expr: string(v)})
		}
		got := Overall(slos)
		if got != c.want || got.Code(false) != c.code {
			t.Errorf("%v: %v, exit %v", c.in, got, got.Code(false))
		}
		if Reason(slos) == "" {
			t.Errorf("%v: no reason", c.in)
		}
	}
	for want, e := range map[int]Ending{
		130: {Interrupted: true, Unusable: true, Verdict: Invalid},
		3:   {Unusable: true, Verdict: Invalid},
		4:   {Verdict: Invalid},
		5:   {Verdict: Unmeasured},
		0:   {Verdict: Inconclusive, InconclusiveOK: true},
	} {
		if got := e.ExitCode(); got != want {
			t.Errorf("%+v: exit %d, want %d", e, got, want)
		}
	}
	if Inconclusive.Code(true) != exit.OK || Fail.Code(true) != exit.Failed {
		t.Error("what is inconclusive may be accepted, what fails may not")
	}
}

// TestAPassHoldsWithLatenessCountedIn: each request leaves 20 ms late, which
// voids a TTFT of 50 ms, but not that it is within 800 ms. What fails only by
// the client's lateness is void, and so is everything after a long standstill.
func TestAPassHoldsWithLatenessCountedIn(t *testing.T) {
	late := func(lag int64) []*record.Attempt {
		var rows []*record.Attempt
		for i := range int64(1000) {
			a := attempt(i, 50, record.OK)
			a.Intended = record.Some(i*100e6 - 20e6)
			if i >= 500 && i < 505 {
				a.Intended = record.Some(i*100e6 - lag)
			}
			rows = append(rows, a)
		}
		return rows
	}
	s := judged(t, "ttft.p99<800ms, ttft.p50<60ms", late(20e6))
	if s[0].Verdict != Pass || s[1].Verdict != Invalid {
		t.Errorf("verdicts %s (%s) and %s, want pass and invalid", s[0].Verdict, s[0].Reason, s[1].Verdict)
	}
	if s := judged(t, "ttft.p99<9s", late(2000e6)); s[0].Verdict != Invalid {
		t.Errorf("after a standstill of 2 s: %s (%s), want invalid", s[0].Verdict, s[0].Reason)
	}
}

// TestWhatWasCutCannotTell: 90 of 100 requests were cut at the end of the drain.
func TestWhatWasCutCannotTell(t *testing.T) {
	var rows []*record.Attempt
	for i := range int64(100) {
		a := attempt(i, 100, record.OK)
		if i >= 10 {
			a.Outcome = record.Cut
		}
		rows = append(rows, a)
	}
	if s := judged(t, "error_rate<1%", rows)[0]; s.Verdict != Inconclusive {
		t.Errorf("%s: %s", s.Verdict, s.Reason)
	}
	if s := judged(t, "error_rate<95%", rows)[0]; s.Verdict != Pass {
		t.Errorf("with a limit that holds even if all of them had failed: %s", s.Verdict)
	}
}

// TestTheClientsOwnFailuresVoidTheErrorRate: no file descriptor was left.
func TestTheClientsOwnFailuresVoidTheErrorRate(t *testing.T) {
	var rows []*record.Attempt
	for i := range int64(100) {
		a := attempt(i, 100, record.OK)
		if i%2 == 0 {
			a = attempt(i, 0, record.TransportError)
			a.ErrorClass = record.ClientFailureClass
		}
		rows = append(rows, a)
	}
	if s := judged(t, "error_rate<1%", rows)[0]; s.Verdict != Invalid {
		t.Errorf("%s: %s", s.Verdict, s.Reason)
	}
}

// TestFailuresFailWhateverTheClientDid: two thirds fail at the target; that the
// client also sent late changes nothing.
func TestFailuresFailWhateverTheClientDid(t *testing.T) {
	var rows []*record.Attempt
	for i := range int64(101) {
		a := attempt(i, 50, record.OK)
		if i%3 != 0 {
			a = attempt(i, 1, record.HTTPError)
		}
		a.Intended = record.Some(i*100e6 - 20e6)
		rows = append(rows, a)
	}
	if s := judged(t, "ttft.p50<1s", rows)[0]; s.Verdict != Fail {
		t.Errorf("%s: %s", s.Verdict, s.Reason)
	}
}

// TestAnswersWithoutATokenAreNoEvidence: a server that answers nothing at once
// has no good TTFT.
func TestAnswersWithoutATokenAreNoEvidence(t *testing.T) {
	var rows []*record.Attempt
	for i := range int64(1000) {
		a := attempt(i, 50, record.OK)
		if i%10 == 0 {
			a.FirstToken, a.FirstAnswer, a.LastToken, a.Chunks = record.Int{}, record.Int{}, record.Int{}, record.Chunks{}
		}
		rows = append(rows, a)
	}
	if s := judged(t, "ttft.p99<800ms", rows)[0]; s.Verdict != Inconclusive || s.Evidence.Absent != 100 {
		t.Errorf("%s (%d absent): %s", s.Verdict, s.Evidence.Absent, s.Reason)
	}
}

// TestOneEpisodeIsOneObservation: 40 of 1,000 over the limit fail a p99 where
// they come throughout, and say too little where they come together; unless they are
// failures, which are what they are.
func TestOneEpisodeIsOneObservation(t *testing.T) {
	for _, c := range []struct {
		name    string
		over    func(i int) bool
		outcome record.Outcome
		want    Verdict
		spread  int
	}{
		{"throughout", func(i int) bool { return i%25 == 7 }, record.OK, Fail, 20},
		{"in one episode", func(i int) bool { return 400 <= i && i < 440 }, record.OK, Inconclusive, 1},
		{"in four", func(i int) bool { return i%250 >= 60 && i%250 < 70 }, record.OK, Inconclusive, 4},
		{"in five", func(i int) bool { return i%200 >= 60 && i%200 < 68 }, record.OK, Fail, 5},
		{"an outage", func(i int) bool { return 400 <= i && i < 440 }, record.HTTPError, Fail, 1},
	} {
		var rows []*record.Attempt
		for i := range 1000 {
			if c.over(i) {
				rows = append(rows, attempt(int64(i), 200, c.outcome))
				continue
			}
			rows = append(rows, attempt(int64(i), 100+int64(i%7), record.OK))
		}
		s := judged(t, "ttft.p99<150ms", rows)[0]
		if s.Verdict != c.want || *s.Evidence.Spread != c.spread || s.Evidence.Over != 40 {
			t.Errorf("%s: %s, spread %d: %s", c.name, s.Verdict, *s.Evidence.Spread, s.Reason)
		}
	}
}
