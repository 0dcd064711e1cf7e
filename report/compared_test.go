package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/verify"
)

// comparedSide is a side of four runs whose figures are a factor apart from
// the baseline, with a spread.
func comparedSide(name string, factor, spread float64) compare.Side {
	s := compare.Side{Name: name}
	for i := range 4 {
		x := factor * math.Exp(spread*float64(i-1)/2)
		dist := func(ms float64) measure.Metric {
			v := measure.Some(ms * x)
			return measure.Metric{Unit: "ms", Count: 100, Mean: v, P50: v, P90: v, P95: v, P99: v}
		}
		s.Runs = append(s.Runs, compare.Run{Name: fmt.Sprintf("%s/%d", name, i), Model: "m", Window: compare.All,
			Manifest: &record.Manifest{Seed: uint64(i), Targets: []record.TargetFacts{{Name: "http://" + name + "\x1b[31m"}}},
			Requests: measure.Requests{Due: 100, OK: 99},
			Metrics: map[string]measure.Metric{"ttft": dist(50), "itl": dist(10), "e2e": dist(2000),
				"output_token_rate": {Unit: "tok/s", Value: measure.Some(1000 / x), Rate: true},
				"error_rate":        {Unit: "%", Value: measure.Some(1), Rate: true}}})
	}
	return s
}

func compared(t *testing.T, gates string, sides ...compare.Side) *Compared {
	t.Helper()
	var changes []verify.Change
	if gates != "" {
		var err error
		if changes, err = verify.ParseChanges(gates); err != nil {
			t.Fatal(err)
		}
	}
	c, err := compare.Compare(sides, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewCompared(c, changes, false)
}

func TestComparedGoldens(t *testing.T) {
	base := comparedSide("base", 1, 0)
	plain := compared(t, "", base, comparedSide("slow", 1.1, 0.01))
	gated := compared(t, "ttft.p99>+5%,itl.p50>+2ms,error_rate>+1pp,ttft.p50>+10%", base, comparedSide("slow", 1.1, 0.02), comparedSide("odd", 1.03, 0.15))
	var junit, js, text, gatedText, markdown bytes.Buffer
	must(t, CompareText(&text, plain, TextOptions{}))
	must(t, CompareText(&gatedText, gated, TextOptions{}))
	must(t, CompareMarkdown(&markdown, gated))
	must(t, JUnit(&junit, gated.Suite(), plain.Suite()))
	b, err := gated.Encode()
	must(t, err)
	js.Write(b)
	for name, got := range map[string]string{"compared.txt": text.String(), "compared_gated.txt": gatedText.String(),
		"compared.md": markdown.String(), "compared.xml": junit.String(), "compared.json": js.String()} {
		golden(t, name, []byte(got))
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s lets a target's control characters through", name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever reads comparison.json again has what was written.
func TestComparedRoundTrip(t *testing.T) {
	c := compared(t, "ttft.p99>+5%", comparedSide("base", 1, 0), comparedSide("slow", 1.1, 0.01))
	b, err := c.Encode()
	must(t, err)
	var again Compared
	must(t, json.Unmarshal(b, &again))
	b2, err := again.Encode()
	must(t, err)
	if d := cmp.Diff(string(b), string(b2)); d != "" {
		t.Error(d)
	}
	if again.Schema != compare.Schema || again.Verdict.Exit != 1 {
		t.Errorf("schema %q, exit %d", again.Schema, again.Verdict.Exit)
	}
}

// Pull requests get what they can show: nothing breaks out of a cell.
func TestMarkdownCells(t *testing.T) {
	evil := comparedSide("a|b<script>*x*", 1.1, 0.01)
	c := compared(t, "", comparedSide("base", 1, 0), evil)
	var out bytes.Buffer
	must(t, CompareMarkdown(&out, c))
	if s := out.String(); strings.Contains(s, "<script>") || strings.Contains(s, "a|b") || strings.Contains(s, " *x*") {
		t.Error(s)
	}
}

// A gate's name, which holds that of a directory, stays in its cell too.
func TestMarkdownGateNames(t *testing.T) {
	c := compared(t, "ttft.p99>+5%", comparedSide("base", 1, 0), comparedSide("a`|<b>\n", 1.1, 0.01), comparedSide("c", 1, 0.01))
	var out bytes.Buffer
	must(t, CompareMarkdown(&out, c))
	if want := "| `a'\\|<b> : ttft.p99>+5%` | "; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}

// A build that reads the file and one that reads the exit code must not
// disagree, interrupted or not.
func TestComparedSuiteIsRedAsTheExitCodeIs(t *testing.T) {
	base, slow := comparedSide("base", 1, 0), comparedSide("slow", 1.1, 0.01)
	sides := []compare.Side{base, slow}
	found, err := compare.Compare(sides, compare.Options{})
	must(t, err)
	for _, expr := range []string{"", "ttft.p99>+5%", "ttft.p99>+50%"} {
		var gates []verify.Change
		if expr != "" {
			gates, err = verify.ParseChanges(expr)
			must(t, err)
		}
		for _, interrupted := range []bool{false, true} {
			c := NewCompared(found, gates, interrupted)
			red := 0
			for _, k := range c.Suite().Cases {
				if k.Result == CaseFailed || k.Result == CaseErrored {
					red++
				}
			}
			if (red > 0) != (c.Verdict.Exit != 0) {
				t.Errorf("%q, interrupted %v: exit %d, %d red cases", expr, interrupted, c.Verdict.Exit, red)
			}
		}
	}
}
