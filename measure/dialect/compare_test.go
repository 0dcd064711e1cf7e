package dialect_test

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/measure/dialect/timeline"
)

// TestDifferencesAreExplained: five tokens an event; vLLM's ITL of 50 ms
// beside ours of 10 names the rule, and what the figure is without it.
func TestDifferencesAreExplained(t *testing.T) {
	run, err := timeline.Parse(strings.NewReader("request counted=15 send=20ms\n 100ms text 5\n 150ms text 5\n 200ms text 5\n 201ms usage 15\n"))
	if err != nil {
		t.Fatal(err)
	}
	trace, ours := load(run)
	c := trace.Compare(ours)
	cell := func(metric, name string) dialect.Cell {
		for _, r := range c.Rows {
			for _, x := range r.Cells {
				if r.Metric == metric && x.Dialect == name {
					return x
				}
			}
		}
		t.Fatalf("no %s of %s", metric, name)
		return dialect.Cell{}
	}
	itl := cell("itl.p50", "vllm")
	if itl.Value.Or(0) != 50 || itl.Difference.Or(0) != 400 || len(itl.Causes) != 1 ||
		!strings.Contains(itl.Causes[0].Rule, "gap between events") || itl.Causes[0].Without.Or(0) != 10 {
		t.Errorf("%+v", itl)
	}
	// TTFT from the send is 80, from the intended time 100.
	ttft := cell("ttft.p50", "sglang")
	if ttft.Value.Or(0) != 80 || len(ttft.Causes) != 1 || ttft.Causes[0].Without.Or(0) != 100 {
		t.Errorf("%+v", ttft)
	}
	if icl := cell("icl.p50", "guidellm"); icl.Value.Valid() || icl.Reason == "" {
		t.Errorf("a figure that GuideLLM does not print has no reason: %+v", icl)
	}
	if e2e := cell("e2e.p50", "loadgen"); len(e2e.Causes) != 0 || e2e.Difference.Or(1) != 0 {
		t.Errorf("%+v", e2e)
	}
}

// TestEveryGapHasAReason: no cell is empty without a word why, and nothing
// that a tool prints is missing from the comparison's words.
func TestEveryGapHasAReason(t *testing.T) {
	run, err := timeline.Parse(strings.NewReader("request\n 100ms text\n 150ms text\n"))
	if err != nil {
		t.Fatal(err)
	}
	trace, ours := load(run)
	for _, r := range trace.Compare(ours).Rows {
		for _, c := range r.Cells {
			if !c.Value.Valid() && c.Reason == "" {
				t.Errorf("%s of %s has neither value nor reason", r.Metric, c.Dialect)
			}
		}
	}
	for _, d := range dialect.Dialects() {
		for _, f := range trace.Figures(&d) {
			if !f.Value.Valid() && f.Reason == "" {
				t.Errorf("%s of %s has neither value nor reason", f.Name, d.Name)
			}
		}
	}
}
