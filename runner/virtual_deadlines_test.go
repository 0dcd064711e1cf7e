package runner

import (
	"context"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
)

// virtually runs flags in virtual time and returns the rows' outcomes by class.
func virtually(t *testing.T, f scenario.Flags) (map[record.Outcome]int, map[string]int, time.Duration) {
	t.Helper()
	f.URL = []string{"sim://llama3-8b@a100-80g?freeze=2s:5s"}
	virtual, none, rate, requests := true, "none", "10", "40"
	f.Virtual, f.Out, f.Rate, f.Requests = &virtual, &none, &rate, &requests
	s, err := scenario.FromFlags(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(context.Background(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sum, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[record.Outcome]int{}
	for o, n := range sum.Requests.ByOutcome {
		outcomes[record.Outcome(o)] = n
	}
	d, _ := sum.Run.Duration.Get()
	return outcomes, sum.Requests.Attempts.ByErrorClass, time.Duration(d * 1e6)
}

// TestDeadlinesHoldInVirtualTime: the engine stands still for 5 s.
func TestDeadlinesHoldInVirtualTime(t *testing.T) {
	second := "1s"
	for name, f := range map[string]scenario.Flags{
		"timeout_first_token": {TimeToken: &second},
		"timeout_stall":       {TimeStall: &second},
	} {
		outcomes, classes, _ := virtually(t, f)
		if classes[name] == 0 || outcomes[record.Timeout] != classes[name] || outcomes[record.OK] == 0 {
			t.Errorf("%s: outcomes %v, classes %v", name, outcomes, classes)
		}
	}
	if outcomes, classes, _ := virtually(t, scenario.Flags{}); outcomes[record.OK] != 40 {
		t.Errorf("with limits beyond the freeze: %v, %v", outcomes, classes)
	}
}
