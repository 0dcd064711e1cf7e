package interop

import (
	"os"
	"path/filepath"
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
