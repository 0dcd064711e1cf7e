package sim_test

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const greeting = `"messages":[{"role":"user","content":"Say hello to the world"}]`

// faceGoldens are one request in each form that is a face's own.
func faceGoldens() []struct{ face, name, path, body string } {
	const usage = `,"stream":true,"stream_options":{"include_usage":true}`
	return []struct{ face, name, path, body string }{
		{"vllm", "stop", "/v1/chat/completions", `{` + greeting + `,"stop":["house"],"stream":true}`},
		{"vllm", "tools", "/v1/chat/completions", `{` + greeting + `,"stream":true,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}}]}`},
		{"vllm", "logprobs", "/v1/chat/completions", `{` + greeting + `,"max_tokens":1,"logprobs":true,"top_logprobs":2}`},
		{"vllm", "embeddings", "/v1/embeddings", `{"input":["one","two"],"dimensions":3}`},
		{"vllm", "responses", "/v1/responses", `{"input":"Say hello","max_output_tokens":2,"stream":true}`},
		{"vllm", "messages", "/v1/messages", `{"max_tokens":2,` + greeting + `,"stream":true}`},
		{"sglang", "generate", "/generate", `{"text":"Say hello","rid":"r1","sampling_params":{"max_new_tokens":3}}`},
		{"sglang", "generate_stream", "/generate", `{"text":"Say hello","rid":"r1","stream":true,"sampling_params":{"max_new_tokens":3}}`},
		{"sglang", "generate_stop", "/generate", `{"text":"Say hello","rid":"r1","sampling_params":{"max_new_tokens":300,"stop":"."}}`},
		{"sglang", "chat_stream", "/v1/chat/completions", `{` + greeting + `,"max_tokens":2` + usage + `}`},
		{"tgi", "generate", "/generate", `{"inputs":"Say hello","parameters":{"max_new_tokens":2,"details":true}}`},
		{"tgi", "generate_stream", "/generate_stream", `{"inputs":"Say hello","parameters":{"max_new_tokens":2}}`},
		{"tgi", "chat_stream", "/v1/chat/completions", `{` + greeting + `,"max_tokens":2` + usage + `}`},
		{"llamacpp", "completion", "/completion", `{"prompt":"Say hello","n_predict":2}`},
		{"llamacpp", "completion_stream", "/completion", `{"prompt":"Say hello","n_predict":2,"stream":true}`},
		{"llamacpp", "chat_stream", "/v1/chat/completions", `{` + greeting + `,"max_tokens":2` + usage + `}`},
		{"llamacpp", "text_stream", "/v1/completions", `{"prompt":"Say hello","max_tokens":2,"stream":true}`},
		{"ollama", "generate", "/api/generate", `{"model":"llama3-8b","prompt":"Say hello","stream":false,"options":{"num_predict":2}}`},
		{"ollama", "chat_stream", "/api/chat", `{"model":"llama3-8b",` + greeting + `,"options":{"num_predict":2}}`},
		{"ollama", "openai_stream", "/v1/chat/completions", `{` + greeting + `,"max_tokens":2` + usage + `}`},
	}
}

func TestFaceGoldens(t *testing.T) {
	for _, tc := range faceGoldens() {
		t.Run(tc.face+"/"+tc.name, func(t *testing.T) {
			serve(t, "sim://llama3-8b@a100-80g?engine="+tc.face, func(s *served) {
				resp := s.post(s.t.Context(), tc.path, tc.body)
				head := resp.Status + "\n" + resp.Header.Get("Content-Type") + "\n"
				for _, h := range []string{"Server", "X-Queue-Time", "X-Inference-Time", "X-Generated-Tokens"} {
					if v := resp.Header.Get(h); v != "" {
						head += h + ": " + v + "\n"
					}
				}
				golden(t, tc.face+"_"+tc.name+".txt", head+"\n"+s.read(resp))
			})
		})
	}
}

