package catalog

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Bytes of KV cache for a token at 16 bit, from the models' shapes.
func TestKVBytes(t *testing.T) {
	for name, want := range map[string]int64{
		"llama3-8b": 131_072, "llama3.1-8b": 131_072, "mixtral-8x7b": 131_072, "llama3.1-70b": 327_680, "llama3.1-405b": 516_096,
		"qwen3-32b": 262_144, "llama2-7b": 524_288, "llama2-13b": 819_200, "deepseek-v3": 70_272, "qwen3-30b-a3b": 98_304,
		"gemma3-27b": 81_920, "gpt-oss-120b": 36_864,
	} {
		m, err := FindModel(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.KVBytes(1, 2); got != want {
			t.Errorf("%s: %d bytes a token, want %d", name, got, want)
		}
	}
	m, err := FindModel("llama3-8b")
	if err != nil {
		t.Fatal(err)
	}
	if m.KVBytes(2, 2) != 65_536 || m.KVBytes(16, 2) != 16_384 || m.KVBytes(1, 1) != 65_536 {
		t.Error("tensor parallel or 8-bit KV")
	}
}

// Parameters, in 10⁹, as the models' makers state them.
func TestParameters(t *testing.T) {
	for name, want := range map[string]float64{
		"llama3-8b": 8.03, "llama3.1-70b": 70.6, "llama3.1-405b": 405.9, "llama2-7b": 6.74, "llama2-13b": 13.02, "qwen3-32b": 32.8,
		"qwen2.5-7b": 7.62, "mixtral-8x7b": 46.7, "qwen3-30b-a3b": 30.5, "deepseek-v3": 671, "llama3.2-1b": 1.24, "smollm2-135m": 0.135,
		"gpt-oss-120b": 117, "qwen3-235b-a22b": 235, "mistral-7b": 7.25, "gemma3-27b": 27, "llama3.2-3b": 3.21, "qwen3-0.6b": 0.6, "kimi-k2.5": 1026, "minimax-m2.5": 229,
	} {
		m, err := FindModel(name)
		if err != nil {
			t.Fatal(err)
		}
		w := m.Weights()
		if got := float64(w.Total()) / 1e9; math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s has %.3g·10⁹ parameters, want %.3g", name, got, want)
		}
	}
}

func TestEveryAcceleratorIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Accelerators() {
		if _, err := a.check(); err != nil || a.Source == "" || seen[a.Name] {
			t.Errorf("%s: %v", a.Name, err)
		}
		seen[a.Name] = true
	}
	for from, to := range gpuAliases() {
		if !seen[to] {
			t.Errorf("alias %s of unknown %s", from, to)
		}
	}
}

const llamaConfig = `{"_name_or_path":"x/y","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":8192,"tie_word_embeddings":false}`

func TestReadModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my-model")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	if err := os.WriteFile(path, []byte(llamaConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := FindModel(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := FindModel("llama3-8b")
	if err != nil {
		t.Fatal(err)
	}
	want.Name, want.ID, want.Source = "my-model", "x/y", "config.json"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadModelErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{`:  "not a config.json",
		`{}`: "num_hidden_layers",
		strings.Replace(llamaConfig, "4096", "-1", 1):     "hidden_size",
		strings.Replace(llamaConfig, "14336", `"a"`, 1):   "intermediate_size",
		strings.Replace(llamaConfig, "32,", "999999,", 1): "num_hidden_layers",
	} {
		if _, err := ParseModel([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadAccelerator(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("name: mine\nbf16_tflops: 100\nmemory_tb_per_s: 1\nmemory_bytes: 32000000000\nefficiency:\n  weights: 0.5\n")
	a, err := FindAccelerator(path)
	if err != nil || a.Efficiency.Weights != 0.5 || a.Efficiency.Matmul != Unfitted().Matmul {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"name: x\nbf16: 1\n":        "bf16",
		"name: x\nbf16_tflops: 1\n": "memory_tb_per_s",
		"name: x\nbf16_tflops: 1\nmemory_tb_per_s: 1\nmemory_bytes: 1\nefficiency: {blend_exponent: 3}\n": "blend",
	} {
		write(text)
		if _, err := FindAccelerator(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"h100", "h200", "a100-80g", "rtx4090"}
	for wrong, want := range map[string]string{"h20": "h200", "a100_80g": "a100-80g", "RTX-4090": "rtx4090", "": "h100"} {
		if got := Nearest(wrong, names); got != want {
			t.Errorf("%q: %q", wrong, got)
		}
	}
}

func FuzzParseModel(f *testing.F) {
	f.Add([]byte(llamaConfig))
	f.Add([]byte(`{"text_config":{"hidden_size":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseModel(b); err == nil {
			w := m.Weights()
			_ = w.Total()
			_ = m.KVBytes(1, 2)
		}
	})
}

func TestMIG(t *testing.T) {
	a, err := FindAccelerator("H100-mig-3g.40GB")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := FindAccelerator("h100")
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "h100-mig-3g.40gb" || math.Abs(a.BF16-989*3.0/7) > 1e-9 || a.Bandwidth != whole.Bandwidth/2 || a.Memory != whole.Memory/2 {
		t.Errorf("%+v", a)
	}
	for name, want := range map[string]string{"h100-mig-3g.4gb": `did you mean "3g.40gb"`, "l4-mig-1g.5gb": "no MIG profiles", "h1000-mig-1g.5gb": `did you mean "h100"`} {
		if _, err := FindAccelerator(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := FindPreset(a.Name, "vllm", "bf16", &Model{}); ok {
		t.Error("a slice has the whole device's preset")
	}
}

// The catalogue's presets can be read, name devices and models that exist, and
// say what they were fitted on.
func TestPresets(t *testing.T) {
	list := Presets()
	if len(list) < 30 {
		t.Errorf("%d presets", len(list))
	}
	for _, p := range list {
		a, err := FindAccelerator(p.GPU)
		if err != nil {
			t.Error(err)
		}
		if p.Model != "" {
			if _, err := FindModel(p.Model); err != nil {
				t.Error(err)
			}
		}
		a.Efficiency = p.Efficiency
		if _, err := a.check(); err != nil || p.Efficiency.Fitted == "" || p.Rows < 1 {
			t.Errorf("%s %s %s: %v", p.GPU, p.Engine, p.Model, err)
		}
	}
}
