package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestReasoningOfRows: rows that had reasoning are sent with the switch on,
// those that had none with it off, and those that do not tell without it, which
// is said; without the setting none is sent, which is said.
func TestReasoningOfRows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	text := `{"id":"on","input_tokens":50,"output_tokens":40,"reasoning_tokens":20}
{"id":"off","input_tokens":50,"output_tokens":40,"reasoning_tokens":0}
{"id":"untold","input_tokens":50,"output_tokens":40}
{"id":"body","body":{"messages":[{"role":"user","content":"a"}],"max_tokens":40},"reasoning_tokens":20}
`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := engineAt(t)
	const unsent, untold = "2 rows of the dataset with reasoning, which is not sent", "1 row of the dataset not telling whether its answer had reasoning"
	for _, c := range []struct {
		target string
		flags  []string
		said   string
		asked  map[string]record.Int
	}{
		{"--virtual", []string{"--reasoning=enable_thinking"}, untold, map[string]record.Int{"on": record.Some(20), "off": record.Some(0), "untold": {}, "body": record.Some(20)}},
		{"--url=" + server, []string{"--reasoning=enable_thinking"}, untold, map[string]record.Int{"on": record.Some(20), "off": record.Some(0), "untold": {}, "body": record.Some(20)}},
		{"--url=" + server, nil, unsent, map[string]record.Int{"on": {}, "off": {}, "untold": {}, "body": {}}},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		said := reasoningRun(t, append([]string{"run", c.target}, append(c.flags, "--dataset", name, "--concurrency", "1", "--out", dir)...)...)
		if !strings.Contains(said, c.said) {
			t.Errorf("%s %v: %s", c.target, c.flags, said)
		}
		got := map[string]record.Int{}
		for _, a := range rows(t, dir) {
			got[a.SourceID] = a.ReasoningAsked
			if used := a.ReasoningUsage; used != a.ReasoningAsked {
				t.Errorf("%s: %s used %v of %v", c.target, a.SourceID, used, a.ReasoningAsked)
			}
		}
		if diff := cmp.Diff(c.asked, got, cmp.Comparer(func(a, b record.Int) bool { return a == b })); diff != "" {
			t.Error(c.target, diff)
		}
	}
}

// TestServedAndVirtualSendAlike: prompts of later turns are as long, and as
// much of them can be reused, in virtual time as over HTTP from the same seed:
// what was reasoned does not come back, and nothing is where none was asked for.
func TestServedAndVirtualSendAlike(t *testing.T) {
	file := func(name, text string) string {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	model := file("traffic.yaml", `schema: tokamak.traffic/1
duration: 10s
clients:
  - name: a
    rate: 1
    lengths: {input-tokens: 50, output-tokens: 40}
    reasoning: 0.5
    sessions: {turns: 3}
`)
	lengths := file("lengths.jsonl", `{"session_id":"a","input_tokens":50,"output_tokens":40,"reasoning_tokens":20,"turns":[{"input_tokens":9,"output_tokens":20,"reasoning_tokens":0},{"input_tokens":7,"output_tokens":30}]}
{"session_id":"b","input_tokens":60,"output_tokens":20,"reasoning_tokens":10,"turns":[{"input_tokens":9,"output_tokens":20,"reasoning_tokens":10},{"input_tokens":7,"output_tokens":30}]}
`)
	deltas := file("deltas.jsonl", `{"session_id":"a","input_tokens":50,"output_tokens":40,"reasoning_tokens":20}
{"session_id":"a","input_tokens":9,"delta":true,"output_tokens":20,"reasoning_tokens":10}
{"session_id":"a","input_tokens":7,"delta":true,"output_tokens":30}
`)
	server := engineAt(t)
	for what, c := range map[string]struct {
		flags []string
		last  int64 // prompt of the first session's third turn, by hand
	}{
		"synthetic":               {[]string{"--input-tokens=30", "--output-tokens=20", "--turns=3"}, 130},
		"model":                   {[]string{"--traffic", model}, 230},
		"model, switched":         {[]string{"--traffic", model, "--reasoning=enable_thinking"}, 190},
		"lengths":                 {[]string{"--dataset", lengths}, 126},
		"lengths, switched":       {[]string{"--dataset", lengths, "--reasoning=enable_thinking"}, 106},
		"new text alone":          {[]string{"--dataset", deltas}, 96},
		"new text alone, told on": {[]string{"--dataset", deltas, "--reasoning=enable_thinking"}, 96},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var sent []map[string][3]record.Int
			for _, target := range []string{"--url=" + server, "--virtual"} {
				dir := filepath.Join(t.TempDir(), "run")
				reasoningRun(t, append([]string{"run", target, "--concurrency=1", "--requests=6", "--out", dir}, c.flags...)...)
				list := map[string][3]record.Int{}
				for i, a := range rows(t, dir) {
					list[fmt.Sprint(a.SessionID, "/", a.Turn)] = [3]record.Int{a.PromptAsked, a.PromptShared, a.PromptUsage}
					if i == 2 && a.PromptAsked != record.Some(c.last) {
						t.Errorf("%s: a third prompt of %v, by hand %d", target, a.PromptAsked, c.last)
					}
				}
				sent = append(sent, list)
			}
			if diff := cmp.Diff(sent[0], sent[1], cmp.Comparer(func(a, b record.Int) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
		})
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

func reasoningRun(t *testing.T, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if code := command(t.Context(), args, streams{os.Stdin, &out, &err}); code != exit.OK && code != exit.Inconclusive {
		t.Fatalf("exit %d: %s%s", code, out.String(), err.String())
	}
	return out.String() + err.String()
}
