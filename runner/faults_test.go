package runner_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
	"github.com/tokamak-bench/tokamak/workload"
)

type rows chan *runner.Call

func (r rows) Ended(c *runner.Call) { r <- c }

// TestFaults holds the row of every fault against what the fault states, by
// both ways of wire.
func TestFaults(t *testing.T) {
	for name, open := range map[string]func(wire.Config) (wire.Transport, error){
		"best":    wire.New,
		"nethttp": func(c wire.Config) (wire.Transport, error) { return wire.NewNetHTTP(c), nil },
	} {
		t.Run(name, func(t *testing.T) {
			server := wiretest.NewFaultServer(t)
			c := clock.NewReal()
			defer c.Close()
			tr, err := open(wire.Config{Clock: c, Reuse: wire.Fresh})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			sinks := map[string]rows{}
			for _, f := range server.Faults {
				if f.Warmups == 0 {
					sinks[f.Name] = startFault(t, tr, f)
				}
			}
			for _, f := range server.Faults {
				if f.Warmups > 0 {
					continue
				}
				t.Run(f.Name, func(t *testing.T) {
					select {
					case call := <-sinks[f.Name]:
						checkFault(t, f, &call.Row)
					case <-time.After(30 * time.Second):
						t.Fatal("never ended")
					}
				})
			}
		})
	}
}

func startFault(t *testing.T, tr wire.Transport, f wiretest.Fault) rows {
	t.Helper()
	base, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	driver, err := openai.New(openai.APIChat, openai.Options{Base: base, Model: "fault-model", Limits: f.Limits})
	if err != nil {
		t.Fatal(err)
	}
	target := &runner.HTTP{Name: f.Name, Driver: driver, Transport: tr}
	call := &runner.Call{Spec: &workload.Request{OutputTokens: 8, Body: []byte(`{"messages":[{"role":"user","content":"one two three"}]}`)}}
	if err := target.Prepare(call); err != nil {
		t.Fatal(err)
	}
	sink := make(rows, 1)
	target.Start(call, sink)
	return sink
}

func checkFault(t *testing.T, f wiretest.Fault, row *record.Attempt) {
	t.Helper()
	if string(row.Outcome) != f.Outcome || row.ErrorClass != f.ErrorClass {
		t.Errorf("outcome %s, error class %q (%s), violations %v, notes %v; want %s, %q", row.Outcome, row.ErrorClass, row.ErrorText, row.Violations, row.Notes, f.Outcome, f.ErrorClass)
	}
	for _, want := range f.Violations {
		if !slices.Contains(row.Violations, want) {
			t.Errorf("violations %v lack %s", row.Violations, want)
		}
	}
	for _, want := range f.Notes {
		if !slices.Contains(row.Notes, want) {
			t.Errorf("notes %v lack %s", row.Notes, want)
		}
	}
	if row.Outcome == record.OK && len(row.Violations) > 0 {
		t.Errorf("a success has violations %v", row.Violations)
	}
	if row.Outcome == record.OK && len(f.Notes) == 0 && len(row.Notes) > 0 {
		t.Errorf("notes %v, want none", row.Notes)
	}
}
