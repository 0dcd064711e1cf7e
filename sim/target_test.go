package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/core"
)

func TestParseTarget(t *testing.T) {
	o, err := sim.ParseTarget("sim://meta-llama/Llama-3.1-8B-Instruct@4090?engine=vllm&seed=7&gpu-memory-utilization=0.9&freeze=5s:2s&fail=250/256:502&reject=10%25:3&dtype=bfloat16")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{o.Model.Name, o.GPU.Name, o.Seed, o.MemoryUtilization, o.Faults.FreezeAt, o.Faults.FreezeFor, o.Faults.Fail.K, o.Faults.Fail.N, o.Faults.FailStatus,
		float64(o.Faults.Reject.K) / float64(o.Faults.Reject.N), o.Faults.RetryAfter}
	want := []any{"llama3.1-8b", "rtx4090", uint64(7), 0.9, 5 * time.Second, 2 * time.Second, int64(250), int64(256), 502, 0.1, int64(3)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	bare, err := sim.ParseTarget("sim://")
	if err != nil || bare.Model.Name != "llama3-8b" || bare.GPU.Name != "a100-80g" || bare.MaxTokens != 2048 || bare.MaxSeqs != 256 {
		t.Errorf("%+v, %v", bare, err)
	}
	for name, want := range map[string][2]int64{"h100": {8192, 1024}, "h200": {8192, 1024}, "b200": {16384, 1024}, "l40s": {2048, 256}, "a100-40g": {2048, 256}} {
		if o, err := sim.ParseTarget("sim://@" + name); err != nil || o.MaxTokens != want[0] || int64(o.MaxSeqs) != want[1] {
			t.Errorf("%s: budget %d, sequences %d, %v", name, o.MaxTokens, o.MaxSeqs, err)
		}
	}
}

func TestParseTargetErrors(t *testing.T) {
	for target, want := range map[string]string{
		"http://x":                                "does not start with sim://",
		"sim://llama3-9b@h100":                    `did you mean "llama3-8b"`,
		"sim://llama3-8b@h10":                     `did you mean "h100"`,
		"sim://llama3-8b@h100?max_num_seq=3":      `did you mean "max_num_seqs"`,
		"sim://llama3-8b@h100?max_num_seqs=0":     "from 1 to",
		"sim://llama3-8b@h100?engine=vlm":         "expected vllm",
		"sim://llama3-8b@h100?freeze=5":           "AT:DURATION",
		"sim://llama3-8b@h100?fail=3/2":           "K/N",
		"sim://llama3-8b@h100?scheduler=x":        "expected one of vllm, priority",
		"sim://llama3-8b@h100?router=best":        "least_loaded",
		"sim://llama3-8b@h100?fault=x":            "unknown fault",
		"sim://llama3-8b@h100?fail=2":             "share",
		"sim://llama3-8b@h100?fail=0.5:200":       "status",
		"sim://llama3-8b@h100?seed=1&seed=2":      "2 times",
		"sim://llama3-8b@h100?dtype=int3":         "bf16",
		"sim://llama3-8b@h100?seed=%zz":           "invalid URL escape",
		"sim:///nowhere/config.json@h100":         "no such file",
		"sim://llama3-8b@/nowhere/device.yaml":    "no such file",
		"sim://llama3-8b@h100?prefix_caching=may": "true or false",
	} {
		if _, err := sim.ParseTarget(target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	for target, want := range map[string]string{
		"sim://llama3-70b@a100-80g":                                    "raise tp",
		"sim://llama3.1-8b@rtx4090?max_model_len=131072":               "does not fit",
		"sim://llama3-8b@a100-80g?num_gpu_blocks=10&max_model_len=200": "does not fit",
	} {
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.NewEngine(o, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
	o, err := sim.ParseTarget("sim://llama3.1-8b@rtx4090")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.NewEngine(o, nil); err != nil {
		t.Errorf("the length is not cut to what fits: %v", err)
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("sim://llama3-8b@a100-80g?engine=vllm&seed=1")
	f.Add("sim://@?fail=1/2:500&reject=3%:1&freeze=1s:1s")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, ".json") || strings.Contains(s, ".y") {
			return // names a file
		}
		if o, err := sim.ParseTarget(s); err == nil {
			_, _ = o.Config()
		}
	})
}

// An engine's scheduling brings its defaults; what is given by name wins.
func TestSchedulers(t *testing.T) {
	for query, want := range map[string][]any{
		"":                                    {core.Policy(""), int64(16), int64(8192), 1024, int64(0)},
		"scheduler=sglang":                    {core.SGLang, int64(1), int64(8192), 2048, int64(0)},
		"scheduler=tensorrt-llm":              {core.NoEvict, int64(32), int64(8192), 2048, int64(0)},
		"scheduler=llama.cpp":                 {core.Slots, int64(1), int64(2048), 4, int64(0)},
		"scheduler=tgi":                       {core.TGI, int64(1), int64(4096), 128, int64(128)},
		"scheduler=tgi&max_requests=7":        {core.TGI, int64(1), int64(4096), 128, int64(7)},
		"block-size=8&scheduler=sglang":       {core.SGLang, int64(8), int64(8192), 2048, int64(0)},
		"engine=vllm&scheduler=priority":      {core.Priority, int64(16), int64(8192), 1024, int64(0)},
		"scheduler=llama.cpp&max-num-seqs=16": {core.Slots, int64(1), int64(2048), 16, int64(0)},
	} {
		o, err := sim.ParseTarget("sim://llama3-8b@h100?" + query)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Check(); err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if d := cmp.Diff(want, []any{o.Scheduler, o.BlockSize, o.MaxTokens, o.MaxSeqs, o.MaxRequests}); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
}
