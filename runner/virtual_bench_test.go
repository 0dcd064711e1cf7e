package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

// conversationTrace is an hour of real traffic, which is not part of the repository.
var conversationTrace = filepath.Join("..", "..", "shared", "traces", "azure2023_conv.csv")

// BenchmarkVirtualHour runs an hour of real traffic (19,366 requests) through
// everything that tokamak run --virtual does, the run directory included: the
// bound is 2 s on one core.
func BenchmarkVirtualHour(b *testing.B) {
	if _, err := os.Stat(conversationTrace); err != nil {
		b.Skip("the Azure 2023 conversation trace is not there: ", err)
	}
	for _, engine := range []string{"vllm", "sglang", "tgi", "triton", "llamacpp"} {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				yes, dataset, out := true, conversationTrace, filepath.Join(b.TempDir(), "run")
				s, err := scenario.Read("", scenario.Flags{URL: []string{"sim://llama3-8b@a100-80g?engine=" + engine}, Virtual: &yes, Dataset: &dataset, Out: &out})
				if err != nil {
					b.Fatal(err)
				}
				r, err := runner.New(b.Context(), s, runner.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Do(b.Context()); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}
