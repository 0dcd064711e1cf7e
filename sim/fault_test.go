package sim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const faulty = "sim://llama3-8b@h100?max_model_len=2000&num_gpu_blocks=200"

// try is a post that may fail.
func (s *served) try(body string) (string, error) {
	resp, err := s.client.Post("http://sim/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func (s *served) fault(body string) {
	s.t.Helper()
	resp, err := s.client.Post("http://sim/sim/faults", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if out := s.read(resp); resp.StatusCode != http.StatusOK {
		s.t.Fatal(out)
	}
}

const ask10 = `{"prompt":"tell me more","max_tokens":10,"ignore_eos":true}`

func TestACrashResetsEverythingAndCountersBeginAtZero(t *testing.T) {
	serve(t, faulty, func(s *served) {
		if _, err := s.try(ask10); err != nil {
			t.Fatal(err)
		}
		if got := s.series("vllm:generation_tokens_total"); got != 10 {
			t.Errorf("%v tokens before", got)
		}
		s.fault(`{"fault":"crash","at":"100ms","restart":"3s"}`)
		start := time.Now()
		if out, err := s.try(`{"prompt":"tell me more","max_tokens":1000,"ignore_eos":true}`); err == nil {
			t.Errorf("the request under way ended well: %s", out)
		}
		if d := time.Since(start); d != 100*time.Millisecond {
			t.Errorf("it ended after %v", d)
		}
		if _, err := s.client.Get("http://sim/health"); err == nil {
			t.Error("a dead process is healthy")
		}
		time.Sleep(3010 * time.Millisecond)
		if _, err := s.try(ask10); err != nil {
			t.Errorf("after the restart: %v", err)
		}
		if got := s.series("vllm:generation_tokens_total"); got != 10 {
			t.Errorf("%v tokens after the restart, want those of the new life", got)
		}
		if !strings.Contains(s.log.String(), `"finish":"died"`) {
			t.Error("the log does not tell of the death")
		}
	})
}

func TestALeakEndsInOutOfMemory(t *testing.T) {
	serve(t, faulty+"&fault=leak:rate%3D0.5,restart%3D1s", func(s *served) {
		deaths, usage, since := 0, 0.0, 0
		for range 60 {
			if _, err := s.try(`{"prompt":"tell me more","max_tokens":40,"ignore_eos":true}`); err != nil {
				if deaths++; since < 5 {
					t.Errorf("life %d was %d requests long", deaths, since)
				}
				since = 0
				time.Sleep(1010 * time.Millisecond)
				continue
			}
			since++
			if u := s.series("vllm:kv_cache_usage_perc"); deaths == 0 && u < usage {
				t.Errorf("usage fell from %v to %v", usage, u)
			} else if deaths == 0 {
				usage = u
			}
		}
		if deaths < 2 || usage < 0.7 {
			t.Errorf("%d deaths, usage rose to %v", deaths, usage)
		}
	})
}

func TestLoading(t *testing.T) {
	serve(t, faulty+"&fault=loading:time%3D10s", func(s *served) {
		for _, path := range []string{"/health", "/v1/models", "/metrics"} {
			resp, err := s.client.Get("http://sim" + path)
			if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: %v %v", path, resp, err)
			}
			_ = s.read(resp)
		}
		if out := s.get("/sim/faults"); !strings.Contains(out, `"fault":"loading"`) {
			t.Error(out)
		}
		time.Sleep(10010 * time.Millisecond)
		if resp, err := s.client.Get("http://sim/health"); err != nil || resp.StatusCode != http.StatusOK {
			t.Error(resp, err)
		}
	})
}

func TestFrozenMetrics(t *testing.T) {
	serve(t, faulty, func(s *served) {
		s.fault(`{"fault":"frozen_metrics","for":"30s"}`)
		before := s.series("vllm:generation_tokens_total")
		_, _ = s.try(ask10)
		if got := s.series("vllm:generation_tokens_total"); got != before {
			t.Errorf("the page moved from %v to %v", before, got)
		}
		time.Sleep(30010 * time.Millisecond)
		if got := s.series("vllm:generation_tokens_total"); got != before+10 {
			t.Errorf("after the window %v", got)
		}
	})
}

// moments are the log's of a request, in ns since its arrival.
type moments struct {
	Arrival   int64   `json:"arrival_unix_ns"`
	First     int64   `json:"first_token_at"`
	Last      int64   `json:"last_token_at"`
	Queue     int64   `json:"queue_ns"`
	Cached    int64   `json:"cached_tokens"`
	Preempted int64   `json:"preemptions"`
	Written   []int64 `json:"token_written_at"`
}

// gap is the longest between two tokens, as they were written.
func (m *moments) gap() (longest int64) {
	for i := 1; i < len(m.Written); i++ {
		longest = max(longest, m.Written[i]-m.Written[i-1])
	}
	return longest
}

func (s *served) logged() (list []moments) {
	s.t.Helper()
	for line := range strings.Lines(s.log.String()) {
		var m moments
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatal(err)
		}
		m.First, m.Last = m.First-m.Arrival, m.Last-m.Arrival
		list = append(list, m)
	}
	return list
}

