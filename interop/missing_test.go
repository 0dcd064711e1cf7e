package interop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// importText imports a file with a text.
func importText(t *testing.T, from, text string) (*Source, *report.Summary, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Import(path, Options{From: from})
}

// Where no request of a file has an end, the run lasts until the last was
// sent: 2 s.
func TestNoRequestEnded(t *testing.T) {
	line := func(start string) string {
		return `{"metadata":{"request_start_ns":` + start + `},"metrics":{},"error":{"code":500}}` + "\n"
	}
	_, sum, err := importText(t, "aiperf", line("1764640000000000000")+line("1764640002000000000"))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Run.Duration != measure.Some(2000) || sum.Requests.Failed != 2 {
		t.Errorf("duration %v ms, %d failed", sum.Run.Duration, sum.Requests.Failed)
	}
}

// A moment that is missing among others is none at 0.
func TestAMissingStartIsNotZero(t *testing.T) {
	flat := func(starts string) string {
		return `{"backend":"vllm","model_id":"m","input_lens":[1,1],"output_lens":[2,2],"ttfts":[0.1,0.1],"itls":[[0.1],[0.1]],"errors":["",""],"start_times":` + starts + `}`
	}
	if _, _, err := importText(t, "vllm", flat("[500.0, null]")); err == nil || !strings.Contains(err.Error(), "start_times has no number at 1") {
		t.Errorf("%v", err)
	}
	if _, sum, err := importText(t, "vllm", flat("[500.0, 501.0]")); err != nil || sum.Run.Duration != measure.Some(1200) {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A duration below 0 is none, and what stands for it is said.
func TestNegativeDurationsAreNamed(t *testing.T) {
	s, sum, err := importText(t, "vllm", `{"backend":"vllm","model_id":"m","input_lens":[1,1],"output_lens":[2,2],"ttfts":[-5,0.1],"itls":[[0.1],[0.1]],"errors":["",""],
		"start_times":[500,501],"queue_times":[-0.5,-1]}`)
	if err != nil {
		t.Fatal(err)
	}
	notices := strings.Join(sum.Run.Notices, "\n")
	for _, want := range []string{"ttfts of 1 request: below 0 (the first is ttfts[0], -5 s), taken as not measured",
		"queue_times of 2 requests: below 0 (the first is queue_times[0], -0.5 s), taken as not measured"} {
		if !slices.Contains(s.Lost, want) || !strings.Contains(notices, want) {
			t.Errorf("%q is not in %q or %q", want, s.Lost, notices)
		}
	}
	if m := sum.Metrics["ttft"]; m.Count != 1 {
		t.Errorf("%d times to first token, want 1", m.Count)
	}
}

// What cannot be placed in time is counted where it is left out.
func TestRequestsWithoutAMomentAreCounted(t *testing.T) {
	s, sum, err := importText(t, "guidellm", `{"benchmarks":[{"requests":{"successful":[{"start_time":1,"end_time":2}],"errored":[{"error":"x"},{"error":"y"}]}}]}`)
	if err != nil || sum.Requests.Due != 1 || strings.Join(s.Doubts, "") != "2 requests of 3 without any moment, left out of every figure" {
		t.Errorf("%q, %v", s.Doubts, err)
	}
}

// A duration in a unit that nobody knows is no duration in ms.
func TestUnknownUnits(t *testing.T) {
	line := `{"metadata":{"request_start_ns":1},"metrics":{"time_to_first_token":{"value":2,"unit":"UNIT"}}}`
	for unit, want := range map[string]float64{"ns": 2e-6, "us": 2e-3, "ms": 2, "sec": 2000} {
		_, sum, err := importText(t, "aiperf", strings.Replace(line, "UNIT", unit, 1))
		if err != nil || sum.Metrics["ttft"].Max != measure.Some(want) {
			t.Errorf("%s: %v, %v", unit, sum, err)
		}
	}
	if _, _, err := importText(t, "aiperf", strings.Replace(line, "UNIT", "minutes", 1)); err == nil || !strings.Contains(err.Error(), `got "minutes"`) {
		t.Errorf("%v", err)
	}
}

// A secret is hidden before a long text is cut, since half of a URL is none.
func TestNoSecretInAnErrorText(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", mostError-20) + " https://user:topsecretword@host/v1",
		"401: Authorization: Bearer topsecretword9",
		strings.Repeat("x", mostError-12) + " sk-topsecretword",
	} {
		var a record.Attempt
		if failure(&a, text); strings.Contains(a.ErrorText, "tops") || len(a.ErrorText) > mostError {
			t.Errorf("%q", a.ErrorText)
		}
	}
}

// What a tool does not call a failure and yet is none of its successes: an
// answer without a token, a request that was cut, one that was never sent.
func TestWhatIsNoSuccess(t *testing.T) {
	_, sum, err := importText(t, "vllm", `{"backend":"vllm","model_id":"m","input_lens":[1,1],"output_lens":[2,0],"ttfts":[0.1,0.0],"itls":[[0.1],[]],"errors":["",""]}`)
	if err != nil || sum.Requests.OK != 1 || sum.Requests.Failed != 1 {
		t.Errorf("vllm: %+v, %v", sum, err)
	}
	src, sum, err := importText(t, "guidellm", `{"benchmarks":[{"requests":{"successful":[{"start_time":1,"end_time":2}],
		"incomplete":[{"info":{"timings":{"targeted_start":1,"request_start":1.5,"first_token_iteration":-1,"request_end":3}}},
			{"info":{"timings":{"targeted_start":2,"request_start":null}}}]}}]}`)
	if err != nil || sum.Requests.Due != 3 || sum.Requests.OK != 1 || sum.Requests.Cut != 1 || sum.Requests.Unsent != 1 || sum.Requests.Failed != 0 {
		t.Errorf("guidellm: %+v, %v", sum, err)
	}
	if err == nil && len(src.Doubts) > 0 { // −1 is how a moment is written that was not reached
		t.Errorf("guidellm: %q", src.Doubts)
	}
}

// Requests of a warm-up are none of the run's, and the reader is told.
func TestWarmUpIsLeftOut(t *testing.T) {
	line := func(phase string) string {
		return `{"metadata":{"benchmark_phase":"` + phase + `","request_start_ns":5,"request_end_ns":9},"metrics":{}}` + "\n"
	}
	s, sum, err := importText(t, "aiperf", line("warmup")+line("profiling")+line("warmup"))
	if err != nil || sum.Requests.Due != 1 || !strings.Contains(strings.Join(s.Lost, "\n"), "2 records of the warm-up phase") {
		t.Errorf("%+v, %v", s, err)
	}
}

// Of a file without moments there is no rate, in our summary or in an export.
func TestNoRateWithoutMoments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	path := filepath.Join(t.TempDir(), "f.json")
	text := `{"backend":"sglang","dataset_name":"d","input_lens":[1,1],"output_lens":[2,2],"ttfts":[0.1,0.2],"itls":[[0.1],[0.1]],"errors":["",""]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, sum, err := Import(path, Options{From: "sglang", Out: dir})
	if err != nil || sum.Metrics["request_rate"].Value.Valid() || sum.Run.Duration.Valid() {
		t.Fatalf("%+v, %v", sum, err)
	}
	got := flatten(t, export(t, dir, "vllm"))
	for _, name := range []string{"request_throughput", "output_throughput", "total_token_throughput", "duration"} {
		if x, ok := got[name]; ok {
			t.Errorf("%s is %v", name, x)
		}
	}
	if got["completed"] != 2. || got["mean_ttft_ms"] != 150. {
		t.Errorf("%v completed, ttft %v", got["completed"], got["mean_ttft_ms"])
	}
}
