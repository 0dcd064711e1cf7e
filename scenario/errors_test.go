package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestErrors reads pairs of a bad scenario and what is said of it.
func TestErrors(t *testing.T) {
	name := filepath.Join("testdata", "errors.txtar")
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		t.Run(strings.TrimSuffix(in.Name, ".yaml"), func(t *testing.T) {
			_, err := resolve("s.yaml", in.Data, Flags{}, fake())
			if err == nil {
				t.Fatal("no error")
			}
			got := err.Error() + "\n"
			if *update {
				want.Data = []byte(got)
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{Flags{Rate: new("0")}, "--rate: expected requests/s above 0, got \"0\""},
		{Flags{Rate: new("5"), Concurrency: new("5")}, "--concurrency: concurrency and rate exclude each other"},
		{Flags{Duration: new("30")}, "--duration: expected a duration with its unit, such as 500ms, 30s or 2m, got 30 without a unit"},
		{Flags{Stages: new("rate=5:30s,rate=x:1s")}, "--stages: column 17 of \"rate=5:30s,rate=x:1s\": expected a rate of 0 or from 1e-6 to 1e+06 requests/s, found \"x\""},
		{Flags{URL: []string{"localhost:8000"}}, "--url: expected a URL such as http://localhost:8000, unix:///run/llm.sock or sim://llama3-8b@a100-80g; the scheme is missing"},
		{Flags{URL: []string{"http://u:hunter2@h:x"}}, "--url: expected a URL such as http://localhost:8000, unix:///run/llm.sock or sim://llama3-8b@a100-80g; this is no URL"},
		{Flags{Body: new("{secret")}, "--body: expected a JSON object such as {\"top_p\": 0.9}"},
		{Flags{APIKeyEnv: new("NOPE")}, "--api-key-env: the environment variable NOPE is not set"},
		{Flags{OutputMode: new("exakt")}, "--output-mode: expected one of exact, cap (exact?), got \"exakt\""},
		{Flags{Speed: new("3")}, "--speed: speed needs dataset"},
		{Flags{Think: new("3s")}, "--think: think needs concurrency or stages"},
		{Flags{URL: []string{"http://a"}, Virtual: new(bool)}, ""},
	} {
		_, err := resolve("", nil, c.flags, fake())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
