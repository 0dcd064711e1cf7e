package load

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

const none = int64(-1)

func TestParseBackoff(t *testing.T) {
	for text, want := range map[string]Backoff{
		"0s":         {},
		"1s":         {First: time.Second, Cap: time.Second, Factor: 1},
		"500ms..30s": DefaultBackoff(),
		"100ms..1m0s,factor=3,jitter=0.5,heedless": {First: 100 * time.Millisecond, Cap: time.Minute, Factor: 3, Jitter: 0.5, Heedless: true},
		"1s,jitter=1": {First: time.Second, Cap: time.Second, Factor: 1, Jitter: 1},
	} {
		if want.Factor == 0 {
			want.Factor = 1
		}
		got, err := ParseBackoff(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got.String() != text {
			t.Errorf("%s is written %s", text, got)
		}
	}
}

func TestBadBackoffNamesTheColumn(t *testing.T) {
	for text, column := range map[string]int{
		"": 1, "1": 1, "-1s": 1, "1s..": 5, "1s..x": 5, "2s..1s": 1, "0s..1s": 1, "1s,": 4, "1s,factor=2": 4, "1s..2s,factor=0.5": 15,
		"1s,jitter=2": 11, "1s,jitter=": 11, "1s,heedless=no": 13, "1s,jitter=1,jitter=1": 13,
	} {
		_, err := ParseBackoff(text)
		var s *stat.SyntaxError
		if !errors.As(err, &s) || s.Column != column {
			t.Errorf("%q: %v, want column %d", text, err, column)
		}
	}
}

func FuzzParseBackoff(f *testing.F) {
	f.Add("500ms..30s,factor=3,jitter=0.5,heedless")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBackoff(text)
		if err != nil {
			return
		}
		if c, err := ParseBackoff(b.String()); err != nil || c != b {
			t.Fatalf("%q is written %q: %v", text, b, err)
		}
		for k := range 100 {
			if p := b.Pause(1, 1, k, none); p < 0 || p > int64(b.Cap) {
				t.Fatalf("pause %d of %q is %d", k, text, p)
			}
		}
	})
}

// TestPauses by hand: 0.5 s doubled up to 3 s; what the server asks for wins.
func TestPauses(t *testing.T) {
	b := Backoff{First: 500 * time.Millisecond, Cap: 3 * time.Second, Factor: 2}
	var got []int64
	for k := range 5 {
		got = append(got, b.Pause(1, 7, k, none)/1e6)
	}
	if diff := cmp.Diff([]int64{500, 1000, 2000, 3000, 3000}, got); diff != "" {
		t.Error(diff)
	}
	if got := b.Pause(1, 7, 0, 7e9); got != 7e9 {
		t.Errorf("asked to wait 7 s: %d ns", got)
	}
	if got := b.Pause(1, 7, 0, 0); got != 0 {
		t.Errorf("asked to come back at once: %d ns", got)
	}
	b.Heedless = true
	if got := b.Pause(1, 7, 1, 7e9); got != 1e9 {
		t.Errorf("heedless: %d ns, want 1 s", got)
	}
	// 1.5¹² = 129.746337890625, far from a long cap.
	b = Backoff{First: time.Second, Cap: time.Hour, Factor: 1.5}
	if got := b.Pause(1, 7, 12, none); got != 129_746_337_890 {
		t.Errorf("the 13th pause is %d ns", got)
	}
}

// TestJitterFollowsFromItsKey: it keeps within its share, differs between
// requests and attempts, and is the same again.
func TestJitterFollowsFromItsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Backoff{First: time.Second, Cap: 10 * time.Second, Factor: 2, Jitter: rapid.Float64Range(0.01, 1).Draw(t, "jitter")}
		seed, id, k := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 1<<40).Draw(t, "id"), rapid.IntRange(0, 20).Draw(t, "k")
		x := float64(min(int64(1e9)<<k, 10e9))
		p := float64(b.Pause(seed, id, k, none))
		if p > x || p < x*(1-b.Jitter)-1 {
			t.Fatalf("pause %v, want within %v of %v", p, b.Jitter, x)
		}
		if again := float64(b.Pause(seed, id, k, none)); again != p {
			t.Fatalf("%v, then %v", p, again)
		}
		if other := float64(b.Pause(seed, id+1, k, none)); other == p {
			t.Fatalf("requests %d and %d wait equally long", id, id+1)
		}
		if b.First, b.Cap = time.Second, time.Second; b.Pause(seed, id, k, none) == b.Pause(seed, id, k+1, none) {
			t.Fatalf("attempts %d and %d of a request wait equally long", k, k+1)
		}
		x = 1e9
		hinted := b.Pause(seed, id, k, 5e9) - 5e9
		if float64(hinted) > x*b.Jitter || hinted < 0 {
			t.Fatalf("%d ns on top of what was asked, of %v", hinted, x*b.Jitter)
		}
	})
}
