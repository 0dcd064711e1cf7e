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
		{Flags{Rate: new("1e9")}, "--rate: expected a rate of 0 or from 1e-6 to 1e+06 requests/s, found 1e+09"},
		{Flags{Rate: new("1_000")}, "--rate: expected requests/s above 0, got \"1_000\""},
		{Flags{Rate: new("1"), Duration: new("999999h")}, "--duration: expected a duration of at most ten years, got \"999999h\""},
		{Flags{InputTokens: new("0")}, "--input-tokens: expected at least 1 token, got \"0\""},
		{Flags{OutputTokens: new("uniform:-5..5")}, "--output-tokens: expected at least 1 token, got \"uniform:-5..5\""},
		{Flags{Turns: new("-1")}, "--turns: expected at least 1 turn, got \"-1\""},
		{Flags{OutputTokens: new("uniform:0..5@1..")}, ""},
		{Flags{SLO: []string{"error_rate<1%, goodput>1/s"}}, "--slo: column 16 of \"error_rate<1%, goodput>1/s\": goodput>1/s needs an objective on a percentile of a latency beside it, such as ttft.p99<800ms: it says which requests are good"},
		{Flags{SLO: []string{"goodput>1/s, ttft.p99<1s"}}, ""},
		{Flags{SLO: []string{"request_rate_per_gpu>1/s"}}, "--slo: column 1 of \"request_rate_per_gpu>1/s\": request_rate_per_gpu>1/s needs gpus, the number of accelerators behind the target"},
		{Flags{SLO: []string{"request_rate_per_gpu>1/s"}, GPUs: new("2")}, ""},
		{Flags{SLO: []string{"held.p50<1s"}}, "--slo: column 1 of \"held.p50<1s\": held.p50<1s needs max-in-flight: without a cap nothing is held"},
		{Flags{SLO: []string{"steady.ttft.p99<1s"}, Stages: new("rate=1:5s,rate=2:5s")}, "--slo: column 1 of \"steady.ttft.p99<1s\": steady.ttft.p99<1s has no steady window to look at: the load has several stages"},
		{Flags{Abort: new("errors>=5, goodput<1/s")}, "--abort: column 12 of \"errors>=5, goodput<1/s\": goodput<1/s cannot be seen while the run goes on"},
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