func TestHeadOfLineHoldsTheQueueOnly(t *testing.T) {
	serve(t, faulty+"&fault=head_of_line:at%3D50ms,for%3D2s", func(s *served) {
		done := make(chan bool)
		go func() {
			_, _ = s.try(`{"prompt":"tell me more","max_tokens":300,"ignore_eos":true}`)
			done <- true
		}()
		time.Sleep(100 * time.Millisecond)
		_, _ = s.try(ask10)
		<-done
		for _, m := range s.logged() {
			held := m.First > 1900e6 && m.First < 2100e6
			if running := m.First < 50e6; held == running {
				t.Errorf("first token after %d ms", m.First/1e6)
			}
		}
	})
}

func TestAStallStopsStreams(t *testing.T) {
	serve(t, faulty+"&fault=freeze:at%3D50ms,for%3D2s", func(s *served) {
		_, _ = s.try(ask10)
		if m := s.logged()[0]; m.Last < 2000e6 || m.First > 40e6 {
			t.Errorf("%+v", m)
		}
	})
	serve(t, faulty+"&fault=nccl_stall:at%3D50ms,for%3D2s,restart%3D1s", func(s *served) {
		start := time.Now()
		if _, err := s.try(ask10); err == nil || time.Since(start) < 2*time.Second {
			t.Errorf("ended after %v, %v", time.Since(start), err)
		}
		time.Sleep(1010 * time.Millisecond)
		if _, err := s.try(ask10); err != nil {
			t.Error(err)
		}
	})
}

func TestFalseHitsSaveNothing(t *testing.T) {
	prompt := `{"prompt":[` + strings.TrimSuffix(strings.Repeat("7,", 1600), ",") + `],"max_tokens":1}`
	firsts := func(target string) (list []moments) {
		serve(t, target, func(s *served) {
			_, _ = s.try(prompt)
			_, _ = s.try(prompt)
			list = s.logged()
		})
		return list
	}
	honest, claimed := firsts(faulty), firsts(faulty+"&fault=false_hits")
	if honest[1].Cached != 1584 || claimed[1].Cached != 1584 {
		t.Errorf("cached %d and %d", honest[1].Cached, claimed[1].Cached)
	}
	if honest[1].First >= honest[0].First || claimed[1].First != claimed[0].First {
		t.Errorf("honest %+v, with false hits %+v", honest, claimed)
	}
}

func TestTTFTMetricWithoutTheQueue(t *testing.T) {
	for target, hidden := range map[string]bool{faulty + "&max_num_seqs=1": false, faulty + "&max_num_seqs=1&fault=ttft_without_queue": true} {
		serve(t, target, func(s *served) {
			done := make(chan bool)
			for range 3 {
				go func() { _, _ = s.try(ask10); done <- true }()
			}
			for range 3 {
				<-done
			}
			want := 0.0
			for _, m := range s.logged() {
				want += float64(m.First) / 1e9
			}
			got := s.series("vllm:time_to_first_token_seconds")
			if less := got < 0.6*want; less != hidden {
				t.Errorf("the metric's sum is %v, the clients' %v", got, want)
			}
		})
	}
}

