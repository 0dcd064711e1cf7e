package verify

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got, err := Parse(" ttft.p99 < 800ms, itl.p99.9<=50 ms,error_rate<1%,goodput>5/s,e2e.mean<1.5s, steady.tpot.p5>=100us,output_token_rate>1000tok/s,usage_difference.max<2tok, ttft_adj.p999<2m")
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		Expr, Metric string
		Stat         Stat
		P            float64
		Op           Op
		Threshold    float64
		Steady       bool
		Column       int
	}
	var have []short
	for _, o := range got {
		have = append(have, short{o.Expr, o.Metric.Name, o.Stat, o.P, o.Op, o.Threshold, o.Steady, o.Column})
	}
	want := []short{
		{"ttft.p99<800ms", "ttft", "p99", .99, Below, 800, false, 2},
		{"itl.p99.9<=50ms", "itl", "p99.9", .999, AtMost, 50, false, 20},
		{"error_rate<1%", "error_rate", Only, 0, Below, 1, false, 37},
		{"goodput>5/s", "goodput", Only, 0, Above, 5, false, 51},
		{"e2e.mean<1.5s", "e2e", Mean, 0, Below, 1500, false, 63},
		{"steady.tpot.p5>=100us", "tpot", "p5", .05, AtLeast, .1, true, 78},
		{"output_token_rate>1000tok/s", "output_token_rate", Only, 0, Above, 1000, false, 100},
		{"usage_difference.max<2tok", "usage_difference", Max, 0, Below, 2, false, 128},
		{"ttft_adj.p999<2m", "ttft_adj", "p999", .999, Below, 120000, false, 155},
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		expr   string
		column int
		says   string
	}{
		{"", 1, "a metric was expected"},
		{"ttft.p99<800ms,", 16, "a metric was expected"},
		{"tfft.p99<800ms", 1, `no metric "tfft"; ttft was perhaps meant`},
		{"TTFT.p99<800ms", 1, `no metric "TTFT"; ttft was perhaps meant`},
		{"eror_rate<1%", 1, "error_rate was perhaps meant"},
		{"steady.itk.p99<1ms", 8, "itl was perhaps meant"},
		{"banana_split_speed.p99<1ms", 1, "no metric"},
		{"ttft<800ms", 5, "a statistic was expected, such as ttft.p99"},
		{"ttft.p100<800ms", 6, "not \"p100\""},
		{"ttft.p123<800ms", 6, "percentile"},
		{"ttft.p99.<800ms", 6, "percentile"},
		{"ttft.p0<800ms", 6, "percentile"},
		{"ttft.99<800ms", 6, "percentile"},
		{"ttft.median<800ms", 6, "percentile"},
		{"error_rate.p99<1%", 11, "no statistic was expected"},
		{"ttft.p99=800ms", 9, "<, <=, > or >="},
		{"ttft.p99<", 10, "a number was expected"},
		{"ttft.p99<-5ms", 10, "a number was expected"},
		{"ttft.p99<1.2.3ms", 10, "a number was expected"},
		{"ttft.p99<800", 13, "a unit of ttft was expected: ms, s, us, m"},
		{"ttft.p99<800%", 13, "a unit of ttft"},
		{"error_rate<0.01", 16, "%"},
		{"goodput>5ms", 10, "/s, req/s"},
		{"ttft.p99<800ms itl.p99<5ms", 16, "a comma or the end"},
		{"µ.p99<1ms", 1, "a metric was expected"},
		{"ttft.p99<1µs, x.p99<1ms", 15, "no metric"},
		{strings.Repeat("x", 20000), 1, "16 KiB"},
	} {
		_, err := Parse(c.expr)
		var e *ParseError
		if !errors.As(err, &e) || e.Column != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%.40q: %v, want column %d: … %s", c.expr, err, c.column, c.says)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ttft.p99<800ms, itl.p99<50ms, error_rate<1%, goodput>5/s")
	f.Add("steady.e2e.p99.9>=1.5s,")
	f.Add("\xffttft.p99<\x80")
	f.Fuzz(func(t *testing.T, expr string) {
		got, err := Parse(expr)
		if err != nil {
			var e *ParseError
			if !errors.As(err, &e) || e.Column < 1 || e.Column > utf8.RuneCountInString(expr)+1 {
				t.Fatalf("%q: %v", expr, err)
			}
			return
		}
		for _, o := range got {
			if math.IsNaN(o.Threshold) || o.P < 0 || o.P >= 1 {
				t.Fatalf("%q: %+v", expr, o)
			}
			again, err := Parse(o.Expr)
			if err != nil || len(again) != 1 {
				t.Fatalf("%q does not parse again: %v", o.Expr, err)
			}
			o.Column = 1
			if d := cmp.Diff(o, again[0]); d != "" {
				t.Fatal(d)
			}
		}
	})
}
