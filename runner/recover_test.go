package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
)

// TestRecoveredRunIsJudgedTheSame takes what is written at the end from a
// finished run: recovering it must measure the same figures.
func TestRecoveredRunIsJudgedTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	rate, requests, virtual := "8", "300", true
	s, err := scenario.FromFlags(scenario.Flags{URL: []string{"sim://llama3-8b@a100-80g"}, Virtual: &virtual, Rate: &rate, Requests: &requests,
		Out: &dir, SLO: []string{"ttft.p99<800ms"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(t.Context(), s, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, err := r.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{record.SummaryFile, "requests.parquet"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got, found, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if found.Ended != 300 || got == nil {
		t.Fatalf("found %+v", found)
	}
	if diff := cmp.Diff(want.Metrics, got.Metrics); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.SLO, got.SLO); diff != "" {
		t.Error(diff)
	}
	b, err := os.ReadFile(filepath.Join(dir, record.SummaryFile))
	if err != nil || !json.Valid(b) {
		t.Fatalf("summary.json: %v", err)
	}
	if again, _, err := Recover(dir); err != nil || again != nil {
		t.Errorf("a second time: %v, %v", again, err)
	}
}
