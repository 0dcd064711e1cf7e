package measure

import (
	"testing"

	"github.com/tokamak-bench/tokamak/record"
)

// prompts adds n successes with a prompt each, of which some tokens were asked
// for, sent before, and told to be cached.
func prompts(a *Accumulator, n int, prompt, asked, shared int64, cached record.Int) {
	for range n {
		t := &record.Attempt{}
		t.RequestID, t.Attempt, t.Outcome = int64(a.n), 1, record.OK
		t.Intended = record.Some(int64(a.n) * 1e6)
		t.PromptUsage, t.CachedUsage = record.Some(prompt), cached
		if asked > 0 {
			t.PromptAsked, t.PromptShared = record.Some(asked), record.Some(shared)
		}
		a.Add(t)
	}
}

func TestCache(t *testing.T) {
	none := record.Int{}
	for _, c := range []struct {
		name               string
		intent             CacheIntent
		prompt, asked      int64
		shared             int64
		cached             record.Int
		verdict            CacheVerdict
		warning            string
		possible, observed float64 // −1: absent
		void               bool
	}{
		{"cold and cold", Cold, 266, 256, 0, record.Some(0), CacheAsIntended, "", 100 * 10. / 266, 0, false},
		// The server's own ten tokens in front, in a block of 16.
		{"a template", Cold, 266, 256, 0, record.Some(16 - 6), CacheAsIntended, "", 100 * 10. / 266, 100 * 10. / 266, false},
		{"cold and warm", Cold, 266, 256, 0, record.Some(160), CacheWarm, "cache_warm", 100 * 10. / 266, 100 * 160. / 266, true},
		{"a server that lies", Cold, 266, 256, 0, record.Some(300), CacheImplausible, "cache_implausible", -1, -1, true},
		{"nobody tells", Cold, 266, 256, 0, none, CacheUnverified, "", -1, -1, false},
		{"reused", Reuse, 1000, 1000, 800, record.Some(784), CacheAsIntended, "", 80, 78.4, false},
		// Blocks of the server: 20 of 1,000 tokens more than could are no claim, 21 are.
		{"rounded to blocks", Reuse, 1000, 1000, 800, record.Some(820), CacheAsIntended, "", 80, 82, false},
		{"beyond blocks", Reuse, 1000, 1000, 800, record.Some(821), CacheWarm, "cache_warm", 80, 82.1, false},
		// A tenth of the 80 % that could is 8 %.
		{"a tenth reused", Reuse, 1000, 1000, 800, record.Some(80), CacheAsIntended, "", 80, 8, false},
		{"less than a tenth", Reuse, 1000, 1000, 800, record.Some(79), CacheNotReused, "cache_not_reused", 80, 7.9, false},
		{"little to reuse", Reuse, 1000, 1000, 49, record.Some(0), CacheAsIntended, "", 4.9, 0, false},
		{"not reused", Reuse, 1000, 1000, 800, record.Some(32), CacheNotReused, "cache_not_reused", 80, 3.2, false},
		{"more than could", Reuse, 1000, 1000, 200, record.Some(784), CacheWarm, "cache_warm", 20, 78.4, false},
		{"reuse of nobody knows how much", Reuse, 1000, 0, 0, record.Some(784), CacheUnverified, "", -1, 78.4, false},
		{"recorded texts", Unasked, 1000, 0, 0, record.Some(784), CacheUnverified, "", -1, 78.4, false},
		{"a salted dataset, warm", Cold, 1000, 0, 0, record.Some(784), CacheWarm, "cache_warm", 0, 78.4, true},
	} {
		a := New(Options{Intent: c.intent})
		prompts(a, 10, c.prompt, c.asked, c.shared, c.cached)
		got := a.All().Cache()
		if got.Verdict != c.verdict || got.Warning != c.warning || !near(got.Possible, c.possible) || !near(got.Observed, c.observed) || got.ColdVoid() != c.void || got.Reason == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func near(v Value, want float64) bool {
	x, ok := v.Get()
	return ok == (want >= 0) && (!ok || x-want < 1e-9 && want-x < 1e-9)
}

// How many tokens of a prompt with images could be cached is not known: only
// the server knows how many tokens an image is.
func TestCacheOfImages(t *testing.T) {
	a := New(Options{Intent: Reuse})
	r := &record.Attempt{}
	r.Attempt, r.Outcome, r.Intended = 1, record.OK, record.Some(0)
	r.PromptUsage, r.CachedUsage = record.Some(1600), record.Some(100)
	r.PromptAsked, r.PromptShared, r.Media.Images = record.Some(200), record.Some(100), record.Some(2)
	a.Add(r)
	if got := a.All().Cache(); got.Possible.Valid() || got.Verdict != CacheUnverified || !near(got.Observed, 6.25) {
		t.Errorf("%+v", got)
	}
}
