package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// fake is a server that can be odd in ways that a check must see.
type fake struct {
	mu         *sync.Mutex
	models     string // body of the list
	key        string
	owner      string
	noUsage    bool
	cached     bool // says how many tokens were cached
	refuse     string
	whole      bool
	ignoresMax bool
	violates   bool
	metrics    string
	version    string
	asked      int
	prompts    map[string]bool
	body       string // answer instead of a stream
	status     int
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.key != "" && r.Header.Get("Authorization") != "Bearer "+f.key {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch r.URL.Path {
	case "/v1/models":
		w.Header().Set("Content-Type", "application/json")
		if f.models == "" {
			f.models = `{"data":[{"id":"m","owned_by":"` + f.owner + `","max_model_len":4096}]}`
		}
		io.WriteString(w, f.models)
	case "/metrics":
		io.WriteString(w, f.metrics)
	case "/version":
		fmt.Fprintf(w, `{"version":%q}`, f.version)
	case "/v1/chat/completions":
		f.chat(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) chat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q map[string]json.RawMessage
	if json.Unmarshal(body, &q) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if _, ok := q[f.refuse]; ok {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"Unknown parameter: '%[1]s'.","param":%[1]q}}`, f.refuse)
		return
	}
	if f.status != 0 {
		w.WriteHeader(f.status)
		io.WriteString(w, f.body)
		return
	}
	n := 16
	for _, k := range []string{"max_tokens", "max_completion_tokens"} {
		if json.Unmarshal(q[k], &n); f.ignoresMax {
			n = 40
		}
	}
	cached := 0
	if f.prompts[string(q["messages"])] {
		cached = 32
	}
	f.prompts[string(q["messages"])] = true
	usage := fmt.Sprintf(`"usage":{"prompt_tokens":200,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, n, cached)
	if !f.cached {
		usage = fmt.Sprintf(`"usage":{"prompt_tokens":200,"completion_tokens":%d}`, n)
	}
	if f.whole {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"length"}],%s}`, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for range n {
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
		w.(http.Flusher).Flush()
	}
	io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
	if !f.noUsage {
		io.WriteString(w, "data: {\"choices\":[],"+usage+"}\n\n")
	}
	if !f.violates {
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

func start(t *testing.T, f *fake) (wire.Transport, openai.Options) {
	t.Helper()
	f.prompts, f.mu = map[string]bool{}, &sync.Mutex{}
	srv := httptest.NewServer(f)
	tr := wire.NewNetHTTP(wire.Config{Clock: clock.NewPortable()})
	t.Cleanup(func() {
		tr.Close()
		srv.Close()
	})
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return tr, openai.Options{Base: u}
}

func look(t *testing.T, f *fake, change func(*openai.Options)) *Report {
	t.Helper()
	tr, o := start(t, f)
	if change != nil {
		change(&o)
	}
	r, err := Run(context.Background(), Options{Transport: tr, OpenAI: o})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func states(r *Report) map[string]State {
	m := map[string]State{}
	for _, l := range r.Lines {
		m[l.Name] = l.State
	}
	return m
}

func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	tests := map[string]struct {
		fake   fake
		change func(*openai.Options)
		odd    map[string]State // lines that are not ok
		say    []string         // what the text must hold
	}{
		"good": {fake: fake{owner: "vllm", cached: true, metrics: "# TYPE vllm:x gauge\nvllm:num_requests_running{a=\"b\"} 1\n", version: "0.19.0"},
			say: []string{"m (context 4096 tokens), the only one", "16 content chunks, one a token", "200 tokens in, 16 out", "32 of 200", "max_completion_tokens too", "vLLM 0.19.0 (by owned_by vllm); /metrics is there"}},
		"engine by its metrics": {fake: fake{cached: true, metrics: "sglang:num_queue_reqs 1\n"}, say: []string{"SGLang (by its metrics)"}},
		"nothing known":         {fake: fake{noUsage: true}, odd: map[string]State{lineUsage: Warn, lineCached: Warn, lineEngine: Unknown}},
		"key needed":            {fake: fake{key: "k", cached: true, owner: "vllm"}, odd: map[string]State{lineAuth: Fail, lineModel: Unknown, lineStreaming: Unknown, lineUsage: Unknown, lineCached: Unknown, lineFields: Unknown, lineLength: Unknown, lineBuffering: Unknown, lineEngine: Unknown}, say: []string{"refused with 401", "--api-key-env"}},
		"key given": {fake: fake{key: "secret-key", cached: true, owner: "vllm"}, change: func(o *openai.Options) { o.Auth = wire.Field{Name: "Authorization", Value: "Bearer secret-key"} },
			say: []string{"credential in Authorization accepted, and needed"}},
		"several models": {fake: fake{models: `{"data":[{"id":"a"},{"id":"b"}]}`}, odd: map[string]State{lineAuth: Unknown, lineModel: Fail, lineStreaming: Unknown, lineUsage: Unknown, lineCached: Unknown, lineFields: Unknown, lineLength: Unknown, lineBuffering: Unknown, lineEngine: Unknown}, say: []string{"2 models: a, b", "--model"}},
		"no list but a model": {fake: fake{models: `<html>`, cached: true}, change: func(o *openai.Options) { o.Model = "m" },
			odd: map[string]State{lineModel: Warn, lineEngine: Unknown}},
		"refused field": {fake: fake{refuse: "ignore_eos", cached: true, owner: "vllm"}, odd: map[string]State{lineFields: Warn}, say: []string{"refused: ignore_eos dropped"}},
		"whole answer":  {fake: fake{whole: true, cached: true, owner: "vllm"}, odd: map[string]State{lineStreaming: Warn, lineBuffering: Unknown}},
		"limit ignored": {fake: fake{ignoresMax: true, cached: true, owner: "vllm"}, odd: map[string]State{lineLength: Fail}, say: []string{"16 tokens asked, 40 came", "max_completion_tokens is ignored"}},
		"no terminator": {fake: fake{violates: true, cached: true, owner: "vllm"}, odd: map[string]State{lineStreaming: Fail}, say: []string{"no_terminator"}},
		"error": {fake: fake{status: 500, body: `{"error":{"message":"boom"}}`, owner: "vllm"}, odd: map[string]State{lineAuth: Unknown, lineStreaming: Fail, lineUsage: Unknown, lineCached: Unknown, lineFields: Unknown, lineLength: Unknown, lineBuffering: Unknown},
			say: []string{"status 500, server_error: boom"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := look(t, &tt.fake, tt.change)
			want := map[string]State{}
			usable := true
			for _, n := range order {
				want[n] = OK
				if s, ok := tt.odd[n]; ok {
					want[n] = s
				}
				usable = usable && want[n] != Fail
			}
			var text bytes.Buffer
			if err := r.Text(&text); err != nil {
				t.Fatal(err)
			}
			// How chunks arrive is the machine's affair here: TestBuffering.
			got := states(r)
			if got[lineBuffering] != Unknown && want[lineBuffering] == OK {
				got[lineBuffering] = OK
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s%s", diff, text.String())
			}
			tt.fake.mu.Lock()
			defer tt.fake.mu.Unlock()
			if r.Usable != usable || r.Requests != tt.fake.asked || r.Requests > 9 {
				t.Errorf("usable %v, %d requests counted, %d seen", r.Usable, r.Requests, tt.fake.asked)
			}
			for _, s := range tt.say {
				if !strings.Contains(text.String(), s) {
					t.Errorf("the text lacks %q:\n%s", s, text.String())
				}
			}
			js, err := json.Marshal(r)
			if err != nil || bytes.Contains(js, []byte("secret")) || strings.Contains(text.String(), "secret") {
				t.Errorf("%v: %s", err, js)
			}
		})
	}
}

func TestBuffering(t *testing.T) {
	const ms = int64(1e6)
	every := func(n int, gap int64) (at []int64) {
		for i := range n {
			at = append(at, 100*ms+int64(i)*gap)
		}
		return at
	}
	tests := map[string]struct {
		at   []int64
		want State
	}{
		"one by one":  {every(16, 20*ms), OK},
		"all at once": {every(16, 0), Warn},
		"in two":      {append(every(8, 0), 130*ms, 130*ms, 130*ms), Warn},
		"in batches":  {[]int64{100 * ms, 100 * ms, 100 * ms, 120 * ms, 120 * ms, 120 * ms, 140 * ms, 140 * ms, 140 * ms}, Warn},
		"in a burst":  {every(16, ms/100), Warn},
		"too few":     {every(2, 20*ms), Unknown},
	}
	for name, tt := range tests {
		c := &checker{r: &Report{}}
		r := &reply{answer: &engine.Answer{Chunks: engine.Chunks{At: tt.at}}}
		c.buffering(r)
		if got := c.r.Lines[0]; got.State != tt.want || (tt.want == Warn) != strings.Contains(got.Hint, "proxy_buffering") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestRunUnreachable(t *testing.T) {
	tr, o := start(t, &fake{})
	o.Base, _ = url.Parse("http://u:secret@127.0.0.1:1")
	r, err := Run(context.Background(), Options{Transport: tr, OpenAI: o})
	if err != nil || r.Usable || states(r)[lineConnection] != Fail || strings.Contains(fmt.Sprint(r), "secret") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRunBadOptions(t *testing.T) {
	tr, o := start(t, &fake{})
	o.OutputMode = "x"
	if _, err := Run(context.Background(), Options{Transport: tr, OpenAI: o}); exit.Of(err) != exit.Usage {
		t.Errorf("%v: exit %d", err, exit.Of(err))
	}
	o.OutputMode = ""
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, Options{Transport: tr, OpenAI: o}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDefaultModel(t *testing.T) {
	tests := map[string]struct {
		models string
		want   string
		code   exit.Code
		say    string
	}{
		"one":     {`{"data":[{"id":"a"}]}`, "a", exit.OK, ""},
		"several": {`{"data":[{"id":"a"},{"id":"b"}]}`, "", exit.Usage, "a, b"},
		"none":    {`{"data":[]}`, "", exit.Usage, "no models"},
		"no list": {`[]`, "", exit.Usage, "no list"},
	}
	for name, tt := range tests {
		tr, o := start(t, &fake{models: tt.models})
		got, err := DefaultModel(context.Background(), tr, o)
		if got != tt.want || exit.Of(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s: %q, %v (exit %d)", name, got, err, exit.Of(err))
		}
	}
	tr, o := start(t, &fake{key: "k"})
	if _, err := DefaultModel(context.Background(), tr, o); exit.Of(err) != exit.Target {
		t.Errorf("no key: %v", err)
	}
}

// TestTLSWhereThereIsNone: https to a port of HTTP says so and what to change.
func TestTLSWhereThereIsNone(t *testing.T) {
	tr, o := start(t, &fake{})
	u := *o.Base
	u.Scheme = "https"
	o.Base = &u
	r, err := Run(context.Background(), Options{Transport: tr, OpenAI: o})
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Lines[0]; l.State != Fail || !strings.HasPrefix(l.Text, "tls: handshake: ") || !strings.Contains(l.Hint, "http://") {
		t.Errorf("%+v", l)
	}
}

// TestTextOfHostileModels: a model's name writes no line of its own.
func TestTextOfHostileModels(t *testing.T) {
	r := look(t, &fake{models: `{"data":[{"id":"m\n  ok       auth           fine"}]}`}, nil)
	var b strings.Builder
	if err := r.Text(&b); err != nil || strings.Contains(b.String(), "\n  ok       auth           fine") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
