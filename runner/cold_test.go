package runner

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/scenario"
)

// cachedServer answers chats with four tokens and says that so many of their
// prompts' 266 tokens came from its cache.
func cachedServer(t *testing.T, cached int) *httptest.Server {
	t.Helper()
	const chunk = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":%s}]}` + "\n\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		var b strings.Builder
		for _, finish := range []string{"null", "null", "null", `"length"`} {
			fmt.Fprintf(&b, chunk, finish)
		}
		fmt.Fprintf(&b, `data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":266,"completion_tokens":4,"total_tokens":270,"prompt_tokens_details":{"cached_tokens":%d}}}`+"\n\ndata: [DONE]\n\n", cached)
		_, _ = w.Write([]byte(b.String()))
	}))
	t.Cleanup(s.Close)
	return s
}

// TestColdClaims: salted prompts against a server that is cold, one that had
// them before, and one whose figures cannot be.
func TestColdClaims(t *testing.T) {
	for _, c := range []struct {
		cached  int
		verdict measure.CacheVerdict
		warning string
		void    bool
	}{
		{0, measure.CacheAsIntended, "", false},
		{8, measure.CacheAsIntended, "", false}, // of the ten that the server puts in front
		{192, measure.CacheWarm, "cache_warm", true},
		{300, measure.CacheImplausible, "cache_implausible", true},
	} {
		yaml := fmt.Sprintf("target: {url: %q, model: m}\nload: {concurrency: 2, requests: 20}\nworkload: {input-tokens: 256, output-tokens: 4}\nslo: ttft.p50<10s\nout: none\n", cachedServer(t, c.cached).URL)
		s, err := scenario.Parse("cold.yaml", []byte(yaml), scenario.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(context.Background(), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := r.Do(context.Background())
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := sum.Cache
		if got.Intended != measure.Cold || got.Verdict != c.verdict || got.Warning != c.warning || got.Told != 20 {
			t.Errorf("%d cached: %+v", c.cached, got)
		}
		if said := strings.Contains(sum.SLO[0].Reason, "not of cold prompts"); said != c.void {
			t.Errorf("%d cached: %s", c.cached, sum.SLO[0].Reason)
		}
	}
}
