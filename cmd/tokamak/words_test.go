package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// exits runs a program and expects an exit code: exits 2 tokamak run --rte 5.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

// metrics compares the metrics of two run directories: metrics A B.
func metrics(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: metrics A B")
	}
	var all [2]any
	for i, dir := range args {
		var s struct{ Metrics any }
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(dir+"/summary.json")), &s))
		all[i] = s.Metrics
	}
	switch diff := cmp.Diff(all[0], all[1]); {
	case neg && diff == "":
		ts.Fatalf("the metrics are the same")
	case !neg && diff != "":
		ts.Fatalf("the metrics differ:\n%s", diff)
	}
}

// awaitFile waits until a file is there: await FILE.
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for range 3000 {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() > 1000 {
			return
		}
		time.Sleep(10 * time.Millisecond) // another process writes it, in real time
	}
	ts.Fatalf("%s did not come", args[0])
}

// schema validates a file as summary.json: schema FILE.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema FILE")
	}
	s, err := jsonschema.NewCompiler().Compile("../../docs/summary.schema.json")
	ts.Check(err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(s.Validate(v))
}
