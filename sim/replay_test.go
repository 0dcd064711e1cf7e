package sim_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
)

// measured is a request of a real vLLM 0.19 run; times in seconds.
type measured struct {
	Input     int64   `json:"input_toks"`
	Output    int64   `json:"output_toks"`
	Queued    float64 `json:"queued_ts"`
	Scheduled float64 `json:"scheduled_ts"`
	First     float64 `json:"first_token_ts"`
	Last      float64 `json:"last_token_ts"`
}

func realRun(tb testing.TB, name string) []measured {
	tb.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "traces", "llmservingsim_vllm_bench", name+"__requests.jsonl"))
	if err != nil {
		tb.Skip("the measured run is not there: ", err)
	}
	defer f.Close()
	var list []measured
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			tb.Fatal(err)
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b measured) int { return int((a.Queued - b.Queued) * 1e9) })
	return list
}

// means are a run's mean TTFT, TPOT and E2E in seconds, from queueing.
type means struct{ ttft, tpot, e2e float64 }

func (m *means) add(queued, first, last float64, output int64, n int) {
	k := float64(n)
	m.ttft += (first - queued) / k
	m.e2e += (last - queued) / k
	if output > 1 {
		m.tpot += (last - first) / float64(output-1) / k
	}
}

func measuredMeans(list []measured) (m means) {
	for _, r := range list {
		m.add(r.Queued, r.First, r.Last, r.Output, len(list))
	}
	return m
}

func simulatedMeans(tb testing.TB, list []measured, o sim.Options) (m means, s sim.State) {
	tb.Helper()
	o.GPU.Efficiency.APIMicros = 0 // the times count from the queue
	v := clock.NewVirtual(time.Unix(0, 0))
	e, err := sim.NewEngine(o, v)
	if err != nil {
		tb.Fatal(err)
	}
	reqs := make([]*sim.Request, len(list))
	for i, r := range list {
		v.Wait(int64((r.Queued - list[0].Queued) * 1e9))
		reqs[i] = &sim.Request{Prompt: []sim.Span{{ID: uint64(i) + 1, Tokens: r.Input}}, MaxTokens: r.Output, Listener: &tally{}}
		if err := e.Submit(reqs[i]); err != nil {
			tb.Fatal(err)
		}
	}
	v.Wait(clock.Forever)
	for _, q := range reqs {
		st := &q.Stats
		m.add(float64(st.Queued)/1e9, float64(st.FirstToken)/1e9, float64(st.LastToken)/1e9, st.Output, len(list))
	}
	return m, e.State()
}

// TestReplayOfRealRuns holds the shipped parameters against the two runs of a
// real vLLM, 300 requests at 10 a second, on which they were fitted, and prints
// what the unfitted parameters give.
func TestReplayOfRealRuns(t *testing.T) {
	for _, tc := range []struct{ run, target string }{
		{"RTXPRO6000_Llama-3.1-8B", "sim://llama3.1-8b@rtxpro6000?max_num_seqs=128&max_num_batched_tokens=2048&gpu_memory_utilization=0.9"},
		{"RTX4090_Llama-3.1-8B", "sim://llama3.1-8b@rtx4090?max_num_seqs=256&max_num_batched_tokens=2048&gpu_memory_utilization=0.9&max_model_len=32768&num_gpu_blocks=2588"},
	} {
		list := realRun(t, tc.run)
		o, err := sim.ParseTarget(tc.target)
		if err != nil {
			t.Fatal(err)
		}
		want := measuredMeans(list)
		off := func(g, w float64) float64 { return (g/w - 1) * 100 }
		compare := func(o sim.Options) (ttft, tpot, e2e float64) {
			got, s := simulatedMeans(t, list, o)
			ttft, tpot, e2e = off(got.ttft, want.ttft), off(got.tpot, want.tpot), off(got.e2e, want.e2e)
			t.Logf("%s: TTFT %.3f s (%+.1f %%), TPOT %.2f ms (%+.1f %%), E2E %.2f s (%+.1f %%), %d preemptions; fitted on %q", tc.run,
				got.ttft, ttft, got.tpot*1e3, tpot, got.e2e, e2e, s.Counts.Preemptions, o.GPU.Efficiency.Fitted)
			return ttft, tpot, e2e
		}
		if ttft, tpot, e2e := compare(o); max(math.Abs(ttft)/5, math.Abs(tpot)/2, math.Abs(e2e)/2) > 1 {
			t.Errorf("%s is further off than 5 %% in TTFT or 2 %% in TPOT or E2E", tc.run)
		}
		o.GPU.Efficiency = catalog.Unfitted()
		compare(o)
	}
}
