package trace

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A decimal is what exact arithmetic says, rounded half away from zero.
func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{0,12})?([eE][+-]?[0-9])?`).Draw(t, "text")
		exp := rapid.SampledFrom([]int{0, 3, 6, 9}).Draw(t, "exp")
		want, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
		if !ok {
			want, ok = new(big.Rat).SetString(strings.Replace(text, ".", ".0", 1))
		}
		if !ok {
			t.Fatalf("%q", text)
		}
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exp)), nil)))
		whole := want.IsInt()
		half := big.NewRat(1, 2)
		if want.Sign() < 0 {
			half.Neg(half)
		}
		rounded := new(big.Rat).Add(want, half)
		n := new(big.Int).Quo(rounded.Num(), rounded.Denom())
		got, exact, ok := decimal([]byte(text), exp)
		if !ok {
			if n.IsInt64() && n.CmpAbs(big.NewInt(1e17)) < 0 && len(text) < 15 {
				t.Fatalf("%q times 10^%d: refused, want %v", text, exp, n)
			}
			return
		}
		off := new(big.Int).Sub(n, big.NewInt(got))
		if len(text) > 18 && off.IsInt64() && (off.Int64() == 1 || off.Int64() == -1) && !exact {
			return
		}
		if off.Sign() != 0 || exact != whole {
			t.Fatalf("%q times 10^%d: %d exact %v, want %v exact %v", text, exp, got, exact, n, whole)
		}
	})
	for _, text := range []string{"", "-", ".", "1.2.3", "1e", "1e+", "x", "1x", "0x1", "1_0", "nan", "inf", "99999999999999999999", "1e999", "1e0001", " 1"} {
		if n, _, ok := decimal([]byte(text), 0); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
	// The stamps of an engine keep their nanoseconds.
	if n, _, _ := decimal([]byte("1787267980.0827403"), seconds); n != 1787267980082740300 {
		t.Error(n)
	}
}

// A date and time is what package time reads, in each of the forms.
func TestCivil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(rapid.Int64Range(-2_000_000_000, 7_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		zone := time.FixedZone("", rapid.IntRange(-14*4, 14*4).Draw(t, "zone")*900)
		layout := rapid.SampledFrom([]string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07:00", "2006-01-02 15:04:05.999999999 -0700",
			"2006/01/02 15:04:05.999999999-0700", "02/Jan/2006:15:04:05.999999999 -0700"}).Draw(t, "layout")
		text := want.In(zone).Format(layout)
		if got, _, ok := civil([]byte(text)); !ok || got != want.UnixNano() {
			t.Fatalf("%s is %d %v, want %d", text, got, ok, want.UnixNano())
		}
	})
	for text, want := range map[string]string{
		"2023-11-16 18:15:46.6805900": "2023-11-16T18:15:46.68059Z",
		"2024-02-29":                  "2024-02-29T00:00:00Z",
		"2024-05-10T00:00:00+02":      "2024-05-09T22:00:00Z",
		"2024-05-10 00:00:00 UTC":     "2024-05-10T00:00:00Z",
		"2016-12-31 23:59:60Z":        "2017-01-01T00:00:00Z",
		"2000-02-29":                  "2000-02-29T00:00:00Z",
	} {
		got, _, ok := civil([]byte(text))
		if at := time.Unix(0, got).UTC().Format(time.RFC3339Nano); !ok || at != want {
			t.Errorf("%s is %s, want %s", text, at, want)
		}
	}
	for _, text := range []string{"", "2023", "2023-13-01", "2023-02-29", "2023-11-16 24:00:00", "2023-11-16 18:60:00", "2023-11-16 18:15", "2023-11-16X18:15:46",
		"16/Foo/2023:18:15:46 +0000", "0023-11-16", "2023-11-16 18:15:46 CET", "2023-11-16 18:15:46+1", "9999-01-01", "16/Nov/2023",
		"2016-12-31 23:59:61Z", "2100-02-29", "2023-11-16 18:15:46+16:00", "2023-11-16 18:15:46+01:60"} {
		if n, _, ok := civil([]byte(text)); ok {
			t.Errorf("%q is %d", text, n)
		}
	}
}

// A moment leaves room for differences of moments.
func TestInstant(t *testing.T) {
	for text, want := range map[string]bool{"4611686018427387903": true, "4611686018427387904": false, "-4611686018427387903": true, "-4611686018427387904": false, "5e18": false} {
		if _, _, _, ok := instant([]byte(text), nanos); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
}

// Sessions that are heard of lately are kept, also beyond the bound.
func TestSessionsAreBounded(t *testing.T) {
	var s sessions
	for i := range 3 * mostSessions {
		s.next(&Row{Session: "always", Input: 1})
		s.next(&Row{Session: fmt.Sprint(i), Input: 1})
	}
	if before, later := s.next(&Row{Session: "always"}); !later || before.turn != 3*mostSessions-1 {
		t.Errorf("turn %d, later %v", before.turn, later)
	}
	if n := len(s.young) + len(s.old); n > 2*mostSessions+2 {
		t.Errorf("%d sessions are kept", n)
	}
}
