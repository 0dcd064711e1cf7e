package sim_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/spans"
)

// ports are a server in fake time with everything beside it.
type ports struct {
	t                        *testing.T
	api, grpc, metrics, dcgm *pipes
}

// client speaks HTTP to one of the listeners.
func client(l *pipes) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: l.dial}}
}

// beside runs f in a bubble of fake time against a server of target.
func beside(t *testing.T, target string, f func(p *ports)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		p := &ports{t: t, api: newPipes(), dcgm: newPipes()}
		so := sim.ServeOptions{Clock: clock.NewPortable(), DCGM: p.dcgm}
		if o.Engine == "triton" {
			p.grpc, p.metrics = newPipes(), newPipes()
			so.GRPC, so.Metrics = p.grpc, p.metrics
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- sim.Serve(ctx, p.api, o, so) }()
		synctest.Wait()
		f(p)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// post returns status and body.
func (p *ports) post(path, body string) (int, string) {
	p.t.Helper()
	resp, err := client(p.api).Post("http://sim"+path, "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// scrape parses a metrics page.
func (p *ports) scrape(l *pipes) map[string]*dto.MetricFamily {
	p.t.Helper()
	resp, err := client(l).Get("http://sim/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	f, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// value sums the series of a family whose label has a value; label may be empty.
func value(f map[string]*dto.MetricFamily, name, label, of string) float64 {
	sum := 0.0
	for _, m := range f[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if label == "" || l.GetName() == label && l.GetValue() == of {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
				break
			}
		}
	}
	return sum
}

const tritonTarget = "sim://llama3-8b@a100-80g?engine=triton"

func TestTritonGenerate(t *testing.T) {
	beside(t, tritonTarget, func(p *ports) {
		status, body := p.post("/v2/models/llama3-8b/generate", `{"text_input":"Say hello to the world","max_tokens":3,"return_num_input_tokens":true,"return_num_output_tokens":true,"return_finish_reason":true}`)
		want := `{"finish_reason":"length","model_name":"llama3-8b","model_version":"1","num_input_tokens":5,"num_output_tokens":3,"text_output":"The old house"}`
		if status != 200 || body != want {
			t.Errorf("%d %s", status, body)
		}
		status, body = p.post("/v2/models/llama3-8b/versions/1/generate_stream", `{"text_input":"Say hello to the world","id":"a","parameters":{"stream":true,"max_tokens":"3"}}`)
		want = ""
		for _, w := range []string{"The", " old", " house"} {
			want += `data: {"id":"a","model_name":"llama3-8b","model_version":"1","text_output":"` + w + "\"}\n\n"
		}
		if status != 200 || body != want {
			t.Errorf("%d %s", status, body)
		}
		// Without stream, one event has it all.
		_, body = p.post("/v2/models/llama3-8b/generate_stream", `{"text_input":"Say hello to the world","max_tokens":3}`)
		if want := `data: {"model_name":"llama3-8b","model_version":"1","text_output":"The old house"}` + "\n\n"; body != want {
			t.Error(body)
		}
		_, body = p.post("/v2/models/llama3-8b/generate", `{"text_input":"Say hello to the world","max_tokens":1,"exclude_input_in_output":false}`)
		if !strings.Contains(body, `"text_output":"Say hello to the worldThe"`) {
			t.Error(body)
		}
		f := p.scrape(p.metrics)
		if got := value(f, "nv_inference_request_success", "", ""); got != 4 {
			t.Errorf("%v successes, want 4", got)
		}
		if got := value(f, "nv_llm_output_token_len", "", ""); got != 3+3+3+1 {
			t.Errorf("%v tokens, want 10", got)
		}
		if got, infer := value(f, "nv_inference_request_duration_us", "", ""), value(f, "nv_inference_compute_infer_duration_us", "", ""); math.Abs(got-infer-4*2000) > 1e-6 {
			t.Errorf("requests took %v µs, %v of them in the model; the rest is not the front end's 2 ms", got, infer)
		}
	})
}

// Each event is there when its token is, on the engine's clock.
func TestTritonStreamsAsTokensCome(t *testing.T) {
	beside(t, tritonTarget, func(p *ports) {
		began := time.Now()
		resp, err := client(p.api).Post("http://sim/v2/models/llama3-8b/generate_stream", "application/json", strings.NewReader(`{"text_input":"Say hello to the world","max_tokens":3,"stream":true}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var at []time.Duration
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				at = append(at, time.Since(began))
			}
		}
		if len(at) != 3 || at[0] < 10*time.Millisecond || at[1]-at[0] < 5*time.Millisecond || at[2]-at[1] < 5*time.Millisecond {
			t.Errorf("events at %v", at)
		}
	})
}

func TestTritonRefuses(t *testing.T) {
	beside(t, tritonTarget, func(p *ports) {
		for _, x := range []struct {
			path, body string
			status     int
			says       string
		}{
			{"/v2/models/other/generate", `{"text_input":"x"}`, 404, "unknown model: 'other'"},
			{"/v2/models/llama3-8b/versions/2/generate", `{"text_input":"x"}`, 404, "version 2"},
			{"/v2/models/llama3-8b/generate", `{"text_input":`, 400, "not valid JSON"},
			{"/v2/models/llama3-8b/generate", `{"max_tokens":3}`, 400, "text_input"},
			{"/v2/models/llama3-8b/generate", `{"text_input":["a","b"]}`, 400, "text_input"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","max_tokens":0}`, 400, "max_tokens"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","max_tokens":1.5}`, 400, "max_tokens"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","max_tokens":[[1,2]]}`, 400, "max_tokens"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","stream":true}`, 400, "generate_stream"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","stream":7}`, 400, "stream"},
			{"/v2/models/llama3-8b/generate_stream", `{"text_input":"x","max_tokens":9999999}`, 400, "9999999"},
			{"/v2/models/llama3-8b/generate", `{"text_input":"x","sampling_parameters":"no"}`, 400, "sampling_parameters"},
			{"/v2/models/llama3-8b/infer", `{"inputs":[{"name":"text_input","datatype":"BYTES","shape":[-1],"data":["x"]}]}`, 400, "shape"},
			{"/v2/models/llama3-8b/infer", `{"inputs":[{"name":"text_input","datatype":"BYTES","shape":[1],"data":["x"]}],"outputs":[{"name":"nothing"}]}`, 400, "nothing"},
			{"/v2/models/llama3-8b/infer", `{"inputs":[{"name":"text_input","datatype":"BYTES","shape":[1],"data":["x"]},{"name":"stream","datatype":"BOOL","shape":[1],"data":[true]}]}`, 501, "stream"},
			{"/v2/nothing", `{}`, 404, "Not Found"},
		} {
			status, body := p.post(x.path, x.body)
			var e struct{ Error string }
			if json.Unmarshal([]byte(body), &e) != nil || status != x.status || !strings.Contains(e.Error, x.says) {
				t.Errorf("%s %s: %d %s, want %d and %q", x.path, x.body, status, body, x.status, x.says)
			}
		}
	})
}

// A body with binary tensors, and an answer with them.
func TestTritonBinaryTensors(t *testing.T) {
	beside(t, tritonTarget, func(p *ports) {
		text := append(binary.LittleEndian.AppendUint32(nil, 22), "Say hello to the world"...)
		limit := binary.LittleEndian.AppendUint32(nil, 3)
		head := fmt.Sprintf(`{"id":"7","inputs":[{"name":"text_input","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":%d}},
			{"name":"max_tokens","datatype":"INT32","shape":[1,1],"parameters":{"binary_data_size":4}}],"parameters":{"binary_data_output":true},"outputs":[{"name":"text_output"}]}`, len(text))
		send := func(length int) *http.Response {
			r, err := http.NewRequest(http.MethodPost, "http://sim/v2/models/llama3-8b/infer", strings.NewReader(head+string(text)+string(limit)))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Inference-Header-Content-Length", strconv.Itoa(length))
			resp, err := client(p.api).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		resp := send(len(head))
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		n, err := strconv.Atoi(resp.Header.Get("Inference-Header-Content-Length"))
		want := `{"id":"7","model_name":"llama3-8b","model_version":"1","outputs":[{"name":"text_output","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":17}}]}`
		if err != nil || n > len(b) || string(b[:n]) != want || string(b[n:]) != "\x0d\x00\x00\x00The old house" {
			t.Errorf("%v %q", resp.Header, b)
		}
		for _, length := range []int{0, -1, len(head) - 1, len(head) + len(text) + 5} {
			resp := send(length)
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("JSON of %d bytes: %d", length, resp.StatusCode)
			}
		}
	})
}

// collector is an OTLP collector.
type collector struct {
	mu    sync.Mutex
	spans []map[string]any
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []map[string]any `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if r.URL.Path != "/v1/traces" || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

// A span has the request's traceparent as its parent and the engine's times, to
// the nanosecond; the sockets are real, the engine's time is its own.
func TestSpansOfRequests(t *testing.T) {
	c := &collector{}
	collect, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: c}
	go func() { _ = server.Serve(collect) }()
	defer server.Close()
	exporter, err := spans.New("http://"+collect.Addr().String(), "test")
	if err != nil {
		t.Fatal(err)
	}
	o, err := sim.ParseTarget("sim://llama3-8b@a100-80g")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(ctx, l, o, sim.ServeOptions{Spans: exporter}) }()
	for _, parent := range []string{"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00", "", "nonsense"} {
		r, err := http.NewRequest(http.MethodPost, "http://"+l.Addr().String()+"/v1/completions", strings.NewReader(`{"prompt":"Say hello to the world","max_tokens":3,"temperature":0.5,"ignore_eos":true}`))
		if err != nil {
			t.Fatal(err)
		}
		if parent != "" {
			r.Header.Set("traceparent", parent)
		}
		r.Header.Set("X-Request-Id", "r1")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := exporter.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(c.spans) != 3 { // the second caller does not sample
		t.Fatalf("%d spans, want 3", len(c.spans))
	}
	s := c.spans[0]
	if s["traceId"] != "0123456789abcdef0123456789abcdef" || s["parentSpanId"] != "0123456789abcdef" || s["name"] != "llm_request" || s["kind"] != 2.0 {
		t.Errorf("%v", s)
	}
	for _, own := range c.spans[1:] {
		if own["parentSpanId"] != nil || own["traceId"] == s["traceId"] {
			t.Errorf("a span without a parent: %v", own)
		}
	}
	got := map[string]any{}
	list, _ := s["attributes"].([]any)
	for _, a := range list {
		a, _ := a.(map[string]any)
		v, _ := a["value"].(map[string]any)
		for _, x := range v {
			got[fmt.Sprint(a["key"])] = x
		}
	}
	start, _ := strconv.ParseInt(fmt.Sprint(s["startTimeUnixNano"]), 10, 64)
	end, _ := strconv.ParseInt(fmt.Sprint(s["endTimeUnixNano"]), 10, 64)
	e2e, _ := got["gen_ai.latency.e2e"].(float64)
	if math.Abs(e2e-float64(end-start)/1e9) > 1e-12 {
		t.Errorf("the span takes %d ns, e2e is %v", end-start, e2e)
	}
	prefill, _ := got["gen_ai.latency.time_in_model_prefill"].(float64)
	decode, _ := got["gen_ai.latency.time_in_model_decode"].(float64)
	if math.Abs(e2e-0.002-prefill-decode) > 1e-9 || decode < 2*prefill*0.9 {
		t.Errorf("e2e %v, prefill %v, decode %v", e2e, prefill, decode)
	}
	for _, k := range []string{"e2e", "time_in_model_prefill", "time_in_model_decode", "time_in_model_inference"} {
		delete(got, "gen_ai.latency."+k)
	}
	first := map[string]any{"gen_ai.latency.time_to_first_token": prefill + 0.002}
	ttft, _ := got["gen_ai.latency.time_to_first_token"].(float64)
	if math.Abs(ttft-prefill-0.002) < 1e-9 {
		delete(got, "gen_ai.latency.time_to_first_token")
		delete(first, "gen_ai.latency.time_to_first_token")
	}
	want := map[string]any{"gen_ai.latency.time_in_queue": 0.0, "gen_ai.usage.prompt_tokens": "5", "gen_ai.usage.completion_tokens": "3",
		"gen_ai.request.id": "cmpl-r1", "gen_ai.request.top_p": 1.0, "gen_ai.request.max_tokens": "3", "gen_ai.request.temperature": 0.5, "gen_ai.request.n": "1"}
	for k, v := range first {
		want[k] = v
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What dcgm-exporter would tell agrees with what the engine did: n steps of a
// known time make the share of a second.
func TestAcceleratorsUnderLoad(t *testing.T) {
	beside(t, "sim://llama3-8b@a100-80g", func(p *ports) {
		time.Sleep(time.Second - time.Duration(time.Now().UnixNano())%time.Second)
		before := p.scrape(p.dcgm)
		if got := value(before, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "", ""); got != 0 {
			t.Errorf("activity before any request: %v", got)
		}
		p.post("/v1/completions", `{"prompt":"Say hello to the world","max_tokens":2000,"ignore_eos":true}`)
		f := p.scrape(p.dcgm)
		if got := value(f, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "", ""); math.Abs(got-1) > 1e-9 {
			t.Errorf("activity in the midst of one long answer: %v, want 1", got)
		}
		sm, dram := value(f, "DCGM_FI_PROF_SM_ACTIVE", "", ""), value(f, "DCGM_FI_PROF_DRAM_ACTIVE", "", "")
		if sm <= 0.5 || sm >= 1 || dram <= 0.5 || dram >= sm {
			t.Errorf("SMs %v, DRAM %v: a decode is bound by memory", sm, dram)
		}
		time.Sleep(3 * time.Second)
		if got := value(p.scrape(p.dcgm), "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "", ""); got != 0 {
			t.Errorf("activity after it: %v", got)
		}
	})
}

// A leak of a hundredth a second has taken a tenth of the free memory after
// ten seconds; a new life begins without it.
func TestALeakFillsTheFramebuffer(t *testing.T) {
	beside(t, "sim://llama3-8b@a100-80g?fault=leak:rate%3D0.01,restart%3D1s", func(p *ports) {
		memory := func() (used, free float64) {
			f := p.scrape(p.dcgm)
			return value(f, "DCGM_FI_DEV_FB_USED", "", ""), value(f, "DCGM_FI_DEV_FB_FREE", "", "")
		}
		used, free := memory()
		if u, _ := memory(); u != used || free < 1000 {
			t.Errorf("%v MiB used at rest, then %v; %v free", used, u, free)
		}
		begin := time.Now()
		p.post("/v1/completions", `{"prompt":"Say hello","max_tokens":2,"ignore_eos":true}`)
		time.Sleep(10*time.Second - time.Since(begin))
		if u, f := memory(); math.Abs(u-used-free/10) > 2 || math.Abs(f-0.9*free) > 2 {
			t.Errorf("after 10 s %v MiB used and %v free, at first %v and %v", u, f, used, free)
		}
	})
}
