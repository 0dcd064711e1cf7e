package acceptance

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/verify"
)

// TestVerdictTakesEvidence: a p99 needs at least 459 requests with none over.
func TestVerdictTakesEvidence(t *testing.T) {
	args := []string{"--url", "sim://llama3-8b@a100-80g", "--virtual", "--rate", "8", "--slo", "ttft.p99<800ms"}
	few := run(t, append(args, "--duration", "20s")...)
	few.wantExit(t, 5)
	slo := few.summary.SLO[0]
	if slo.Verdict != verify.Inconclusive || slo.Evidence.Over != 0 || slo.Evidence.Needed == nil {
		t.Fatalf("verdict %s, evidence %+v", slo.Verdict, slo.Evidence)
	}
	if n := slo.Evidence.N; n+*slo.Evidence.Needed < 459 {
		t.Errorf("%d requests and %d more are said to be enough: a p99 needs 459", n, *slo.Evidence.Needed)
	}
	if !strings.Contains(few.stdout, "more") {
		t.Errorf("the summary does not say how many more it takes:\n%s", few.stdout)
	}
	many := run(t, append(args, "--duration", "10m")...)
	many.wantExit(t, 0)
	if v := many.summary.SLO[0]; v.Verdict != verify.Pass || v.Evidence.N < 4000 {
		t.Errorf("verdict %s of %d requests", v.Verdict, v.Evidence.N)
	}
	ok := run(t, append(args, "--duration", "20s", "--inconclusive-ok")...)
	ok.wantExit(t, 0)
}

// TestServedAndVirtualAreOneRun: the same scenario of ten requests asks for the
// same lengths and gets the same counts in both.
func TestServedAndVirtualAreOneRun(t *testing.T) {
	args := []string{"--url", "sim://llama3-8b@a100-80g", "--rate", "20", "--requests", "10",
		"--input-tokens", "uniform:50..300", "--output-tokens", "uniform:5..20"}
	served, virtual := run(t, args...), run(t, append(args, "--virtual")...)
	served.wantExit(t, 0)
	virtual.wantExit(t, 0)
	a, b := byNumber(attempts(t, served.dir)), byNumber(attempts(t, virtual.dir))
	if len(a) != 10 || len(b) != 10 {
		t.Fatalf("%d served and %d virtual requests, want 10", len(a), len(b))
	}
	for i := range int64(10) {
		s, v := a[i], b[i]
		if s.PromptAsked != v.PromptAsked || s.OutputAsked != v.OutputAsked || s.PromptUsage != v.PromptUsage || s.OutputUsage != v.OutputUsage {
			t.Errorf("request %d: served %v/%v in, %v/%v out; virtual %v/%v in, %v/%v out", i,
				s.PromptAsked, s.PromptUsage, s.OutputAsked, s.OutputUsage, v.PromptAsked, v.PromptUsage, v.OutputAsked, v.OutputUsage)
		}
		if s.PromptUsage != s.PromptAsked || s.PromptCounted != s.PromptAsked {
			t.Errorf("request %d: %v prompt tokens asked, %v counted, %v used", i, s.PromptAsked, s.PromptCounted, s.PromptUsage)
		}
		if d := s.Intended.Or(0) - a[0].Intended.Or(0) - (v.Intended.Or(0) - b[0].Intended.Or(0)); d != 0 {
			t.Errorf("request %d is due %v later in one than in the other", i, time.Duration(d))
		}
	}
}

func byNumber(rows []*record.Attempt) map[int64]*record.Attempt {
	m := map[int64]*record.Attempt{}
	for _, a := range rows {
		m[a.RequestID] = a
	}
	return m
}

// TestFailuresCannotBeMisread: 250 of 256 requests fail.
func TestFailuresCannotBeMisread(t *testing.T) {
	o := run(t, "--url", "sim://llama3-8b@a100-80g?fail=250/256", "--virtual", "--rate", "20", "--requests", "256",
		"--slo", "ttft.p99<800ms")
	o.wantExit(t, 1)
	s := o.summary
	if s.Requests.Due != 256 || s.Requests.OK != 6 || s.Requests.Failed != 250 {
		t.Fatalf("requests %+v", s.Requests)
	}
	if got := o.metric(t, "ttft_adj", "p50"); !math.IsInf(got, 1) {
		t.Errorf("ttft_adj.p50 is %v: with 250 of 256 failures it is infinite", got)
	}
	if got := o.metric(t, "error_rate", "value"); math.Abs(got-100*250.0/256) > 1e-9 {
		t.Errorf("error_rate %v%%, want %v", got, 100*250.0/256)
	}
	if s.SLO[0].Verdict != verify.Fail || s.SLO[0].Evidence.Over < 250 {
		t.Errorf("slo %+v", s.SLO[0])
	}
	latency := o.stdout[strings.Index(o.stdout, "latency"):]
	for _, want := range []string{"97.7%", "FAIL"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("the summary lacks %q", want)
		}
	}
	for _, want := range []string{"ttft_adj", "inf"} {
		if !strings.Contains(latency, want) {
			t.Errorf("the latency table lacks %q", want)
		}
	}
}

// TestStalledServer: the engine stands still from 10 s to 12 s while a request
// comes every 50 ms. Of 1,000 requests, 40 are due in the freeze, and all but
// the first of them, which the engine had just begun, are answered together
// soon after it: rank 990 is the 11th largest, that of the request due at
// 10.5 s.
func TestStalledServer(t *testing.T) {
	args := []string{"--url", "sim://llama3-8b@a100-80g?freeze=10s:2s", "--virtual", "--rate", "20", "--arrival", "constant",
		"--duration", "50s", "--input-tokens", "16", "--output-tokens", "1"}
	o := run(t, args...)
	rows := byNumber(attempts(t, o.dir))
	answered := rows[201].LastToken.Or(0)
	if answered < 12e9 || answered > 12.1e9 {
		t.Fatalf("the request due at 10.05 s was answered at %v, want soon after 12 s", time.Duration(answered))
	}
	want := float64(answered-10_500_000_000) / 1e6
	if got := o.metric(t, "e2e", "p99"); got != want {
		t.Errorf("e2e p99 %v ms, by hand %v ms", got, want)
	}
	// Held back at one in flight, requests leave late. Counted from the send
	// the stall is one request's; from the intended time it is everybody's.
	capped := run(t, append(args, "--max-in-flight", "1")...)
	if got := capped.metric(t, "e2e", "p99"); got < 1400 {
		t.Errorf("with a cap: e2e p99 %v ms from the intended time, at least 1,400 waited", got)
	}
	if got := capped.metric(t, "e2e_send", "p99"); got > 100 {
		t.Errorf("with a cap: e2e p99 %v ms from the send, where only one request met the stall", got)
	}
}
