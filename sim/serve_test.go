package sim_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/token"
)

var update = flag.Bool("update", false, "write golden files")

// pipes is a listener in memory, so that fake time can pass.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// served is a server in fake time and its client.
type served struct {
	t      *testing.T
	client *http.Client
	log    lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve runs f in a bubble of fake time against a server of target.
func serve(t *testing.T, target string, f func(s *served)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		l := newPipes()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		s := &served{t: t, client: &http.Client{Transport: &http.Transport{DialContext: l.dial}}}
		go func() {
			ended <- sim.Serve(ctx, l, o, sim.ServeOptions{Log: &s.log, LogTokens: true, Clock: clock.NewPortable()})
		}()
		synctest.Wait() // the tokenizer is loaded
		f(s)
		s.client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func (s *served) post(ctx context.Context, path, body string, header ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://sim"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func (s *served) read(resp *http.Response) string {
	s.t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *served) get(path string) string {
	s.t.Helper()
	resp, err := s.client.Get("http://sim" + path)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.read(resp)
}

// series returns the value of a series (a histogram's sum) summed over labels.
func (s *served) series(name string, labels ...string) float64 {
	s.t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(s.get("/metrics")))
	if err != nil {
		s.t.Fatal(err)
	}
	f, ok := families[name]
	if !ok {
		s.t.Fatalf("no series %s", name)
	}
	sum := 0.0
	for _, m := range f.Metric {
		match := len(labels) == 0
		for _, l := range m.Label {
			if len(labels) == 2 && l.GetName() == labels[0] && l.GetValue() == labels[1] {
				match = true
			}
		}
		if match {
			sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	return sum
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

const hello = `"messages":[{"role":"system","content":"You are brief."},{"role":"user","content":[{"type":"text","text":"Say hello to the world"}]}]`

func TestGoldens(t *testing.T) {
	for _, tc := range []struct{ name, path, body string }{
		{"chat_stream", "/v1/chat/completions", `{` + hello + `,"max_tokens":4,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`},
		{"chat_stream_counts", "/v1/chat/completions", `{` + hello + `,"max_completion_tokens":2,"n":2,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		{"chat", "/v1/chat/completions", `{` + hello + `,"max_tokens":4,"n":2}`},
		{"completion_stream", "/v1/completions", `{"prompt":"Say hello","max_tokens":3,"stream":true}`},
		{"completion", "/v1/completions", `{"prompt":["Say hello","Say goodbye"],"max_tokens":3}`},
		{"completion_ids", "/v1/completions", `{"prompt":[1,2,3],"max_tokens":3,"seed":5}`},
		{"tokenize", "/tokenize", `{"prompt":"Say hello to the world"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
				resp := s.post(s.t.Context(), tc.path, tc.body, "X-Request-Id", "run-7")
				if resp.StatusCode != 200 || resp.Header.Get("X-Request-Id") != "run-7" {
					t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
				}
				golden(t, tc.name+".txt", s.read(resp))
			})
		})
	}
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		golden(t, "models.txt", s.get("/v1/models"))
		s.read(s.post(s.t.Context(), "/v1/chat/completions", `{`+hello+`,"max_tokens":4,"ignore_eos":true}`))
		golden(t, "metrics.txt", s.get("/metrics"))
		if s.get("/health") != "" || s.get("/ping") != "" || !strings.Contains(s.get("/version"), "version") {
			t.Error("health, ping or version")
		}
	})
}

