package scenario

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/load"
)

func TestFeedbackSettings(t *testing.T) {
	s := parse(t, `
target: {url: "sim://llama3-8b@h100-sxm", retries: 4, retry-on: "rejected, abandoned", backoff: "100ms..5s,factor=3,jitter=0.5"}
workload: {patience: exp:mean=10s}
load: {concurrency: 16, adapt: "ttft.p90/100ms,above=200ms,window=5s,floor=2", read-rate: 5.5, duration: 10s}
`, Flags{})
	if diff := cmp.Diff([]string{"rejected", "abandoned"}, s.Target.RetryOn); diff != "" {
		t.Error(diff)
	}
	if want := (load.Backoff{First: 100 * time.Millisecond, Cap: 5 * time.Second, Factor: 3, Jitter: 0.5}); s.Target.Backoff != want {
		t.Errorf("%+v", s.Target.Backoff)
	}
	if c := s.Workload.Config.Classes; len(c) != 1 || c[0].Patience.Mean() != 10 {
		t.Errorf("%+v", c)
	}
	if a := s.Load.Plan.Adapt; a == nil || a.Metric != "ttft" || a.Floor != 2 || s.Load.ReadRate != 5.5 {
		t.Errorf("%+v, %v tokens/s", a, s.Load.ReadRate)
	}
	frozen, err := s.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(frozen), Flags{})
	refrozen, err := again.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(json.RawMessage(frozen), refrozen); diff != "" {
		t.Error(diff)
	}
	if plan := parse(t, "target: {url: 'sim://llama3-8b@h100-sxm', retries: 1}", Flags{}); plan.Target.Backoff != load.DefaultBackoff() || len(plan.Target.RetryOn) != 3 {
		t.Errorf("without settings: %+v", plan.Target)
	}
}

func TestFeedbackErrors(t *testing.T) {
	for yaml, want := range map[string]string{
		"target: {retries: 1, retry-on: 'rejected,abandond'}": `"abandond" (abandoned?)`,
		"target: {retry-on: rejected}":                        "retry-on needs retries",
		"target: {backoff: 1s}":                               "backoff needs retries",
		"target: {retries: 1, backoff: 5s..1s}":               "s.yaml:1:31",
		"load: {rate: 1, adapt: e2e.p95/50ms}":                "adapt needs concurrency or stages",
		"load: {stages: 'rate=1:1s', adapt: e2e.p95/50ms}":    "closed loop",
		"load: {concurrency: 1, adapt: itl.p95/50ms}":         "expected one of e2e, ttft, tpot",
		"load: {concurrency: 1, read-rate: 0}":                "tokens/s from 1e-06 to 1e+06",
		"workload: {patience: 5}":                             "expected a duration with a unit",
	} {
		_, err := resolve("s.yaml", []byte(yaml), Flags{}, fake())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", yaml, err, want)
		}
	}
}
