package load

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
)

func TestParseStages(t *testing.T) {
	got := mustStages(t, "rate=5:30s, rate=5..20.5:2m,rate=20:500req ,users=0..50:1m")
	want := []Stage{
		{Mode: OpenLoop, From: 5, To: 5, Duration: 30 * time.Second},
		{Mode: OpenLoop, From: 5, To: 20.5, Duration: 2 * time.Minute},
		{Mode: OpenLoop, From: 20, To: 20, Requests: 500},
		{Mode: ClosedLoop, From: 0, To: 50, Duration: time.Minute},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrors(t *testing.T) {
	stages := func(s string) error { _, err := ParseStages(s); return err }
	arrival := func(s string) error { _, err := ParseArrival(s); return err }
	for _, c := range []struct {
		parse  func(string) error
		input  string
		column int
		says   string
	}{
		{stages, "", 1, "expected rate=R:DURATION"},
		{stages, "rate=5:30s,", 12, "expected rate=R:DURATION"},
		{stages, "speed=5:30s", 1, "expected rate=R:DURATION"},
		{stages, "rate=5", 7, "expected : and a duration"},
		{stages, "rate=x:30s", 6, "expected a rate"},
		{stages, "rate=-1:30s", 6, "expected a rate"},
		{stages, "rate=NaN:30s", 6, "expected a rate"},
		{stages, "rate=2e6:30s", 6, "expected a rate"},
		{stages, "rate=5..y:30s", 9, "expected a rate"},
		{stages, "users=2.5:30s", 7, "a whole number of users"},
		{stages, "rate=5:30", 8, "expected a duration above 0"},
		{stages, "rate=5:-3s", 8, "expected a duration above 0"},
		{stages, "rate=5:0req", 8, "expected a number of requests"},
		{stages, "rate=5..6:9req", 11, "a ramp needs a duration"},
		{stages, "rate=5:30s, rate=5:x", 20, "expected a duration above 0"},
		{arrival, "uniform", 1, "expected poisson, constant or gamma"},
		{arrival, "gamma", 7, "expected cv=NUMBER"},
		{arrival, "gamma:cv=0", 10, "expected a cv above 0"},
		{arrival, "gamma:cv=x", 10, "expected a cv above 0"},
	} {
		err := c.parse(c.input)
		var e *stat.SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v is no syntax error", c.input, err)
			continue
		}
		if e.Column != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: column %d, %q; want column %d, %q", c.input, e.Column, e.Message, c.column, c.says)
		}
	}
}

func TestArrivalForms(t *testing.T) {
	for _, s := range []string{"poisson", "constant", "gamma:cv=2", "gamma:cv=0.25"} {
		a, err := ParseArrival(s)
		if err != nil || a.String() != s {
			t.Errorf("%q: %v, %v", s, a, err)
		}
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	open := Stage{Mode: OpenLoop, From: 1, To: 1, Duration: time.Second}
	users := Stage{Mode: ClosedLoop, From: 1, To: 1, Duration: time.Second}
	for says, p := range map[string]Plan{
		"needs a stage":            {},
		"stage 1: is neither":      {Stages: []Stage{{From: 1, To: 1, Duration: 1}}},
		"stage 2: needs a":         {Stages: []Stage{open, {Mode: OpenLoop, From: 1, To: 1}}},
		"stage 1: is a ramp":       {Stages: []Stage{{Mode: OpenLoop, From: 1, To: 2, Requests: 5}}},
		"stage 1: sends nothing":   {Stages: []Stage{{Mode: OpenLoop, Requests: 5}}},
		"stage 1: expected a rate": {Stages: []Stage{{Mode: OpenLoop, From: math.NaN(), Duration: 1}}},
		"whole number of users":    {Stages: []Stage{{Mode: ClosedLoop, From: .5, To: .5, Duration: 1}}},
		"only the last may end":    {Stages: []Stage{{Mode: ClosedLoop, From: 1, To: 1, Duration: 5, Requests: 5}, users}},
		"in front of another":      {Stages: []Stage{{Mode: ClosedLoop, From: 1, To: 1, Requests: 5}, users}},
		"ten years":                {Stages: []Stage{{Mode: OpenLoop, From: 1, To: 1, Duration: 1 << 62}}},
		"negative length":          {Stages: []Stage{{Mode: OpenLoop, From: 1, To: 1, Duration: -1}}},
		"expected a cv":            {Stages: []Stage{open}, Arrival: Arrival{Process: GammaGaps}},
		"number of requests":       {Stages: []Stage{open}, MaxRequests: -1},
	} {
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}

func FuzzParseStages(f *testing.F) {
	for _, s := range []string{"rate=5:30s,rate=20:30s", "rate=5..20:30s", "users=10:30s", "rate=2:30req, users=1..3:1m", "rate=1e3:1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		stages, err := ParseStages(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		var forms []string
		for _, g := range stages {
			forms = append(forms, g.String())
		}
		again, err := ParseStages(strings.Join(forms, ","))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stages, again); diff != "" {
			t.Fatalf("%q: %s", s, diff)
		}
		p := Plan{Stages: stages, MaxRequests: 1000}
		p.Describe()
		for _, g := range stages {
			if g.Requests > 10_000 || g.From+g.To > 10_000 {
				return // sound, but slow to draw
			}
		}
		source, err := New(p)
		if err != nil {
			return
		}
		for range 1000 {
			if _, state := source.Peek(); state != Ready {
				return
			}
			source.Pop()
		}
	})
}

func checkSyntaxError(t *testing.T, s string, err error) {
	t.Helper()
	var e *stat.SyntaxError
	if !errors.As(err, &e) || e.Column < 1 || e.Column > len(s)+1 {
		t.Fatalf("%q: %#v", s, err)
	}
}
