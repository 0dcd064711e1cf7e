package fidelity

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// even is a request every 100 ms.
func even(n int, input, output int64) []request {
	var list []request
	for i := range n {
		list = append(list, request{int64(i) * 100e6, input, output, uint64(i) + 1})
	}
	return list
}

func TestWaitsByHand(t *testing.T) {
	// One at a time, far apart: every wait is that of an idle engine, at any
	// speed that leaves it idle; a speed of 1,000 makes them wait.
	list := even(50, 512, 8)
	one, err := drive("sim://llama3-8b@h100-80g", list[:1], 1)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := drive("sim://llama3-8b@h100-80g", list, 1)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := drive("sim://llama3-8b@h100-80g", list, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if slow.ttft != one.ttft || slow.requests != 50 || slow.failed != 0 {
		t.Errorf("%+v, an idle engine %+v", slow, one)
	}
	if fast.ttft < 5*slow.ttft {
		t.Errorf("50 at once: TTFT p99 %.1f ms, one alone %.1f", fast.ttft, slow.ttft)
	}
}

func TestKindsKeepTheMeans(t *testing.T) {
	real := even(5000, 100, 20)
	for i := range real {
		real[i].input += int64(i % 101) // mean 150
	}
	for name, list := range map[string][]request{"naive": naive(real, 1), "fixed": fixed(real, 1)} {
		var in, out float64
		for _, r := range list {
			in, out = in+float64(r.input), out+float64(r.output)
		}
		n := float64(len(list))
		if math.Abs(n/5000-1) > 0.05 || math.Abs(in/n/150-1) > 0.02 || math.Abs(out/n/20-1) > 0.02 {
			t.Errorf("%s: %v requests, means %.1f and %.1f", name, n, in/n, out/n)
		}
	}
	if list := fixed(real, 1); list[0].text != list[1].text {
		t.Error("a fixed prompt changes")
	}
}

// TestShuffledKeepsItsWindows: moments stay, and each ten seconds have the same
// lengths in another order.
func TestShuffledKeepsItsWindows(t *testing.T) {
	real := even(500, 0, 0)
	for i := range real {
		real[i].input, real[i].output = int64(i)+1, int64(i)+1001
	}
	list, moved := shuffled(real, 1), 0
	seen := map[int64]bool{}
	for i, r := range list {
		if r.at != real[i].at || r.text != real[i].text || r.output != r.input+1000 || (r.input-1)/100 != int64(i)/100 || seen[r.input] {
			t.Fatalf("request %d is %+v", i, r)
		}
		seen[r.input] = true
		if r.input != real[i].input {
			moved++
		}
	}
	if moved < 450 {
		t.Errorf("%d of 500 have another place", moved)
	}
}

func TestStudyOfATraceAgainstItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.csv")
	var b strings.Builder
	b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	at := time.Date(2023, 11, 16, 0, 0, 0, 0, time.UTC)
	for range 200 {
		b.WriteString(at.Format("2006-01-02 15:04:05.0000000") + ",1000,10\n")
		at = at.Add(100 * time.Millisecond)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &traffic.Model{Duration: 20 * time.Second, Clients: []traffic.Client{{Name: "c", Rate: traffic.Curve{Rate: []float64{10}},
		Arrival: traffic.Arrival{Process: traffic.Constant}, Lengths: []traffic.Lengths{{Input: stat.Constant(1000), Output: stat.Constant(10)}}}}}
	r, err := Study(Options{Trace: path, Model: m, Kept: m, Bursts: time.Second, Target: "sim://llama3-8b@h100-80g", Limit: 200, Shares: []float64{0.5}, Samples: 1})
	if err != nil {
		t.Fatal(err)
	}
	truth, model := r.Traffics[0], r.Traffics[2]
	if d := model.Highest.Distance(truth.Highest); math.Abs(d) > 0.02 {
		t.Errorf("the same traffic as a model: highest rate %v of %v", model.Highest, truth.Highest)
	}
	if d := model.At[0].TTFT.Distance(truth.At[0].TTFT); math.Abs(d) > 0.05 {
		t.Errorf("TTFT p99 %v of %v", model.At[0].TTFT, truth.At[0].TTFT)
	}
	if fixed := r.Traffics[5]; fixed.Highest.Median < 1.5*truth.Highest.Median {
		t.Errorf("one prompt again and again: %v of %v requests/s, though the cache knows it", fixed.Highest, truth.Highest)
	}
	if text := r.Markdown([]float64{0.5}); !strings.Contains(text, "| the fitted model |") || strings.Count(text, "\n") != 10 {
		t.Errorf("%s", text)
	}
	if !strings.Contains(string(r.Picture()), "a fixed prompt") {
		t.Error("the picture lacks a traffic")
	}
}
