package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error about an accelerator's file names line and column, and what was expected.
func TestErrorsOfOwnAccelerators(t *testing.T) {
	const head = "name: mine\nmemory_bytes: 1000000000\nmemory_tb_per_s: 2\n"
	for text, want := range map[string]string{
		head + "bf16_tflops: 400\n":                                "",
		head + "bf16_tflops: -400\n":                               ":4:14: bf16_tflops is -400: expected a number above 0 to 1e+06",
		head + "bf16_tflops: .nan\n":                               ":4:14: bf16_tflops is NaN",
		head + "bf16_tflops: 1\nefficiency: {link: 1, kv: 3}\n":    ":5:27: efficiency.kv is 3: expected a number above 0 to 1",
		head + "bf16_tflops: 1\nefficiency:\n  layer_us: -1\n":     ":6:13: efficiency.layer_us is -1: expected a number from 0",
		head + "bf16_tflops: 1\nefficiency: {blend_exponent: 3}\n": ":5:30: efficiency.blend_exponent is 3: expected 2, 4 or 8",
		head:                         ": bf16_tflops is 0: expected a number above 0",
		head + "bf16_tflops: fast\n": "[4:14]",
		head + "bf16: 400\n":         "[4:1] unknown field \"bf16\"",
	} {
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadAccelerator(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
