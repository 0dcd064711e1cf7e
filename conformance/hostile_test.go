package conformance_test

import (
	"strings"
	"testing"

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
