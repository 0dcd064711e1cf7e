package main

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

// TestHostileNamesInPlans: a name from a file or a server writes neither
// control characters nor lines of its own.
func TestHostileNamesInPlans(t *testing.T) {
	s, err := scenario.Parse("s.yaml", []byte("target: {model: \"m\\e[32mPASS\\nnote  x\"}\n"), scenario.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	text := planText(s, runner.Plan{Model: "m\x1b[0m\nnote       all is well"})
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "\nnote       all") {
		t.Errorf("%q", text)
	}
	var b strings.Builder
	tell(&b, "%s", "\x1b[32mx")
	if b.String() != "?[32mx\n" {
		t.Errorf("%q", b.String())
	}
}