func TestAPreemptionStormIsSeenEverywhere(t *testing.T) {
	serve(t, faulty, func(s *served) {
		storm := func() int64 {
			done := make(chan bool)
			for i := range 4 {
				go func() {
					_, _ = s.try(`{"prompt":[` + strings.TrimSuffix(strings.Repeat(string(rune('1'+i))+",", 200), ",") + `],"max_tokens":100,"ignore_eos":true,"stream":true}`)
					done <- true
				}()
			}
			for range 4 {
				<-done
			}
			n := int64(0)
			for _, m := range s.logged() {
				n += m.Preempted
			}
			return n
		}
		if n := storm(); n != 0 {
			t.Fatalf("%d preemptions without a storm", n)
		}
		calm := int64(0)
		for _, m := range s.logged() {
			calm = max(calm, m.gap())
		}
		s.fault(`{"fault":"preemption_storm","blocks":0.8}`)
		n := storm()
		if got := s.series("vllm:num_preemptions_total"); n == 0 || got != float64(n) {
			t.Errorf("%v preemptions at /metrics, %d in the log", got, n)
		}
		for _, m := range s.logged() {
			if m.Preempted > 0 && m.gap() < 5*calm {
				t.Errorf("a preempted stream's longest gap is %d ns, that of the calm ones %d", m.gap(), calm)
			}
		}
	})
}

func TestANeighbourStretchesSteps(t *testing.T) {
	last := func(target string) (d int64) {
		serve(t, target, func(s *served) { _, _ = s.try(ask10); d = s.logged()[0].Last })
		return d
	}
	alone, shared := last(faulty), last(faulty+"&fault=neighbour:busy%3D1,slowdown%3D2")
	const api = 2e6
	if got, want := shared-api, 2*(alone-api); got < want-20 || got > want+20 {
		t.Errorf("%d ns alone, %d with a neighbour that doubles every step", alone, shared)
	}
}

func TestGarbagePoisonAndChance(t *testing.T) {
	serve(t, faulty, func(s *served) {
		text := func(prompt, salt, fault string) (string, float64) {
			resp := s.post(s.t.Context(), "/v1/completions", `{"temperature":0,"prompt":"`+prompt+`","cache_salt":"`+salt+`","max_tokens":6,"ignore_eos":true}`, "X-Sim-Fault", fault)
			var out struct {
				Choices []struct{ Text string }
				Usage   struct {
					Details struct {
						Cached float64 `json:"cached_tokens"`
					} `json:"prompt_tokens_details"`
				}
			}
			if err := json.Unmarshal([]byte(s.read(resp)), &out); err != nil {
				t.Fatal(err)
			}
			return out.Choices[0].Text, out.Usage.Details.Cached
		}
		long := strings.Repeat("one two three four ", 12)
		honest, _ := text(long, "a", "")
		if again, _ := text(long, "a", ""); again != honest {
			t.Error("an honest engine changes its answer")
		}
		if got, _ := text(long, "a", "unstable"); got == honest {
			t.Error("the answer did not change")
		}
		if got, _ := text(long, "a", "garbage"); got != "!!!" {
			t.Error(got)
		}
		other, _ := text("another session", "a", "cache_poison")
		got, _ := text("mine", "b", "cache_poison")
		if mine, _ := text("mine", "b", ""); got != other || got == mine {
			t.Errorf("poisoned %q, the other session's %q, mine %q", got, other, mine)
		}
		if _, cached := text(long, "b", ""); cached != 0 {
			t.Error("salts do not keep sessions apart")
		}
		_, _ = text(long, "c", "cache_poison")
		if _, cached := text(long, "d", "cache_poison"); cached == 0 {
			t.Error("the poisoned cache keeps salts apart")
		}
	})
}