func TestFaceErrors(t *testing.T) {
	long := strings.Repeat(" a", 9000)
	for _, tc := range []struct {
		face, path, body string
		status           int
		want             string
	}{
		{"vllm", "/v1/embeddings", `{"input":[]}`, 400, `"param":"input"`},
		{"vllm", "/v1/responses", `{"input":[]}`, 400, `"param":"input"`},
		{"vllm", "/v1/chat/completions", `{` + greeting + `,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"thing"}}}}`, 400, `unknown type`},
		{"vllm", "/v1/chat/completions", `{` + greeting + `,"tools":[{"function":{"name":"f"}}],"tool_choice":{"function":{"name":"g"}}}`, 400, `"param":"tool_choice"`},
		{"vllm", "/detokenize", `{"tokens":[4294967295]}`, 400, `"param":"tokens"`},
		{"vllm", "/v1/messages", `{` + greeting + `}`, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: field required"}}`},
		{"sglang", "/generate", `{}`, 400, `{"error":{"message":"either text or input_ids is needed"}}`},
		{"sglang", "/generate", `{"text":"` + long + `"}`, 400, `8192`},
		{"sglang", "/v1/chat/completions", `{}`, 400, `{"object":"error","message":"messages must not be empty","type":"BadRequestError","param":"messages","code":400}`},
		{"tgi", "/generate", `{"inputs":""}`, 422, `"error_type":"validation"`},
		{"tgi", "/generate", `{"inputs":"` + long + `"}`, 422, `"error_type":"validation"`},
		{"tgi", "/generate_stream", `{"inputs":3}`, 422, `"error_type":"validation"`},
		{"llamacpp", "/completion", `{"prompt":"` + long + `"}`, 400, `"type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192`},
		{"llamacpp", "/v1/embeddings", `{}`, 501, `"not_supported_error"`},
		{"llamacpp", "/nothing", `{}`, 404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`},
		{"llamacpp", "/v1/chat/completions", `{"model":"any","messages":[],"max_tokens":1}`, 200, `"prompt_tokens":1`},
		{"ollama", "/api/chat", `{"model":"no"}`, 404, `{"error":"model 'no' not found"}`},
		{"ollama", "/api/generate", `{}`, 400, `{"error":"model is required"}`},
		{"ollama", "/v1/chat/completions", `{"model":"no",` + greeting + `}`, 404, `{"error":{"message":"model 'no' not found","type":"not_found_error","param":null,"code":null}}`},
		{"ollama", "/api/generate", `{"model":"llama3-8b:latest","stream":false,"options":{"num_ctx":100,"num_predict":1},"prompt":"` + long + `"}`, 200, `"prompt_eval_count":99`},
	} {
		serve(t, "sim://llama3-8b@a100-80g?engine="+tc.face, func(s *served) {
			resp := s.post(s.t.Context(), tc.path, tc.body)
			body := s.read(resp)
			if resp.StatusCode != tc.status {
				t.Errorf("%s %s: status %d, want %d", tc.face, tc.path, resp.StatusCode, tc.status)
			}
			same := strings.Contains(body, tc.want)
			if strings.HasPrefix(tc.want, "{") {
				same = equalJSON(t, tc.want, body)
			}
			if !same && !strings.Contains(body, tc.want) {
				t.Errorf("%s %s: %s, want %s", tc.face, tc.path, body[:min(len(body), 300)], tc.want)
			}
		})
	}
}

func equalJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return cmp.Equal(x, y)
}

// More than TGI takes at once is refused, and so is more than Ollama's queue.
func TestFaceOverload(t *testing.T) {
	for face, tc := range map[string]struct {
		limit, status int
		path, body    string
	}{
		"tgi":    {128, 429, "/generate", `{"inputs":"a","parameters":{"max_new_tokens":50}}`},
		"ollama": {512, 503, "/api/generate", `{"model":"llama3-8b","prompt":"a","stream":false,"options":{"num_predict":50}}`},
	} {
		serve(t, "sim://llama3-8b@a100-80g?engine="+face, func(s *served) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			count := map[int]int{}
			for range tc.limit + 3 {
				wg.Go(func() {
					resp := s.post(s.t.Context(), tc.path, tc.body)
					s.read(resp)
					mu.Lock()
					count[resp.StatusCode]++
					mu.Unlock()
				})
			}
			wg.Wait()
			if d := cmp.Diff(map[int]int{200: tc.limit, tc.status: 3}, count); d != "" {
				t.Errorf("%s: %s", face, d)
			}
		})
	}
}

// While the model loads, and where a fault strikes, each face says so in its
// engine's way.
func TestFaceRefusals(t *testing.T) {
	for face, want := range map[string][2]string{
		"vllm":     {`"type":"ServiceUnavailableError"`, `"type":"InternalServerError"`},
		"sglang":   {`"object":"error"`, `"object":"error"`},
		"tgi":      {`"error_type":"healthcheck"`, `"error_type":"incomplete_generation"`},
		"llamacpp": {`"type":"unavailable_error"`, `"type":"server_error"`},
		"ollama":   {`"type":"api_error"`, `"type":"api_error"`},
	} {
		for i, fault := range []string{"loading:time=5", "refuse:status=500"} {
			serve(t, "sim://llama3-8b@a100-80g?engine="+face+"&fault="+fault, func(s *served) {
				resp := s.post(s.t.Context(), "/v1/chat/completions", `{`+greeting+`}`)
				if body := s.read(resp); !strings.Contains(body, want[i]) || resp.StatusCode != []int{503, 500}[i] {
					t.Errorf("%s, %s: %d %s, want %s", face, fault, resp.StatusCode, body, want[i])
				}
			})
		}
	}
}

// names of each face's counters of prompt and generated tokens, and of its
// gauge of running requests.
func faceSeries() map[string][3]string {
	return map[string][3]string{
		"vllm":     {"vllm:prompt_tokens_total", "vllm:generation_tokens_total", "vllm:num_requests_running"},
		"sglang":   {"sglang:prompt_tokens_total", "sglang:generation_tokens_total", "sglang:num_running_reqs"},
		"tgi":      {"tgi_request_input_length", "tgi_request_generated_tokens", "tgi_batch_current_size"},
		"llamacpp": {"llamacpp:prompt_tokens_total", "llamacpp:tokens_predicted_total", "llamacpp:requests_processing"},
	}
}

// Counters equal what clients got; what runs is arrivals × residence; the whole
// page parses.
func TestFaceMetrics(t *testing.T) {
	for face, names := range faceSeries() {
		// llama.cpp counts the prompt tokens that it computes.
		serve(t, "sim://llama3-8b@a100-80g?prefix_caching=false&engine="+face, func(s *served) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			prompt, output := 0.0, 0.0
			for i := range 50 {
				wg.Go(func() {
					body := s.read(s.post(s.t.Context(), "/v1/chat/completions", `{`+greeting+`,"seed":`+strconv.Itoa(i)+`}`))
					var a struct {
						Usage struct {
							Prompt float64 `json:"prompt_tokens"`
							Output float64 `json:"completion_tokens"`
						}
					}
					if err := json.Unmarshal([]byte(body), &a); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					prompt += a.Usage.Prompt
					output += a.Usage.Output
				})
				time.Sleep(20 * time.Millisecond)
			}
			wg.Wait()
			if output < 1000 || s.series(names[0]) != prompt || s.series(names[1]) != output {
				t.Errorf("%s: clients got %v and %v, metrics say %v and %v", face, prompt, output, s.series(names[0]), s.series(names[1]))
			}
			p := expfmt.NewTextParser(model.UTF8Validation)
			families, err := p.TextToMetricFamilies(strings.NewReader(s.get("/metrics")))
			if err != nil || len(families) < 10 {
				t.Errorf("%s: %d families, %v", face, len(families), err)
			}
		})
	}
}

// Running is arrivals × residence (Little's law), within 5 %.
func TestLittlesLaw(t *testing.T) {
	for face, names := range faceSeries() {
		// Nobody may queue: slots enough, and no waiting for a batch.
		serve(t, "sim://llama3-8b@a100-80g?max_num_seqs=64&waiting_served_ratio=0&engine="+face, func(s *served) {
			const rate, seconds = 10, 14
			ctx, stop := context.WithCancel(s.t.Context())
			defer stop()
			var wg sync.WaitGroup
			var mu sync.Mutex
			var residence time.Duration
			ended := 0
			wg.Go(func() {
				for range rate * seconds {
					wg.Go(func() {
						sent := time.Now()
						s.read(s.post(ctx, "/v1/chat/completions", `{`+greeting+`,"max_tokens":100,"ignore_eos":true}`))
						mu.Lock()
						residence += time.Since(sent)
						ended++
						mu.Unlock()
					})
					time.Sleep(time.Second / rate)
				}
			})
			time.Sleep(3 * time.Second) // settled
			sum, n := 0.0, 0
			for range 50 {
				sum += s.series(names[2])
				n++
				time.Sleep(197 * time.Millisecond)
			}
			wg.Wait()
			running, want := sum/float64(n), rate*residence.Seconds()/float64(ended)
			if math.Abs(running/want-1) > 0.05 {
				t.Errorf("%s: %v run, rate × residence is %v", face, running, want)
			}
		})
	}
}

func TestFaceDisconnects(t *testing.T) {
	for face, path := range map[string]string{"sglang": "/generate", "tgi": "/generate_stream", "llamacpp": "/completion", "ollama": "/api/generate"} {
		body := `{"text":"a","inputs":"a","prompt":"a","model":"llama3-8b","stream":true,"n_predict":5000,"sampling_params":{"max_new_tokens":5000,"ignore_eos":true},"parameters":{"max_new_tokens":5000}}`
		serve(t, "sim://llama3-8b@a100-80g?mean_output=4000&engine="+face, func(s *served) {
			ctx, leave := context.WithCancel(s.t.Context())
			resp := s.post(ctx, path, body)
			time.Sleep(100 * time.Millisecond)
			leave()
			resp.Body.Close()
			time.Sleep(time.Second)
			if !strings.Contains(s.log.String(), `"finish":"abort"`) {
				t.Errorf("%s: log %q", face, s.log.String())
			}
		})
	}
}

// The routes that tell of the server.
func TestFaceInfo(t *testing.T) {
	for face, list := range map[string]map[string]string{
		"vllm":     {"/v1/models": `"owned_by":"vllm"`},
		"sglang":   {"/get_model_info": `"is_generation":true`, "/get_server_info": `"max_total_num_tokens":446336`, "/v1/models": `"owned_by":"sglang"`, "/health": ``, "/health_generate": ``},
		"tgi":      {"/info": `"max_total_tokens":8192`, "/health": ``, "/v1/models": `"object":"list"`},
		"llamacpp": {"/props": `"n_ctx":8192`, "/slots": `"is_processing":false`, "/health": `{"status":"ok"}`, "/v1/models": `"owned_by":"llamacpp"`},
		"ollama":   {"/api/tags": `"name":"llama3-8b"`, "/api/version": `0.17.4`, "/": "Ollama is running", "/v1/models": `"owned_by":"library"`},
	} {
		serve(t, "sim://llama3-8b@a100-80g?engine="+face, func(s *served) {
			for path, want := range list {
				if got := s.get(path); !strings.Contains(got, want) {
					t.Errorf("%s%s: %s", face, path, got)
				}
			}
		})
	}
	serve(t, "sim://llama3-8b@a100-80g?engine=sglang", func(s *served) {
		start := time.Now()
		s.get("/health_generate")
		if time.Since(start) < 5*time.Millisecond {
			t.Error("health_generate asked the engine for nothing")
		}
		if s.series("sglang:generation_tokens_total") != 0 {
			t.Error("health_generate's token counts")
		}
	})
}
