package acceptance

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkFirstRequest reports the time from the start of the command to the
// arrival of its first request at the server. Target: 100 ms.
func BenchmarkFirstRequest(b *testing.B) {
	e := startEngine(b, "sim://llama3-8b@a100-80g")
	warm := exec.Command(binary, "run", "--quiet", "--out", "none", "--url", e.url, "--model", "llama3-8b", "--requests", "1")
	if err := warm.Run(); err != nil {
		b.Fatal(err)
	}
	var took []float64
	for b.Loop() {
		cmd := exec.Command(binary, "run", "--quiet", "--out", filepath.Join(b.TempDir(), "run"), "--url", e.url, "--model", "llama3-8b",
			"--concurrency", "1", "--requests", "1", "--output-tokens", "1")
		start := time.Now().UnixNano()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		log := e.requests(b, len(took)+2)
		took = append(took, float64(log[len(log)-1].Arrival-start)/1e6)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-to-first-request")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMemory reports the peak memory of a run at 32 streams. Target: 64 MiB.
func BenchmarkMemory(b *testing.B) {
	e := startEngine(b, "sim://qwen3-0.6b@h200")
	var most float64
	for b.Loop() {
		cmd := exec.Command(binary, "run", "--quiet", "--out", filepath.Join(b.TempDir(), "run"), "--url", e.url, "--model", "qwen3-0.6b",
			"--concurrency", "32", "--requests", "320", "--output-tokens", "256")
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		most = max(most, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	}
	b.ReportMetric(most, "MiB-peak")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkConstantGaps reports the rate and the spread of gaps at the server of
// an open loop asked for 40 requests/s at constant gaps. Targets: 40.0, CV below 0.02.
func BenchmarkConstantGaps(b *testing.B) {
	var rate, cv float64
	for b.Loop() {
		e := startEngine(b, "sim://qwen3-0.6b@h200")
		o := run(b, "--url", e.url, "--model", "qwen3-0.6b", "--rate", "40", "--arrival", "constant", "--duration", "15s",
			"--input-tokens", "32", "--output-tokens", "16")
		o.wantExit(b, 0)
		rate, cv = gaps(e.requests(b, 600))
	}
	b.ReportMetric(rate, "req/s")
	b.ReportMetric(cv, "CV-of-gaps")
	b.ReportMetric(0, "ns/op")
}

// gaps returns the rate of arrivals and the coefficient of variation of the
// gaps between them.
func gaps(log []served) (rate, cv float64) {
	slices.SortFunc(log, func(x, y served) int { return int(x.Arrival - y.Arrival) })
	n := float64(len(log) - 1)
	span := float64(log[len(log)-1].Arrival - log[0].Arrival)
	mean, ss := span/n, 0.0
	for i := 1; i < len(log); i++ {
		d := float64(log[i].Arrival-log[i-1].Arrival) - mean
		ss += d * d
	}
	return n / span * 1e9, math.Sqrt(ss/(n-1)) / mean
}