func TestAdminRoute(t *testing.T) {
	serve(t, faulty, func(s *served) {
		s.fault(`{"fault":"usage_missing","share":0.5,"count":3,"seed":4}`)
		missing := 0
		for range 20 {
			if out, err := s.try(ask10); err != nil || strings.Contains(out, `"usage":null`) {
				missing++
			}
		}
		if missing != 3 {
			t.Errorf("struck %d requests, the count is 3", missing)
		}
		if out := s.get("/sim/faults"); !strings.Contains(out, `"struck":3`) || !strings.Contains(out, `"seed":4`) {
			t.Error(out)
		}
		for _, bad := range []string{`{}`, `[]`, `{"fault":"no_such"}`, `{"fault":"no_end","share":2}`, `{"fault":"leak","share":0.5}`, `{"fault":"no_end","at":[1]}`} {
			resp, err := s.client.Post("http://sim/sim/faults", "application/json", strings.NewReader(bad))
			if err != nil || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %v %v", bad, resp, err)
			}
			_ = s.read(resp)
		}
		r, err := http.NewRequestWithContext(s.t.Context(), http.MethodDelete, "http://sim/sim/faults", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.client.Do(r)
		if err != nil || !strings.Contains(s.read(resp), `"active":[]`) {
			t.Error(resp, err)
		}
	})
}

func TestOneMoreThanAllowedGets429(t *testing.T) {
	serve(t, "sim://llama3-8b@h100?scheduler=tgi&max_requests=2", func(s *served) {
		status := make(chan int)
		for range 3 {
			go func() {
				resp := s.post(s.t.Context(), "/v1/completions", ask10)
				_ = s.read(resp)
				status <- resp.StatusCode
			}()
		}
		codes := map[int]int{<-status: 1}
		for range 2 {
			codes[<-status]++
		}
		if codes[200] != 2 || codes[429] != 1 {
			t.Error(codes)
		}
	})
}

// streamed returns the texts of a stream's chunks and when each came.
func (s *served) streamed(path, body, fault string) (texts []string, at []time.Duration, whole string) {
	s.t.Helper()
	start := time.Now()
	resp := s.post(s.t.Context(), path, body, "X-Sim-Fault", fault)
	defer resp.Body.Close()
	var b strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		b.WriteString(lines.Text() + "\n")
		var chunk struct{ Choices []struct{ Text string } }
		data, _ := strings.CutPrefix(lines.Text(), "data: ")
		if json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 && chunk.Choices[0].Text != "" {
			texts, at = append(texts, chunk.Choices[0].Text), append(at, time.Since(start))
		}
	}
	return texts, at, b.String()
}

