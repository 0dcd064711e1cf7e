package measure

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		x    float64
		unit string
		want string
	}{
		{0, "ms", "0 ms"}, {0.0823, "ms", "82.3 µs"}, {0.99949, "ms", "999 µs"}, {0.9996, "ms", "1.00 ms"}, {12.34, "ms", "12.3 ms"},
		{999.4, "ms", "999 ms"}, {999.6, "ms", "1.00 s"}, {123456, "ms", "123 s"}, {1234567, "tok/s", "1,234,567 tok/s"},
		{0.0000123, "tok", "0.000012 tok"}, {1e-9, "", "<0.000001"}, {370779931, "tok/s", "370,779,931 tok/s"},
		{97.65625, "%", "97.7%"}, {0.004, "%", "0.004%"}, {1e-7, "%", "<0.001%"}, {100, "%", "100%"}, {99.96, "%", ">99.9%"},
		{99.94, "%", "99.9%"}, {50, "%", "50%"}, {0.1875, "%", "0.19%"}, {4, "%", "4%"}, {math.Inf(1), "ms", "inf"},
	} {
		if got := Figure(Some(c.x), c.unit); got != c.want {
			t.Errorf("Figure(%v %s) = %q, want %q", c.x, c.unit, got, c.want)
		}
	}
	if got := Figure(Value{}, "ms"); got != "-" {
		t.Errorf("missing: %q", got)
	}
	if got := Share(1, 1_000_000); got != "<0.001%" {
		t.Errorf("a failure must not vanish: %q", got)
	}
	if got := Share(99999, 100000); got != ">99.9%" {
		t.Errorf("a success must not vanish: %q", got)
	}
	if got := Count(-1234567); got != "-1,234,567" {
		t.Errorf("a count: %q", got)
	}
}

// TestFiguresAreShort: no figure has an exponent, and no percentage more than
// three significant digits.
func TestFiguresAreShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 1e12).Draw(t, "x")
		if s := Digits(x); strings.ContainsAny(s, "eE") {
			t.Fatalf("%v is written as %s", x, s)
		}
		p := rapid.Float64Range(0, 100).Draw(t, "p")
		digits := strings.Trim(Percent(p), "<>%")
		if n := len(strings.TrimLeft(strings.ReplaceAll(digits, ".", ""), "0")); n > 3 {
			t.Fatalf("%v is written as %s", p, Percent(p))
		}
	})
}
