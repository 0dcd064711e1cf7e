package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the command too, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tokamak": main})
}

// TestScripts runs testdata/*.txtar: what a user types and sees.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "metrics": metrics, "await": awaitFile, "schema": schema},
	})
}
