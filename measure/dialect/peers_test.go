package dialect

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect/timeline"
	"github.com/tokamak-bench/tokamak/verify"
)

var update = flag.Bool("update", false, "write docs/peers.md again")

// then returns rules that a tool had when an issue was filed, and has no more;
// each is its dialect of today with what the issue is about put back.
func then(name string) (Dialect, bool) {
	d := guidellm()
	switch name {
	case "guidellm-before-737":
		d.Rules.Sees = sees("text alone", Text)
	case "guidellm-216":
		d.Rules.Sees = sees("text alone", Text)
		d.Rules.Fails = failsOn("", false)
		d.Rules.TTFT.Of = func(_ *request, s *seen) (float64, float64, bool) {
			if s.first == absent {
				return float64(-s.start), 1, true
			}
			return float64(s.first - s.start), 1, true
		}
	case "guidellm-before-444":
		d.Rules.Fails.Of = func(*request, *seen) bool { return false }
		d.Rules.TTFT = ttft("", zero)
	case "inference-perf-before-566":
		d = inferencePerf()
		d.Rules.ITL.Of.gaps = func(r *request, sees Kind, buf []float64) []float64 {
			one := *r
			one.events = nil
			for _, e := range r.events {
				e.tokens++
				one.events = append(one.events, e)
			}
			return tokenStamps(&one, sees, buf)
		}
	case "inference-perf-187":
		d = inferencePerf()
		d.Rules.Fails.Of = func(r *request, _ *seen) bool { return r.ended > 10e9 }
	case "llmperf":
		d = aiperf()
		d.Rules.ITL.Of.one = func(_ *request, s *seen) (float64, float64, bool) {
			return float64(s.last-s.start) / float64(s.chunks), 1, s.chunks > 0
		}
	default:
		return Find(name)
	}
	d.Name = name
	return d, true
}

// TestPeers holds the twenty telling reports of wrong numbers against us: on
// each, what that tool's rule gives and what tokamak says. It writes
// docs/peers.md.
func TestPeers(t *testing.T) {
	files, err := filepath.Glob("testdata/peers/*.txt")
	if err != nil || len(files) != 20 {
		t.Fatalf("%d cases, expected 20: %v", len(files), err)
	}
	var page bytes.Buffer
	page.WriteString(peersHead)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { page.WriteString(peer(t, file)) })
	}
	const doc = "../../docs/peers.md"
	if *update {
		if err := os.WriteFile(doc, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(doc)
	if err != nil || !bytes.Equal(b, page.Bytes()) {
		t.Errorf("docs/peers.md is not what the cases say (%v): go test ./measure/dialect -run TestPeers -update", err)
	}
}

const peersHead = `# Twenty wrong numbers

Reports of wrong or misleading figures in other tools, each as a small run in
` + "`measure/dialect/testdata/peers`" + `: what that tool's rule gives of it, and what tokamak says of the same records. Values are worked out by hand in
those files. A name such as *guidellm-before-737* is the rule that the tool had then; today's are in [dialects.md](dialects.md). The table is
written by a test.

| # | report | what happened there | by that rule | tokamak says |
|---|---|---|---|---|
`

func peer(t *testing.T, file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run, err := timeline.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s:%v", file, err)
	}
	said := func(key string) string {
		_, rest, _ := strings.Cut(string(b), "# "+key+": ")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	var theirs, ours []string
	for _, e := range run.Expectations {
		got := peerFigure(t, run, e)
		x, okX := got.Get()
		y, okY := e.Value.Get()
		if okX != okY || x != y && math.Abs(x-y) > 1e-9*max(1, math.Abs(y)) {
			t.Errorf("%s:%d: %s %s is %v, expected %v", file, e.Line, e.Dialect, e.Metric, got, e.Value)
		}
		text := e.Metric + " " + measure.Figure(e.Value, unitOf(e.Metric))
		if n, ok := e.Value.Get(); ok && unitOf(e.Metric) == "" {
			text = e.Metric + " " + measure.Count(int64(n))
		}
		if e.Dialect == "ours" {
			ours = append(ours, text)
		} else {
			theirs = append(theirs, "*"+e.Dialect+"* "+text)
		}
	}
	if len(theirs) == 0 || len(ours) == 0 {
		t.Error("both figures are needed")
	}
	number, _, _ := strings.Cut(filepath.Base(file), "_")
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", strings.TrimPrefix(number, "0"), said("issue"), said("there"),
		strings.Join(theirs, "; "), strings.Join(ours, "; "))
}

func unitOf(metric string) string {
	for _, r := range rowsOf() {
		if r.metric == metric {
			return r.unit
		}
	}
	name, _, _ := strings.Cut(metric, ".")
	k, _ := measure.Find(name)
	return k.Unit
}

func peerFigure(t *testing.T, run *timeline.Run, e timeline.Expectation) measure.Value {
	t.Helper()
	if e.Dialect == "ours" {
		acc := measure.New(measure.Options{Start: run.Start, End: run.End, Limits: run.Limits})
		for i := range run.Attempts {
			acc.Add(&run.Attempts[i])
		}
		if e.Metric == "needed" {
			return needed(t, acc)
		}
		return Ours(acc.Result(), e.Metric)
	}
	d, ok := then(e.Dialect)
	if !ok {
		t.Fatalf("line %d: no dialect %q", e.Line, e.Dialect)
	}
	trace := New(Options{Start: run.Start, End: run.End, Limits: run.Limits})
	for i := range run.Attempts {
		trace.Add(&run.Attempts[i])
	}
	got := trace.figures(&d)
	x, ok := got.values[e.Metric]
	if !ok {
		return measure.Value{}
	}
	return measure.Some(x)
}

// needed is how many more requests a claim on the p99 of TTFT takes, whose
// verdict must be inconclusive.
func needed(t *testing.T, acc *measure.Accumulator) measure.Value {
	o, err := verify.Parse("ttft.p99<200ms")
	if err != nil {
		t.Fatal(err)
	}
	s := verify.Judge(o, acc)[0]
	if s.Verdict != verify.Inconclusive || s.Evidence.Needed == nil {
		t.Fatalf("the verdict is %s", s.Verdict)
	}
	return measure.Some(float64(*s.Evidence.Needed))
}
