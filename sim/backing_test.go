package sim_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
)

const (
	ownModel = `{"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":8192,"tie_word_embeddings":false}`
	ownDevice = `name: mine
bf16_tflops: 1000
memory_tb_per_s: %v
memory_bytes: 85899345920
link_gb_per_s: 100
efficiency: {matmul: 1, weights: 1, kv: 1, attention: 1, step_us: 0, sequence_us: 0, api_us: 0, blend_exponent: 8}
`
)

func own(t *testing.T, bandwidth float64) sim.Options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"config.json": ownModel, "mine.yaml": fmt.Sprintf(ownDevice, bandwidth)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o, err := sim.ParseTarget("sim://" + filepath.Join(dir, "config.json") + "@" + filepath.Join(dir, "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A user's accelerator and model work, and a memory-bound decode takes what one
// works out by hand; twice the bandwidth halves it.
func TestOwnAcceleratorAndModel(t *testing.T) {
	// 6,979,588,096 parameters of layers and 525,336,576 of the LM head at 16 bit,
	// and 131,072 bytes of KV for each of 1,050.5 tokens on average (a prompt of
	// 1,000 and 100 answer tokens after the first): 15,147,540,480 bytes.
	const bytes = 2*(6_979_588_096+525_336_576) + 131_072*1050.5
	for _, bandwidth := range []float64{1, 2} {
		o := own(t, bandwidth)
		v := clock.NewVirtual(time.Unix(0, 0))
		e, err := sim.NewEngine(o, v)
		if err != nil {
			t.Fatal(err)
		}
		q := &sim.Request{Prompt: []sim.Span{{ID: 1, Tokens: 1000}}, MaxTokens: 101, Listener: &tally{}}
		if err := e.Submit(q); err != nil {
			t.Fatal(err)
		}
		v.Wait(clock.Forever)
		got := float64(q.Stats.LastToken-q.Stats.FirstToken) / 100 / 1e6
		want := bytes / (bandwidth * 1e12) * 1e3
		if math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%v TB/s: TPOT %.4f ms, by hand %.4f ms", bandwidth, got, want)
		}
	}
}

// What no measurement backs is said.
func TestBacking(t *testing.T) {
	o := own(t, 1)
	b := o.Backing()
	if !b.Custom || len(b.Warnings) != 2 || !strings.Contains(b.Warnings[0], "no measurement backs the accelerator mine") || !strings.Contains(b.Warnings[1], "no measurement backs the model") {
		t.Errorf("%+v", b)
	}
	o, err := sim.ParseTarget("sim://llama3-8b@l4")
	if err != nil {
		t.Fatal(err)
	}
	if b := o.Backing(); b.Custom || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], "no end-to-end measurement backs l4") {
		t.Errorf("%+v", b)
	}
}

// A version of the engine that measurements tell apart has its own pace; one
// that they do not know takes that of all, and is told.
func TestEngineVersion(t *testing.T) {
	const base = "sim://minimax-m2.5@h200?dtype=fp8&tp=8"
	tpot := func(target string) (float64, sim.Backing) {
		t.Helper()
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		v := clock.NewVirtual(time.Unix(0, 0))
		e, err := sim.NewEngine(o, v)
		if err != nil {
			t.Fatal(err)
		}
		q := &sim.Request{Prompt: []sim.Span{{ID: 1, Tokens: 1000}}, MaxTokens: 101, Listener: &tally{}}
		if err := e.Submit(q); err != nil {
			t.Fatal(err)
		}
		v.Wait(clock.Forever)
		return float64(q.Stats.LastToken-q.Stats.FirstToken) / 100, o.Backing()
	}
	m, err := catalog.FindModel("minimax-m2.5")
	if err != nil {
		t.Fatal(err)
	}
	p, ok := catalog.FindPreset("h200", "vllm", "fp8", &m)
	if !ok || len(p.Versions) != 2 {
		t.Fatalf("%+v", p.Versions)
	}
	all, b := tpot(base)
	if len(b.Warnings) != 0 {
		t.Errorf("%q", b.Warnings)
	}
	for _, v := range p.Versions {
		got, b := tpot(base + "&engine_version=" + v.Name)
		if math.Abs(got/all-v.Pace) > 1e-6 || v.Pace == 1 || len(b.Warnings) != 0 {
			t.Errorf("%s: %.6f of all, want %v; %q", v.Name, got/all, v.Pace, b.Warnings)
		}
	}
	got, b := tpot(base + "&engine_version=0.1")
	if got != all || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], "no measurement tells vllm 0.1 from other versions") {
		t.Errorf("%v, want %v; %q", got, all, b.Warnings)
	}
}
