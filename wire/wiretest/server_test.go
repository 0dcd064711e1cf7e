package wiretest_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// TestFaultServer asks the server with an ordinary client: what has no fault in
// HTTP must be readable by it.
func TestFaultServer(t *testing.T) {
	s := wiretest.NewFaultServer(t)
	for _, test := range []struct{ path, body, want string }{
		{"/v1/models", "", `"fault-model"`},
		{"/stall_before_head/v1/models", "", `"fault-model"`},
		{"/healthy/v1/chat/completions", `{"stream":true,"max_tokens":3,"stream_options":{"include_usage":true}}`, `"completion_tokens":3`},
		{"/healthy/v1/completions", `{"stream":true,"max_tokens":3}`, `"text":" word"`},
		{"/healthy/v1/chat/completions", `{"max_tokens":3}`, `"content":"word word word"`},
		{"/missing_finish_reason/v1/chat/completions", `{"stream":true}`, "[DONE]"},
		{"/unauthorized_401/v1/chat/completions", `{"stream":true}`, "invalid_api_key"},
	} {
		resp, err := http.Post(s.URL+test.path, "application/json", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(b), test.want) {
			t.Errorf("%s: %v\n%s\nwant %q in it", test.path, err, b, test.want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestFaultsAreWhole checks the table that the tests of the program rest on.
func TestFaultsAreWhole(t *testing.T) {
	known := []string{"ok", "rejected", "http_error", "transport_error", "timeout", "stream_error", "stream_broken"}
	seen := map[string]bool{}
	for _, f := range wiretest.NewFaultServer(t).Faults {
		if seen[f.Name] || !slices.Contains(known, f.Outcome) || f.URL == "" {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
	if len(seen) < 60 {
		t.Errorf("only %d faults", len(seen))
	}
}
