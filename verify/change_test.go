package verify_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/verify"
)

func TestParseChanges(t *testing.T) {
	got, err := verify.ParseChanges("ttft.p99>+5%,  itl.p50 > +2ms , output_token_rate<-3%,error_rate>+1.5pp, e2e.p99.9>-10%,ttft_adj.mean>+0.2s")
	if err != nil {
		t.Fatal(err)
	}
	f := func(metric, stat string) compare.Figure { return compare.Figure{Metric: metric, Stat: stat} }
	want := []verify.Change{
		{Expr: "ttft.p99>+5%", Figure: f("ttft", "p99"), More: true, By: 5, Relative: true, Column: 1},
		{Expr: "itl.p50>+2ms", Figure: f("itl", "p50"), More: true, By: 2, Column: 16},
		{Expr: "output_token_rate<-3%", Figure: f("output_token_rate", "value"), By: -3, Relative: true, Column: 33},
		{Expr: "error_rate>+1.5pp", Figure: f("error_rate", "value"), More: true, By: 1.5, Column: 55},
		{Expr: "e2e.p999>-10%", Figure: f("e2e", "p999"), More: true, By: -10, Relative: true, Column: 74},
		{Expr: "ttft_adj.mean>+0.2s", Figure: f("ttft_adj", "mean"), More: true, By: 200, Column: 89},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseChangesErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"":                         `gate "", column 1: a metric was expected`,
		"ttft.p99":                 `column 9: < or > was expected`,
		"ttft.p99>=+5%":            `column 10: a change with its sign was expected, such as +5% or -3%`,
		"ttft.p99>5%":              `column 10: a change with its sign was expected`,
		"ttft.p99>+%":              `column 11: a number was expected`,
		"ttft.p99>+5":              `column 12: a change of ttft in %, ms, s, us, m was expected`,
		"ttft.p99>+5tok":           `column 12: a change of ttft in`,
		"error_rate>+5%":           `column 14: a change of error_rate in pp (percentage points) was expected`,
		"ttft>+5%":                 `column 5: a statistic was expected`,
		"ttft.p98>+5%":             `column 6: one of mean, sd, p50, p90, p95, p99, p999, max was expected, not "p98"`,
		"error_rate.p50>+1pp":      `column 11: error_rate is one value a run`,
		"tttf.p50>+1%":             `column 1: there is no metric "tttf"; ttft was perhaps meant`,
		"steady.ttft.p50>+1%":      `column 1: a metric was expected without "steady."`,
		"ttft.p50>-100%":           `column 11: a change of more than -100% was expected`,
		"ttft.p50>+1%;e2e":         `column 13: a comma or the end was expected`,
		"ttft.p50>+1%,":            `column 14: a metric was expected`,
		"é.p50>+1%":                `column 1: a metric was expected`,
		strings.Repeat("x", 20000): "at most 16 KiB",
	} {
		_, err := verify.ParseChanges(expr)
		var p *verify.ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", expr, err, want)
		}
	}
}

func TestParseFigures(t *testing.T) {
	got, err := verify.ParseFigures("ttft.p50, error_rate,ttft.p50")
	want := []compare.Figure{{Metric: "ttft", Stat: "p50"}, {Metric: "error_rate", Stat: compare.Value}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for expr, want := range map[string]string{
		"ttft.p50, input_tokens.mean": "column 11: input_tokens.mean was not expected: neither more nor less of it is better",
		"ttft.p50 e2e":                "column 10: a comma or the end was expected",
	} {
		if _, err := verify.ParseFigures(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", expr, err, want)
		}
	}
}

func TestParseMargin(t *testing.T) {
	if m, err := verify.ParseMargin("2.5%"); m != 0.025 || err != nil {
		t.Errorf("2.5%%: %v, %v", m, err)
	}
	for _, bad := range []string{"", "5", "0%", "-1%", "50%", "nan%", "0x1%", "1e0%", "5 %"} {
		if _, err := verify.ParseMargin(bad); err == nil {
			t.Errorf("%q is a margin", bad)
		}
	}
}

// FuzzParseChanges: whatever parses is written so that it parses to the same.
func FuzzParseChanges(f *testing.F) {
	for _, s := range []string{"ttft.p99>+5%", "itl.p50>+2ms,e2e.max<-1s", "error_rate>+1pp", " tpot.p99.9 > - 3 %", "a.b>+", "\xff>+1%", "ttft.p99>+99999999999999999999999999%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		changes, err := verify.ParseChanges(expr)
		if err != nil {
			var p *verify.ParseError
			if !errors.As(err, &p) || p.Column < 1 || p.Column > len([]rune(expr))+1 {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		for _, c := range changes {
			again, err := verify.ParseChanges(c.Expr)
			if err != nil || len(again) != 1 {
				t.Fatalf("%q: %q: %v", expr, c.Expr, err)
			}
			again[0].Column = c.Column
			if d := cmp.Diff(c, again[0]); d != "" {
				t.Fatal(d)
			}
		}
	})
}