func TestErrors(t *testing.T) {
	const chat = "/v1/chat/completions"
	type body struct {
		Error struct {
			Message, Type string
			Param         *string
			Code          int
		}
	}
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		for _, tc := range []struct {
			name, path, body string
			status           int
			kind             string
		}{
			{"broken JSON", chat, `{"messages":`, 400, "BadRequestError"},
			{"no object", chat, `[]`, 400, "BadRequestError"},
			{"trailing", chat, `{` + hello + `} x`, 400, "BadRequestError"},
			{"wrong type", chat, `{` + hello + `,"max_tokens":"many"}`, 400, "BadRequestError"},
			{"no messages", chat, `{}`, 400, "BadRequestError"},
			{"no prompt", "/v1/completions", `{}`, 400, "BadRequestError"},
			{"empty prompt", "/v1/completions", `{"prompt":""}`, 400, "BadRequestError"},
			{"odd prompt", "/v1/completions", `{"prompt":{"a":1}}`, 400, "BadRequestError"},
			{"unknown model", chat, `{"model":"gpt-9",` + hello + `}`, 404, "NotFoundError"},
			{"no tokens", chat, `{` + hello + `,"max_tokens":0}`, 400, "BadRequestError"},
			{"min above max", chat, `{` + hello + `,"max_tokens":2,"min_tokens":3}`, 400, "BadRequestError"},
			{"too many choices", chat, `{` + hello + `,"n":1000}`, 400, "BadRequestError"},
			{"too long an answer", chat, `{` + hello + `,"max_tokens":8192}`, 400, "BadRequestError"},
			{"too long a prompt", "/v1/completions", `{"prompt":"` + strings.Repeat(" a", 8192) + `"}`, 400, "BadRequestError"},
			{"an image", chat, `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "BadRequestError"},
			{"options without stream", chat, `{` + hello + `,"stream_options":{"include_usage":true}}`, 400, "BadRequestError"},
		} {
			resp := s.post(s.t.Context(), tc.path, tc.body)
			var b body
			if err := json.Unmarshal([]byte(s.read(resp)), &b); err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			if resp.StatusCode != tc.status || b.Error.Type != tc.kind || b.Error.Code != tc.status || b.Error.Message == "" {
				t.Errorf("%s: status %d, %+v", tc.name, resp.StatusCode, b)
			}
		}
		resp := s.post(s.t.Context(), "/v1/nothing", "{}")
		if s.read(resp) != `{"detail":"Not Found"}` || resp.StatusCode != 404 {
			t.Errorf("unknown route: %d", resp.StatusCode)
		}
		if got := s.get(chat); got != `{"detail":"Method Not Allowed"}` {
			t.Errorf("GET: %s", got)
		}
	})
}

// arrivals returns the moment of each event of a stream.
func (s *served) arrivals(resp *http.Response) (at []time.Time) {
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			at = append(at, time.Now())
		}
	}
	return at
}

// What the client sees, what the metrics say and what the log says is one time.
func TestTimesAgree(t *testing.T) {
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		start := time.Now()
		at := s.arrivals(s.post(s.t.Context(), "/v1/chat/completions", `{`+hello+`,"max_tokens":50,"ignore_eos":true,"stream":true}`, "X-Request-Id", "one"))
		if len(at) != 53 { // role, tokens, finish, end
			t.Fatalf("%d events", len(at))
		}
		ttft, e2e := at[1].Sub(start), at[50].Sub(start)
		if got := s.series("vllm:time_to_first_token_seconds"); got != ttft.Seconds() {
			t.Errorf("TTFT %v in metrics, %v seen", got, ttft)
		}
		if got := s.series("vllm:e2e_request_latency_seconds"); got != e2e.Seconds() {
			t.Errorf("E2E %v in metrics, %v seen", got, e2e)
		}
		if got, want := s.series("vllm:inter_token_latency_seconds"), (e2e - ttft).Seconds(); got-want > 1e-12 || want-got > 1e-12 {
			t.Errorf("ITL sum %v in metrics, %v seen", got, want)
		}
		if s.series("vllm:generation_tokens_total") != 50 || s.series("vllm:num_requests_running") != 0 || s.series("vllm:kv_cache_usage_perc") != 0 {
			t.Error("counters or gauges")
		}
		var line struct {
			RequestID string  `json:"request_id"`
			Arrival   int64   `json:"arrival_unix_ns"`
			Output    int64   `json:"output_tokens"`
			First     int64   `json:"first_token_at"`
			Last      int64   `json:"last_token_at"`
			Written   []int64 `json:"token_written_at"`
			Finish    string
		}
		if err := json.Unmarshal([]byte(s.log.String()), &line); err != nil {
			t.Fatal(err)
		}
		if line.RequestID != "one" || line.Output != 50 || line.Finish != "length" || len(line.Written) != 50 ||
			line.Arrival != start.UnixNano() || line.First != at[1].UnixNano() || line.Written[0] != line.First || line.Written[49] != line.Last {
			t.Errorf("log %s", s.log.String())
		}
	})
}

func TestDisconnectAborts(t *testing.T) {
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		ctx, leave := context.WithCancel(s.t.Context())
		resp := s.post(ctx, "/v1/chat/completions", `{`+hello+`,"max_tokens":5000,"ignore_eos":true,"stream":true}`)
		time.Sleep(time.Second)
		if s.series("vllm:num_requests_running") != 1 || s.series("vllm:kv_cache_usage_perc") == 0 {
			t.Error("not running")
		}
		leave()
		resp.Body.Close()
		time.Sleep(time.Second)
		if s.series("vllm:request_success_total", "finished_reason", "abort") != 1 || s.series("vllm:num_requests_running") != 0 || s.series("vllm:kv_cache_usage_perc") != 0 {
			t.Error("not aborted")
		}
		if !strings.Contains(s.log.String(), `"finish":"abort"`) {
			t.Errorf("log %q", s.log.String())
		}
	})
}

func TestConversationIsCached(t *testing.T) {
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		type answer struct {
			Choices []struct{ Message struct{ Content string } }
			Usage   struct {
				Prompt  int64 `json:"prompt_tokens"`
				Output  int64 `json:"completion_tokens"`
				Details struct {
					Cached int64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		ask := func(salt string, messages ...string) (a answer) {
			var list []map[string]string
			for i, m := range messages {
				list = append(list, map[string]string{"role": []string{"user", "assistant"}[i%2], "content": m})
			}
			body, err := json.Marshal(map[string]any{"messages": list, "max_tokens": 70, "ignore_eos": true, "cache_salt": salt})
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(s.read(s.post(s.t.Context(), "/v1/chat/completions", string(body)))), &a); err != nil {
				t.Fatal(err)
			}
			return a
		}
		first := "Tell me about rivers" + strings.Repeat(" and the sea", 10)
		a := ask("", first)
		b := ask("", first, a.Choices[0].Message.Content, "Go on")
		// The last token's KV is never computed.
		if want := (a.Usage.Prompt + a.Usage.Output - 1) / 16 * 16; b.Usage.Details.Cached != want || a.Usage.Details.Cached != 0 {
			t.Errorf("cached %d, then %d, want %d", a.Usage.Details.Cached, b.Usage.Details.Cached, want)
		}
		if b.Usage.Prompt <= a.Usage.Prompt+70 {
			t.Errorf("the second prompt has %d tokens", b.Usage.Prompt)
		}
		if c := ask("other", first); c.Usage.Details.Cached != 0 {
			t.Errorf("another salt hit %d", c.Usage.Details.Cached)
		}
		if got := s.series("vllm:prefix_cache_hits_total"); got != float64(b.Usage.Details.Cached) {
			t.Errorf("hits %v", got)
		}
	})
}

func TestFaults(t *testing.T) {
	ask := func(s *served) *http.Response {
		return s.post(s.t.Context(), "/v1/chat/completions", `{`+hello+`,"max_tokens":2}`)
	}
	serve(t, "sim://llama3-8b@a100-80g?fail=3/4:503", func(s *served) {
		count := map[int]int{}
		for range 8 {
			resp := ask(s)
			s.read(resp)
			count[resp.StatusCode]++
		}
		if d := cmp.Diff(map[int]int{200: 2, 503: 6}, count); d != "" {
			t.Error(d)
		}
	})
	serve(t, "sim://llama3-8b@a100-80g?reject=1:7", func(s *served) {
		resp := ask(s)
		if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
		s.read(resp)
	})
	serve(t, "sim://llama3-8b@a100-80g?freeze=100ms:2s", func(s *served) {
		at := s.arrivals(s.post(s.t.Context(), "/v1/chat/completions", `{`+hello+`,"max_tokens":50,"ignore_eos":true,"stream":true}`))
		longest := time.Duration(0)
		for i := 1; i < len(at); i++ {
			longest = max(longest, at[i].Sub(at[i-1]))
		}
		if longest < 2*time.Second || longest > 2050*time.Millisecond {
			t.Errorf("the longest gap is %v", longest)
		}
	})
}

// Left to itself the model ends by itself, at the same length for the same prompt and seed.
func TestStopsByItself(t *testing.T) {
	serve(t, "sim://llama3-8b@a100-80g?mean_output=20", func(s *served) {
		body := `{` + hello + `,"seed":3}`
		strip := func(a string) string { return a[strings.Index(a, `"choices"`):strings.Index(a, `"usage"`)] }
		a, b := strip(s.read(s.post(s.t.Context(), "/v1/chat/completions", body))), strip(s.read(s.post(s.t.Context(), "/v1/chat/completions", body)))
		if a != b || !strings.Contains(a, `"finish_reason":"stop"`) {
			t.Errorf("%s\n%s", a, b)
		}
	})
}

// A client that counts with the built-in tokenizer finds what the usage says.
func TestUsageEqualsTheClientsCount(t *testing.T) {
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		c := token.Builtin()
		prompt := "Straße, 東京 and 12345 – \"quoted\"\n\n  indented 😀 end"
		body, err := json.Marshal(map[string]any{"messages": []map[string]string{{"role": "user", "content": prompt}}, "max_tokens": 300, "ignore_eos": true})
		if err != nil {
			t.Fatal(err)
		}
		var a struct {
			Choices []struct{ Message struct{ Content string } }
			Usage   struct {
				Prompt int `json:"prompt_tokens"`
				Output int `json:"completion_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(s.read(s.post(s.t.Context(), "/v1/chat/completions", string(body)))), &a); err != nil {
			t.Fatal(err)
		}
		in, err1 := c.Count(prompt)
		out, err2 := c.Count(a.Choices[0].Message.Content)
		if err1 != nil || err2 != nil || in != a.Usage.Prompt || out != a.Usage.Output || out != 300 {
			t.Errorf("counted %d and %d, usage %+v", in, out, a.Usage)
		}
	})
}

// Told to end, the server cuts what is under way and leaves nothing behind (the
// bubble would not end with a goroutine in it).
func TestEndsWithStreamsUnderWay(t *testing.T) {
	var log string
	serve(t, "sim://llama3-8b@a100-80g", func(s *served) {
		resp := s.post(s.t.Context(), "/v1/chat/completions", `{`+hello+`,"max_tokens":5000,"ignore_eos":true,"stream":true}`)
		s.t.Cleanup(func() {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			log = s.log.String()
		})
		time.Sleep(time.Second)
	})
	if !strings.Contains(log, `"finish":"abort"`) {
		t.Errorf("log %q", log)
	}
}
