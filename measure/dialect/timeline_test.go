package dialect_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/measure/dialect/timeline"
)

// TestTimelines holds every rule to a hand-written run: testdata/*.txt, whose
// form docs/dialects.md defines.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d rule files, expected at least 30: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			run, err := timeline.Parse(f)
			if err != nil {
				t.Fatalf("%s:%v", file, err)
			}
			if len(run.Expectations) == 0 {
				t.Fatal("nothing is expected")
			}
			for _, e := range run.Expectations {
				got, why := figure(t, run, e)
				if !same(got, e.Value) {
					t.Errorf("%s:%d: %s %s is %v (%s), expected %v", file, e.Line, e.Dialect, e.Metric, got, why, e.Value)
				}
			}
		})
	}
}

func same(a, b measure.Value) bool {
	x, okX := a.Get()
	y, okY := b.Get()
	return okX == okY && (!okX || math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)))
}

// figure returns what a tool, or we, would print, in the comparison's unit.
func figure(t *testing.T, run *timeline.Run, e timeline.Expectation) (measure.Value, string) {
	t.Helper()
	trace, result := load(run)
	if e.Dialect == "ours" {
		return dialect.Ours(result, e.Metric), ""
	}
	d, ok := dialect.Find(e.Dialect)
	if !ok {
		t.Fatalf("line %d: no dialect %q", e.Line, e.Dialect)
	}
	for _, f := range trace.Figures(&d) {
		if f.Metric != e.Metric {
			continue
		}
		v, ok := f.Value.Get()
		if !ok {
			return f.Value, f.Reason
		}
		if isLatency(e.Metric) {
			switch f.Unit {
			case "s":
				v *= 1e3
			case "ns":
				v /= 1e6
			}
		}
		return measure.Some(v), ""
	}
	if e.Value.Valid() {
		t.Errorf("line %d: %s does not print %s", e.Line, e.Dialect, e.Metric)
	}
	return measure.Value{}, "not printed"
}

func isLatency(metric string) bool {
	name, _, _ := strings.Cut(metric, ".")
	switch name {
	case "ttft", "tpot", "itl", "icl", "e2e":
		return true
	}
	return false
}

func load(run *timeline.Run) (*dialect.Trace, *measure.Result) {
	trace := dialect.New(dialect.Options{Start: run.Start, End: run.End, Limits: run.Limits})
	acc := measure.New(measure.Options{Start: run.Start, End: run.End, Limits: run.Limits})
	for i := range run.Attempts {
		trace.Add(&run.Attempts[i])
		acc.Add(&run.Attempts[i])
	}
	return trace, acc.Result()
}
