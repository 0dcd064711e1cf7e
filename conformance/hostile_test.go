package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/engine/openai"
)

// Answers without measure end the battery before they fill the memory, and the
// rules that they break are named all the same.
func TestAnswersWithoutMeasure(t *testing.T) {
	endless := func(string) string { return strings.Repeat("data: {}\n\n", 4<<17) }
	r := asked{api: openai.APIChat}.through(t, "sim://llama3-8b@h100", broken{stream: endless}.between)
	if !r.Usable || r.Requests > 10 || !strings.Contains(r.Result("CANCEL-01").Seen, "too long to keep") {
		t.Errorf("%d requests, %+v", r.Requests, r.Result("CANCEL-01"))
	}
	if v := r.Result("STREAM-03").Verdict; v != conformance.Fail {
		t.Errorf("no [DONE]: %s", v)
	}
}

// A body of 2,001 choices, and a choice of 2,001 calls, are no answer.
func TestTooManyChoices(t *testing.T) {
	many := strings.Repeat("{},", 2000) + "{}"
	for name, body := range map[string]string{
		"choices": `{"object":"chat.completion","choices":[` + many + `]}`,
		"calls":   `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"tool_calls":[` + many + `]}}]}`,
	} {
		whole := func(string) string { return body }
		r := asked{openai.APIChat, "llama3-8b", ""}.through(t, "sim://llama3-8b@h100", broken{whole: whole}.between)
		if v := r.Result("STREAM-10").Verdict; v != conformance.Fail {
			t.Errorf("%s: STREAM-10 %s: %+v", name, v, r.Results)
		}
	}
}

// late puts a wait before each request from the n-th on.
func late(from int, wait time.Duration) func(http.RoundTripper) http.Handler {
	return func(rt http.RoundTripper) http.Handler {
		var n atomic.Int64
		proxy := broken{}.between(rt)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body) // else nobody notices that the client went away
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if int(n.Add(1)) >= from {
				select {
				case <-time.After(wait):
				case <-r.Context().Done():
					return
				}
			}
			proxy.ServeHTTP(w, r)
		})
	}
}

// Who falls silent is asked three times more and not thirty, and who takes his
// time as long as the battery has.
func TestTheBatteryEnds(t *testing.T) {
	for name, c := range map[string]struct {
		between  func(http.RoundTripper) http.Handler
		requests int // the list of models among them
		seen     string
	}{
		"silence": {late(5, time.Hour), 4 + 3, "3 questions in a row got no answer"},
		"slow":    {late(1, 40*time.Second), 8, "the battery's time was up (5m0s)"}, // 320 s
	} {
		r := asked{api: openai.APIChat}.through(t, "sim://llama3-8b@h100", c.between)
		if x := r.Result("CANCEL-01"); r.Requests != c.requests || x.Verdict != conformance.NA || !strings.Contains(x.Seen, c.seen) {
			t.Errorf("%s: %d requests, want %d; %+v", name, r.Requests, c.requests, x)
		}
	}
}

// A usage of one token more than max_tokens is said to be that.
func TestOneTokenTooMany(t *testing.T) {
	r := asked{api: openai.APIChat}.through(t, "sim://llama3-8b@h100", broken{whole: swap(`"completion_tokens":24`, `"completion_tokens":25`)}.between)
	if x := r.Result("LIMIT-02"); x.Verdict != conformance.Fail || !strings.HasPrefix(x.Seen, "25 tokens for max_tokens 24 ") {
		t.Errorf("%+v", x)
	}
}

// A stream whose chunks repeat all text before them is said to be that.
func TestCumulativeStream(t *testing.T) {
	content := regexp.MustCompile(`"content":"([^"]+)"`)
	repeat := func(body string) string {
		all := ""
		return content.ReplaceAllStringFunc(body, func(found string) string {
			all += content.FindStringSubmatch(found)[1]
			return `"content":"` + all + `"`
		})
	}
	r := asked{api: openai.APIChat}.through(t, "sim://llama3-8b@h100", broken{stream: repeat}.between)
	if x := r.Result("SAME-02"); x.Verdict != conformance.Fail || x.Seen != "each chunk repeats all text before it" {
		t.Errorf("%+v", x)
	}
}
