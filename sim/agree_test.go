package sim_test

import (
	"encoding/json"
	"fmt"
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
	virtual, preemptions := inVirtualTime(t, target, reqs, gap)
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

func inVirtualTime(t *testing.T, target string, reqs []lengths, gap time.Duration) (out []times, preemptions int64) {
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
	var list []*sim.Request
	for i, r := range reqs {
		v.Wait(int64(gap) * int64(i))
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