func TestChunksAsTheFaultsSay(t *testing.T) {
	serve(t, faulty, func(s *served) {
		const ask = `{"prompt":"tell me more","max_tokens":6,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
		honest, at, _ := s.streamed("/v1/completions", ask, "")
		if len(honest) != 6 || at[5] == at[0] {
			t.Fatal(honest, at)
		}
		h := honest
		for fault, want := range map[string][]string{
			"chunk_missing:chunk=2":   {h[0], h[2], h[3], h[4], h[5]},
			"chunk_duplicate:chunk=6": {h[0], h[1], h[2], h[3], h[4], h[5], h[5]},
			"chunk_reorder:chunk=3":   {h[0], h[1], h[3], h[2], h[4], h[5]},
			"chunk_reorder:chunk=6":   h, // there is none to change places with
			"garbage":                 {"!!!", "!!!", "!!!", "!!!", "!!!", "!!!"},
			"error_after_200:after=1": {h[0]},
			"chunk_missing; garbage":  {"!!!", "!!!", "!!!", "!!!", "!!!"},
		} {
			got, _, whole := s.streamed("/v1/completions", ask, fault)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q\n%s", fault, got, want, whole)
			}
		}
		if got, at, _ := s.streamed("/v1/completions", ask, "buffered"); !slices.Equal(got, honest) || at[0] != at[5] {
			t.Errorf("buffered: %q at %v", got, at)
		}
		if _, _, whole := s.streamed("/v1/completions", ask, "split_utf8:chunk=1"); !strings.Contains(whole, h[0]+"\xc3\"") || !strings.Contains(whole, "\"\xa9"+h[1]) {
			t.Errorf("split: %q", whole)
		}
		if _, _, whole := s.streamed("/v1/completions", ask, "error_after_200"); !strings.HasSuffix(whole, "data: [DONE]\n\n") || !strings.Contains(whole, `data: {"error":`) {
			t.Errorf("error: %q", whole)
		}
		if _, _, whole := s.streamed("/v1/completions", ask, "usage_wrong:by=-2"); !strings.Contains(whole, `"completion_tokens":4`) || !strings.Contains(whole, `"total_tokens":7`) {
			t.Errorf("usage: %q", whole)
		}
		stop := strings.Replace(ask, `"stream":true`, `"stream":true,"stop":["`+h[2]+`"]`, 1)
		kept, _, _ := s.streamed("/v1/completions", stop, "")
		if ignored, _, _ := s.streamed("/v1/completions", stop, "ignore_stop"); !slices.Equal(ignored, h) || len(kept) >= len(h) {
			t.Errorf("stop ignored: %q, kept: %q", ignored, kept)
		}
	})
}

func TestWhatIsAskedForIsIgnored(t *testing.T) {
	serve(t, faulty, func(s *served) {
		ask := func(body, fault string) (choices int, prompt, output float64) {
			var out struct {
				Choices []struct{ Text string }
				Usage   struct {
					Prompt float64 `json:"prompt_tokens"`
					Output float64 `json:"completion_tokens"`
				}
			}
			if err := json.Unmarshal([]byte(s.read(s.post(s.t.Context(), "/v1/completions", body, "X-Sim-Fault", fault))), &out); err != nil {
				t.Fatal(err)
			}
			return len(out.Choices), out.Usage.Prompt, out.Usage.Output
		}
		long := `{"prompt":"` + strings.Repeat("one two three four ", 10) + `","max_tokens":5,"n":3,"ignore_eos":true}`
		for fault, want := range map[string][3]float64{
			"":                          {3, 41, 15},
			"ignore_n":                  {1, 41, 5},
			"ignore_max_tokens":         {3, 41, 30},
			"ignore_max_tokens:times=3": {3, 41, 45},
			"truncate_prompt":           {3, 21, 15},
		} {
			if n, p, o := ask(long, fault); [3]float64{float64(n), p, o} != want {
				t.Errorf("%s: %d choices, %v and %v tokens, want %v", fault, n, p, o, want)
			}
		}
	})
}

// The faults of streams work on every face.
func TestFaultsOfEveryFace(t *testing.T) {
	for _, tc := range []struct{ engine, path, body, text, end string }{
		{"sglang", "/generate", `{"text":"tell me more","sampling_params":{"max_new_tokens":5,"ignore_eos":true},"stream":true}`, `"text":"!!!"`, "[DONE]"},
		{"tgi", "/generate_stream", `{"inputs":"tell me more","parameters":{"max_new_tokens":5}}`, `"text":"!!!"`, `"generated_text":"`},
		{"llamacpp", "/completion", `{"prompt":"tell me more","n_predict":5,"stream":true,"ignore_eos":true}`, `"content":"!!!"`, `"stop":true`},
		{"ollama", "/api/generate", `{"model":"llama3-8b","prompt":"tell me more","options":{"num_predict":5},"stream":true}`, `"response":"!!!"`, `"done":true`},
	} {
		t.Run(tc.engine, func(t *testing.T) {
			serve(t, "sim://llama3-8b@h100?engine="+tc.engine, func(s *served) {
				_, _, honest := s.streamed(tc.path, tc.body, "")
				if !strings.Contains(honest, tc.end) {
					t.Fatal(honest)
				}
				if _, _, got := s.streamed(tc.path, tc.body, "garbage"); !strings.Contains(got, tc.text) {
					t.Errorf("garbage: %s", got)
				}
				if _, _, got := s.streamed(tc.path, tc.body, "no_end"); strings.Contains(got, tc.end) || len(got) < 50 {
					t.Errorf("no_end: %s", got)
				}
				if _, _, got := s.streamed(tc.path, tc.body, "error_after_200"); !strings.Contains(got, `"error":`) || strings.Contains(got, tc.end) && tc.end != "[DONE]" {
					t.Errorf("error: %s", got)
				}
				if _, _, got := s.streamed(tc.path, tc.body, "ignore_max_tokens"); strings.Count(got, "\n") <= strings.Count(honest, "\n") {
					t.Errorf("ignored limit: %s", got)
				}
			})
		})
	}
}

func TestAdaptersKeepBlocksApart(t *testing.T) {
	serve(t, faulty+"&lora=sql,poems", func(s *served) {
		ask := func(model string) (text string, cached float64) {
			body := `{"model":"` + model + `","prompt":"` + strings.Repeat("one two three four ", 12) + `","max_tokens":6,"ignore_eos":true}`
			var out struct {
				Choices []struct{ Text string }
				Usage   struct {
					Details struct {
						Cached float64 `json:"cached_tokens"`
					} `json:"prompt_tokens_details"`
				}
			}
			if err := json.Unmarshal([]byte(s.read(s.post(s.t.Context(), "/v1/completions", body))), &out); err != nil || len(out.Choices) != 1 {
				t.Fatal(err, model)
			}
			return out.Choices[0].Text, out.Usage.Details.Cached
		}
		base, _ := ask("llama3-8b")
		sql, cached := ask("sql")
		again, hit := ask("sql")
		poem, other := ask("poems")
		if sql == base || sql != again || poem == sql || cached != 0 || other != 0 || hit == 0 {
			t.Errorf("%q %q %q %q, cached %v %v %v", base, sql, again, poem, cached, hit, other)
		}
		if out := s.get("/v1/models"); !strings.Contains(out, `"id":"poems"`) || !strings.Contains(out, `"parent":"llama3-8b"`) {
			t.Error(out)
		}
	})
}

func TestPriorityGoesFirst(t *testing.T) {
	serve(t, faulty+"&scheduler=priority&max_num_seqs=1", func(s *served) {
		order := make(chan int64, 4)
		for _, p := range []int64{0, 3, 1, 2} {
			go func() {
				_, _ = s.try(fmt.Sprintf(`{"prompt":"tell me more","max_tokens":20,"ignore_eos":true,"priority":%d}`, p))
				order <- p
			}()
			time.Sleep(time.Millisecond)
		}
		if got := []int64{<-order, <-order, <-order, <-order}; !slices.IsSorted(got) {
			t.Error(got)
		}
	})
}

// With drafts a request of n tokens has fewer steps; those saved are the drafts
// accepted.
func TestSpeculationIsSeen(t *testing.T) {
	serve(t, faulty+"&speculative_tokens=3&acceptance=0.8", func(s *served) {
		_, _ = s.try(`{"prompt":"tell me more","max_tokens":200,"ignore_eos":true}`)
		drafts, tokens, accepted := s.series("vllm:spec_decode_num_drafts_total"), s.series("vllm:spec_decode_num_draft_tokens_total"), s.series("vllm:spec_decode_num_accepted_tokens_total")
		steps := s.series("vllm:iteration_tokens_total") // its sum: a prompt of 3, then 1 and the drafts each
		if accepted == 0 || accepted > tokens || steps != 3+(199-accepted)+tokens || drafts > 199-accepted {
			t.Errorf("%v drafts of %v tokens, %v accepted, %v computed", drafts, tokens, accepted, steps)
		}
	})
	serve(t, faulty, func(s *served) {
		if strings.Contains(s.get("/metrics"), "spec_decode") {
			t.Error("series of speculation without it")
		}
	})
}
