package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoSecretReachesTheDirectory(t *testing.T) {
	const secret = `sk-"se<cret`
	m := testManifest()
	m.Command = []string{"tokamak", "run", "--url", "https://joe:sk-url@host/v1", "--header", "X-Key: sk-header", "--header=X-B: sk-b",
		"--body", `{"k":"sk-body"}`, "--api-key", "sk-flag", "--proxy=http://u:sk-proxy@p:1", "--rate", "3"}
	m.Scenario = json.RawMessage(`{"target":{"url":"http://u:sk-t@h/v1?x=1","headers":{"X-Key":"sk-h"},"header":["A: sk-i"],"body":{"a":["sk-j",1]},"api_key":"sk-k"},
		"load":{"rate":2},"workload":{"tokenizer":"sk-stays"}}`)
	m.Targets = []TargetFacts{{URL: "http://:sk-only@h"}}
	m.Notices = []string{"the server said " + secret}
	w, err := Create(filepath.Join(t.TempDir(), "run"), m, Options{Secrets: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	a := sampleAttempt(1, 1)
	a.ErrorText, a.Notes = "bad key "+secret, []string{secret}
	if err := w.Ended(a); err != nil {
		t.Fatal(err)
	}
	if err := w.Event(Event{Kind: NoticeEvent, Detail: map[string]any{"said": secret}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(w.Dir(), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "sk-stays", "")
		if i := strings.Index(text, "sk-"); i >= 0 {
			t.Errorf("%s: ...%.60q", e.Name(), text[max(0, i-30):])
		}
	}
	got := open(t, w.Dir()).Manifest()
	want := []string{"tokamak", "run", "--url", "https://%5Bredacted%5D@host/v1", "--header", "X-Key: [redacted]", "--header=X-B: [redacted]",
		"--body", "[redacted]", "--api-key", "[redacted]", "--proxy=http://%5Bredacted%5D@p:1", "--rate", "3"}
	if diff := cmp.Diff(want, got.Command); diff != "" {
		t.Error(diff)
	}
	var scenario, expected any
	_ = json.Unmarshal(got.Scenario, &scenario)
	_ = json.Unmarshal([]byte(`{"target":{"url":"http://%5Bredacted%5D@h/v1?x=redacted","headers":{"X-Key":"[redacted]"},"header":["A: [redacted]"],
		"body":{"a":["[redacted]","[redacted]"]},"api_key":"[redacted]"},"load":{"rate":2},"workload":{"tokenizer":"sk-stays"}}`), &expected)
	if diff := cmp.Diff(expected, scenario); diff != "" {
		t.Error(diff)
	}
}

func TestLabels(t *testing.T) {
	l := Labels("b", `x"y,z=`, "a", "1")
	if l != `a="1",b="x\"y,z="` {
		t.Error(l)
	}
	for name, want := range map[string]string{"a": "1", "b": `x"y,z=`, "c": ""} {
		if got, ok := Label(l, name); got != want || ok != (name != "c") {
			t.Errorf("%s: %q %v", name, got, ok)
		}
	}
}

// TestScrub: a text for people is as free of secrets as a row.
func TestScrub(t *testing.T) {
	got := Scrub(`bad key "sk-1\"2" at http://user:pw@host/v1`, []string{`sk-1"2`})
	if strings.Contains(got, "sk-1") || strings.Contains(got, "pw") {
		t.Error(got)
	}
}

func TestQueriesOfURLsAreSecret(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:1/v1?api_key=K&api-version=2&x": "http://h:1/v1?api_key=redacted&api-version=2&x",
		"--url=https://u:p@h?key=K#f":             "--url=https://%5Bredacted%5D@h?key=redacted#f",
		"sim://llama3-8b@a100-80g?seed=1":         "sim://llama3-8b@a100-80g?seed=1",
		"what? nothing=here":                      "what? nothing=here",
	} {
		if got := RedactURL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
