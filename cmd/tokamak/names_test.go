package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
)

// canary is a name that a log has and a run must not show.
const canary = "qkanary-jane.doe"

// namingLogs are logs of two requests of canary and one of another, in the
// fields where each gateway has names.
var namingLogs = map[string]string{
	"nginx":   `{"msec":"1767225602.5","remote_user":"%s","request":"POST /v1/chat/completions HTTP/1.1","status":"200","request_time":"0.1","request_id":"n%d","request_body":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"max_tokens\":6}"}`,
	"kong":    `{"started_at":1767225600123,"request":{"id":"9%[2]d","uri":"/v1/chat/completions","method":"POST"},"response":{"status":200},"latencies":{"request":2612},"consumer":{"username":"%[1]s","id":"c1"},"ai":{"proxy":{"usage":{"prompt_tokens":28,"completion_tokens":20}}}}`,
	"litellm": `{"id":"c%[2]d","call_type":"acompletion","status":"success","startTime":1767225600.25,"endTime":1767225603.5,"model":"m","metadata":{"session_id":"%[1]s"},"end_user":"%[1]s","prompt_tokens":12,"completion_tokens":34}`,
	"otel":    `{"spanId":"b%[2]d","name":"chat m","startTimeUnixNano":"1767225600250000000","endTimeUnixNano":"1767225603500000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"enduser.id","value":{"stringValue":"%[1]s"}},{"key":"gen_ai.conversation.id","value":{"stringValue":"%[1]s"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"4"}}]}`,
	"own":     `{"id":"r%[2]d","tenant":"%[1]s","session_id":"%[1]s","input_tokens":7,"output_tokens":3}`,
}

// TestNamesOfALogAreHidden: nothing that a run writes or says holds a name of
// its log, unless that was asked for.
func TestNamesOfALogAreHidden(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc((&guarded{}).ServeHTTP))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "hunter2")
	for format, line := range namingLogs {
		for _, target := range []string{"--virtual", "--url=" + server.URL} {
			t.Run(format+target[:5], func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "log")
				var log strings.Builder
				for i, who := range []string{canary, "other", canary} {
					fmt.Fprintf(&log, line+"\n", who, i)
				}
				fmt.Fprintf(&log, "{\"tenant\":\"%s\", \"x\n", canary) // a line that breaks off
				if err := os.WriteFile(name, []byte(log.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				args := []string{"run", target, "--dataset", name, "--concurrency", "1", "--max-bad", "50%", "--save-outputs"}
				dir := filepath.Join(t.TempDir(), "hidden")
				if said := ran(t, dir, append(args, "--out", dir)); strings.Contains(said, canary) {
					t.Error("the name is there:", excerpt(said))
				}
				if got := tenants(t, dir); got != "tenant-1 tenant-2 tenant-1" {
					t.Error(got)
				}
				kept := filepath.Join(t.TempDir(), "kept")
				if said := ran(t, kept, append(args, "--out", kept, "--keep-names")); !strings.Contains(said, canary) {
					t.Error("the name was asked for and is not there")
				}
				if got := tenants(t, kept); got != canary+" other "+canary {
					t.Error(got)
				}
			})
		}
	}
}

// ran runs a command and returns what it printed and all files of a
// directory, packed ones by their rows.
func ran(t *testing.T, dir string, args []string) string {
	t.Helper()
	var out, err bytes.Buffer
	if code := command(t.Context(), args, streams{os.Stdin, &out, &err}); code != exit.OK {
		t.Fatalf("exit %d: %s%s", code, out.String(), err.String())
	}
	all := out.String() + err.String()
	walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all += "\n" + path + "\n" + string(b)
		return err
	})
	if walk != nil {
		t.Fatal(walk)
	}
	for _, a := range rows(t, dir) {
		all += fmt.Sprintf("\nrow %+v", a)
	}
	return all
}

func rows(t *testing.T, dir string) []*record.Attempt {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []*record.Attempt
	for a, err := range r.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Clone())
	}
	return all
}

func tenants(t *testing.T, dir string) string {
	t.Helper()
	all := rows(t, dir)
	names := make([]string, len(all))
	for _, a := range all {
		names[a.RequestID] = a.Tenant
	}
	return strings.Join(names, " ")
}

func excerpt(s string) string {
	i := strings.Index(s, canary)
	return s[max(0, i-200):min(len(s), i+100)]
}
