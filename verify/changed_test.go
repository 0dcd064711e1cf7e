package verify_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/verify"
)

func sideOf(name string, ttfts ...float64) compare.Side {
	s := compare.Side{Name: name}
	for i, x := range ttfts {
		s.Runs = append(s.Runs, compare.Run{Name: name, Manifest: &record.Manifest{Seed: uint64(i)},
			Metrics: map[string]measure.Metric{"ttft": {Unit: "ms", Count: 1, P50: measure.Some(x)}}})
	}
	return s
}

func judgeChanges(t *testing.T, expr string, sides ...compare.Side) []verify.Changed {
	t.Helper()
	gates, err := verify.ParseChanges(expr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Compare(sides, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return verify.JudgeChanges(gates, c)
}

func TestJudgeChanges(t *testing.T) {
	base := sideOf("a", 100, 100, 100, 100)
	clear := sideOf("b", 110, 111, 109, 110) // +10 %, 90 % interval 9.0 to 11.0
	wide := sideOf("b", 80, 120, 95, 110)
	for _, c := range []struct {
		expr string
		b    compare.Side
		want verify.Verdict
		code exit.Code
	}{
		{"ttft.p50>+5%", clear, verify.Fail, exit.Failed},
		{"ttft.p50>+10%", clear, verify.Inconclusive, exit.Inconclusive},
		{"ttft.p50>+12%", clear, verify.Pass, exit.OK},
		{"ttft.p50>+5ms", clear, verify.Fail, exit.Failed},
		{"ttft.p50>+20ms", clear, verify.Pass, exit.OK},
		{"ttft.p50<-5%", clear, verify.Pass, exit.OK},
		{"ttft.p50<+20%", clear, verify.Fail, exit.Failed},
		{"ttft.p50>+5%", wide, verify.Inconclusive, exit.Inconclusive},
		{"ttft.p50>+0%", base, verify.Pass, exit.OK}, // bit-identical: exactly 0 is not above 0
		{"ttft.p50<-0%", base, verify.Pass, exit.OK},
		{"ttft.p50>+0ms", base, verify.Pass, exit.OK},
		{"ttft.p50>-1%", base, verify.Fail, exit.Failed},
		{"e2e.p50>+5%", clear, verify.Unmeasured, exit.Inconclusive},
	} {
		got := judgeChanges(t, c.expr, base, c.b)
		if len(got) != 1 || got[0].Verdict != c.want || verify.ChangesCode(got, false) != c.code {
			t.Errorf("%s: %+v, want %s", c.expr, got, c.want)
		}
	}
	// An interrupted comparison exits so, whatever its gates say.
	if code := verify.ChangesCode(judgeChanges(t, "ttft.p50>+5%", base, clear), true); code != exit.Interrupted {
		t.Errorf("interrupted: exit %d", code)
	}
}

// Many gates do not make a false alarm likelier: the p-values of failing are
// adjusted together, those of passing need not be.
func TestGatesAreJudgedTogether(t *testing.T) {
	base, b := sideOf("a", 100, 100, 100, 100), sideOf("b", 104, 107, 110, 105)
	alone := judgeChanges(t, "ttft.p50>+3%", base, b)
	if alone[0].Verdict != verify.Fail {
		t.Fatalf("alone: %+v", alone[0])
	}
	for i, g := range judgeChanges(t, "ttft.p50>+3%,ttft.p50>+6%,ttft.p50>+6%,ttft.p50>+6%", base, b) {
		if g.Verdict != verify.Inconclusive {
			t.Errorf("gate %d of four: %+v", i, g)
		}
	}
}

func TestAGateOnTheClientsFigureIsInvalid(t *testing.T) {
	b := sideOf("b", 110, 111, 109, 110)
	b.Runs[2].Validity = map[string]measure.Validity{"ttft": {Trust: measure.Invalid, Reason: "the client stood still"}}
	got := judgeChanges(t, "ttft.p50>+5%", sideOf("a", 100, 100, 100, 100), b)
	if got[0].Verdict != verify.Invalid || verify.ChangesCode(got, false) != exit.Invalid {
		t.Errorf("%+v", got[0])
	}
}

// The interval beside a gate is the one that decides it: two one-sided bounds of 95 %.
func TestAGateShowsTheIntervalThatDecides(t *testing.T) {
	b := sideOf("b", 100*math.Exp(0.10), 100*math.Exp(0.12), 100*math.Exp(0.08))
	g := judgeChanges(t, "ttft.p50>+5%", sideOf("a", 100, 100, 100), b)[0]
	want := 100 * math.Expm1(0.1-2.91999*0.02/math.Sqrt(3)) // t(0.95) with 2 degrees of freedom
	if low, _ := g.Low.Get(); math.Abs(low-want) > 1e-3 {
		t.Errorf("from %v, want %v", low, want)
	}
	// Limits all along the interval: only those beyond an end are decided.
	high, _ := g.High.Get()
	low, _ := g.Low.Get()
	for _, c := range []struct {
		limit float64
		want  verify.Verdict
	}{{low - .01, verify.Fail}, {low + .01, verify.Inconclusive}, {high - .01, verify.Inconclusive}, {high + .01, verify.Pass}} {
		expr := fmt.Sprintf("ttft.p50>+%.4f%%", c.limit)
		if got := judgeChanges(t, expr, sideOf("a", 100, 100, 100), b)[0]; got.Verdict != c.want {
			t.Errorf("%s of %.3f to %.3f: %s, want %s", expr, low, high, got.Verdict, c.want)
		}
	}
}
