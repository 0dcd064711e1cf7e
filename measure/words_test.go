package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/record"
)

// TestWordsOfAttempts: what was said of responses is counted by attempts, and
// each error class has the first text that came with it.
func TestWordsOfAttempts(t *testing.T) {
	a := New(Options{})
	for i, r := range []record.Result{
		{Outcome: record.OK, Notes: []string{"not_streamed", "empty_answer"}},
		{Outcome: record.OK, Notes: []string{"empty_answer"}},
		{Outcome: record.HTTPError, ErrorClass: "bad_request"},
		{Outcome: record.HTTPError, ErrorClass: "bad_request", ErrorText: "first"},
		{Outcome: record.HTTPError, ErrorClass: "bad_request", ErrorText: "second"},
		{Outcome: record.StreamBroken, ErrorClass: "bad_json", Violations: []string{"bad_json", "no_terminator"}},
	} {
		a.Add(&record.Attempt{Identity: record.Identity{RequestID: int64(i), Attempt: 1}, Result: r,
			Moments: record.Moments{Intended: record.Some(int64(i))}})
	}
	got := a.Attempts()
	for _, c := range []struct{ got, want map[string]int }{
		{got.ByNote, map[string]int{"not_streamed": 1, "empty_answer": 2}},
		{got.ByViolation, map[string]int{"bad_json": 1, "no_terminator": 1}},
		{got.ByErrorClass, map[string]int{"bad_request": 3, "bad_json": 1}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"bad_request": "first"}, got.Examples); diff != "" {
		t.Error(diff)
	}
}

// TestCachedShareNeedsPossibleCounts: more tokens from the cache than the
// prompt has is no share.
func TestCachedShareNeedsPossibleCounts(t *testing.T) {
	a := New(Options{})
	for i, cached := range []int64{5, 99999} {
		a.Add(&record.Attempt{Identity: record.Identity{RequestID: int64(i), Attempt: 1}, Result: record.Result{Outcome: record.OK},
			Moments: record.Moments{Intended: record.Some(int64(i))},
			Tokens:  record.Tokens{PromptUsage: record.Some(10), CachedUsage: record.Some(cached)}})
	}
	if got := a.All().Rate("cached_share"); got != Some(50) {
		t.Errorf("cached_share %v", got)
	}
}
