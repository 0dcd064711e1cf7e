package sim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/stat"
)

type lengths struct{ prompt, output int64 }

type times struct{ First, Last int64 }

// The same arrivals give the same token times served over HTTP and in virtual
// time, to the nanosecond, preemptions included.
func TestServedAndVirtualAgree(t *testing.T) {
	const target = "sim://llama3-8b@rtx4090?num_gpu_blocks=300&max_model_len=2000&max_num_seqs=24"
	var reqs []lengths
	for i := range 60 {
		r := stat.Random(7, "agree", uint64(i))
		reqs = append(reqs, lengths{1 + r.Int64N(900), 1 + r.Int64N(200)})
	}
	const gap = 53*time.Millisecond + 17
	var at []int64
	for i := range reqs {
		at = append(at, int64(gap)*int64(i))
	}
	virtual, preemptions := inVirtualTime(t, target, reqs, at)
	var servedTimes []times
	serve(t, target, func(s *served) {
		var wg sync.WaitGroup
		for i, r := range reqs {
			ids := strings.Repeat(fmt.Sprintf("%d,", i), int(r.prompt))
			body := fmt.Sprintf(`{"prompt":[%s],"max_tokens":%d,"ignore_eos":true,"stream":true}`, strings.TrimSuffix(ids, ","), r.output)
			wg.Go(func() { s.read(s.post(s.t.Context(), "/v1/completions", body, "X-Request-Id", strconv.Itoa(i))) })
			time.Sleep(gap)
		}
		wg.Wait()
		servedTimes = fromLog(s.t, s.log.String(), len(reqs))
		if got := s.series("vllm:num_preemptions_total"); got != float64(preemptions) {
			t.Errorf("%v preemptions served, %d virtual", got, preemptions)
		}
	})
	if preemptions == 0 {
		t.Error("no preemption: the test is too easy")
	}
	if d := cmp.Diff(virtual, servedTimes); d != "" {
		t.Errorf("token times (-virtual +served):\n%s", d)
	}
}

// The same at shares of an engine's capacity, as clients measure it, whatever
// its scheduling: p50 and p99 of TTFT, TPOT and E2E.
func TestServedAndVirtualAgreeUnderLoad(t *testing.T) {
	const base = "sim://llama3-8b@rtx4090?max_model_len=1000&max_num_seqs=16&max_num_batched_tokens=512"
	for _, engine := range []string{"scheduler=vllm&num_gpu_blocks=260", "scheduler=sglang&num_gpu_blocks=2200", "scheduler=tensorrt-llm&num_gpu_blocks=130",
		"scheduler=llama.cpp&num_gpu_blocks=16001", "scheduler=tgi&num_gpu_blocks=4000", "scheduler=vllm&num_gpu_blocks=260&speculative_tokens=3", "scheduler=vllm&num_gpu_blocks=260&fault=neighbour", "dp=2&router=prefix&num_gpu_blocks=140"} {
		target := base + "&" + engine
		var reqs []lengths
		for i := range 80 {
			r := stat.Random(11, "agree", uint64(i))
			reqs = append(reqs, lengths{1 + r.Int64N(500), 20 + r.Int64N(80)})
		}
		all, _ := inVirtualTime(t, target, reqs, make([]int64, len(reqs)))
		busy := int64(0)
		for _, x := range all {
			busy = max(busy, x.Last)
		}
		for _, percent := range []int64{50, 80, 110} {
			t.Run(fmt.Sprintf("%s at %d %%", engine, percent), func(t *testing.T) {
				at := make([]int64, len(reqs)) // exponential gaps
				for i := 1; i < len(at); i++ {
					gap := stat.Random(3, "gap", uint64(i)).ExpFloat64() * float64(busy) / float64(len(reqs)) * 100 / float64(percent)
					at[i] = at[i-1] + int64(gap)
				}
				virtual, preemptions := inVirtualTime(t, target, reqs, at)
				served := byClients(t, target, reqs, at)
				for _, q := range []int{50, 99} {
					for name, of := range map[string]func(i int, x times) int64{
						"TTFT": func(i int, x times) int64 { return x.First - at[i] },
						"E2E":  func(i int, x times) int64 { return x.Last - at[i] },
						"TPOT": func(i int, x times) int64 { return (x.Last - x.First) / (reqs[i].output - 1) },
					} {
						v, s := quantile(virtual, q, of), quantile(served, q, of)
						if math.Abs(float64(s-v)) > 0.05*float64(v) {
							t.Errorf("p%d of %s: %d served, %d virtual", q, name, s, v)
						}
					}
				}
				t.Logf("%d preemptions, p99 of TTFT %d ms", preemptions, quantile(virtual, 99, func(i int, x times) int64 { return x.First - at[i] })/1e6)
			})
		}
	}
}

// quantile is the q-th percentile by nearest rank.
func quantile(list []times, q int, of func(int, times) int64) int64 {
	var v []int64
	for i, x := range list {
		v = append(v, of(i, x))
	}
	slices.Sort(v)
	return v[(len(v)*q+99)/100-1]
}

// byClients returns when each request's first and last token reached its client.
func byClients(t *testing.T, target string, reqs []lengths, at []int64) []times {
	t.Helper()
	out := make([]times, len(reqs))
	serve(t, target, func(s *served) {
		start := time.Now()
		var wg sync.WaitGroup
		for i, r := range reqs {
			time.Sleep(time.Duration(at[i]) - time.Since(start))
			ids := strings.Repeat(fmt.Sprintf("%d,", i), int(r.prompt))
			body := fmt.Sprintf(`{"prompt":[%s],"max_tokens":%d,"ignore_eos":true,"stream":true}`, strings.TrimSuffix(ids, ","), r.output)
			wg.Go(func() {
				resp := s.post(s.t.Context(), "/v1/completions", body)
				defer resp.Body.Close()
				for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
					if strings.Contains(lines.Text(), `"finish_reason":null`) {
						out[i].Last = int64(time.Since(start))
						if out[i].First == 0 {
							out[i].First = out[i].Last
						}
					}
				}
			})
		}
		wg.Wait()
	})
	return out
}

func inVirtualTime(t *testing.T, target string, reqs []lengths, at []int64) (out []times, preemptions int64) {
	t.Helper()
	o, err := sim.ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	v := clock.NewVirtual(time.Unix(0, 0))
	set := o.FaultSet(v)
	e, err := sim.NewFaultyEngine(o, v, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []*sim.Request
	for i, r := range reqs {
		v.Wait(at[i])
		q := &sim.Request{Prompt: []sim.Span{{ID: uint64(i) + 1, Tokens: r.prompt}}, MaxTokens: r.output, Listener: &tally{}}
		if err := e.Submit(q); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	v.Wait(clock.Forever)
	for _, q := range list {
		out = append(out, times{q.Stats.FirstToken, q.Stats.LastToken})
	}
	return out, e.State().Counts.Preemptions
}

// fromLog returns the token times of requests 0 to n−1, since the first arrival.
func fromLog(t *testing.T, log string, n int) []times {
	t.Helper()
	out := make([]times, n)
	start := int64(0)
	type entry struct {
		ID      string `json:"request_id"`
		Arrival int64  `json:"arrival_unix_ns"`
		First   int64  `json:"first_token_at"`
		Last    int64  `json:"last_token_at"`
	}
	var list []entry
	for line := range strings.Lines(log) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.ID == "0" {
			start = e.Arrival
		}
		list = append(list, e)
	}
	for _, e := range list {
		i, err := strconv.Atoi(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = times{e.First - start, e.Last - start}
	}
	return out
}
