package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/sim"
)

// TestReasoningIsAskedAndUsed: what the model of traffic wants and what the
// server reported stand in each row, served and in virtual time; without the
// setting neither does.
func TestReasoningIsAskedAndUsed(t *testing.T) {
	model := filepath.Join(t.TempDir(), "traffic.yaml")
	err := os.WriteFile(model, []byte(`schema: tokamak.traffic/1
duration: 10s
clients:
  - name: a
    rate: 2
    lengths: {input-tokens: 50, output-tokens: 40}
    reasoning: empirical:0=0,0.5=0,0.5001=0.5,1=0.5
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	server := engineAt(t)
	for _, c := range []struct {
		target, reasoning string
		on                int64
	}{
		{"--virtual", "enable_thinking", 20}, {"--url=" + server, "enable_thinking", 20}, {"--url=" + server, "reasoning_effort=high/none", 30},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		reasoningRun(t, "run", c.target, "--traffic", model, "--concurrency", "2", "--requests", "16", "--reasoning", c.reasoning, "--out", dir, "-q")
		asked := map[int64]int{}
		for _, a := range rows(t, dir) {
			n, said := a.ReasoningAsked.Get()
			want := int64(0)
			if n > 0 {
				want = c.on
			}
			kinds := slices.Contains(a.Chunks.Kind, record.ReasoningChunk)
			if asked[n]++; !said || a.ReasoningUsage != record.Some(want) || kinds != (n > 0) || a.OutputUsage != record.Some(int64(40)) ||
				(a.FirstAnswer.Or(0) > a.FirstToken.Or(0)) != (n > 0) {
				t.Errorf("%v: asked %v, used %v of %v, kinds %v", c, a.ReasoningAsked, a.ReasoningUsage, a.OutputUsage, kinds)
			}
		}
		if len(asked) != 2 || asked[0] < 3 || asked[20] < 3 {
			t.Errorf("%v: %v", c, asked)
		}
	}
	dir := filepath.Join(t.TempDir(), "plain")
	reasoningRun(t, "run", "--url="+server, "--traffic", model, "--concurrency", "2", "--requests", "4", "--out", dir, "-q")
	for _, a := range rows(t, dir) {
		if a.ReasoningAsked.Valid() || a.ReasoningUsage.Valid() {
			t.Errorf("without the setting: %v %v", a.ReasoningAsked, a.ReasoningUsage)
		}
	}
}

// engineAt serves a simulated engine until the test ends.
func engineAt(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o, err := sim.ParseTarget("sim://llama3-8b@a100-80g?engine=vllm")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- sim.Serve(ctx, l, o, sim.ServeOptions{}) }()
	t.Cleanup(func() { stop(); <-ended })
	return "http://" + l.Addr().String()
}

func reasoningRun(t *testing.T, args ...string) {
	t.Helper()
	var out, err bytes.Buffer
	if code := command(t.Context(), args, streams{os.Stdin, &out, &err}); code != exit.OK && code != exit.Inconclusive {
		t.Fatalf("exit %d: %s%s", code, out.String(), err.String())
	}
}
