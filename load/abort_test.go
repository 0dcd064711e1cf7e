package load

import (
	"strings"
	"testing"
)

// observe feeds a word of results: s success, f failure, u unreached. It
// returns after how many the rules struck, or 0.
func observe(t *testing.T, rules, word string) (n int, reason string) {
	t.Helper()
	parsed, err := ParseAbort(rules)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAbort(parsed)
	for i, c := range word {
		a.Observe(map[rune]Result{'s': Success, 'f': Failure, 'u': Unreached}[c])
		if reason, yes := a.Abort(); yes && n == 0 {
			n = i + 1
			return n, reason
		}
	}
	return 0, ""
}

func TestAbortRules(t *testing.T) {
	for _, c := range []struct {
		rules, word string
		after       int
		says        string
	}{
		{"", strings.Repeat("f", 1000), 0, ""},
		{"errors>2", "sfsusf", 6, "errors>2: 3 requests failed"},
		{"errors>=2", "sfsusf", 4, "errors>=2: 2 requests failed"},
		{"errors>2", "sfsus", 0, ""},
		{"error_rate>50%/4", "ffss" + "sfff", 8, "3 of the last 4 requests failed"},
		{"error_rate>50%/4", "ffss" + "ssff", 0, ""},
		{"error_rate>=50%/4", "fsf", 0, ""},
		{"error_rate>=50%/4", "fsfs", 4, "2 of the last 4"},
		{"error_rate>0.2", strings.Repeat("f", 50), 50, "50 of the last 50"},
		{"gone>=3", "uufuus" + "uuu", 9, "target gone, 3 transport errors in a row"},
		{"gone", strings.Repeat("u", 20), 20, "target gone, 20"},
		{"errors>5, gone>=2", "uu", 2, "gone>=2"},
		{"slo", "ffff", 0, ""},
	} {
		n, reason := observe(t, c.rules, c.word)
		if n != c.after || !strings.Contains(reason, c.says) {
			t.Errorf("%q on %q: after %d, %q; want %d, %q", c.rules, c.word, n, reason, c.after, c.says)
		}
	}
}

func TestAbortOnSLO(t *testing.T) {
	rules, err := ParseAbort("slo")
	if err != nil {
		t.Fatal(err)
	}
	a := NewAbort(rules)
	a.SLOFailed("ttft.p99<800ms")
	if reason, yes := a.Abort(); !yes || reason != "objective failed: ttft.p99<800ms" {
		t.Errorf("%q %v", reason, yes)
	}
	none := NewAbort(nil)
	none.SLOFailed("ttft.p99<800ms")
	if _, yes := none.Abort(); yes {
		t.Error("aborts without a rule")
	}
}
