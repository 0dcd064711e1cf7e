package rivals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// place is where scripts/rivals put the clients, and this repository's root.
type place struct{ rivals, root string }

func (p place) bin(name, program string) string { return filepath.Join(p.rivals, name, "bin", program) }
func (p place) tokenizer() string               { return filepath.Join(p.rivals, "tokenizer", "words") }

const inputTokens = 100

// clients lists the tools, ours first.
func clients(p place, tokamak string) []client {
	return []client{
		ours(tokamak), vllmRust(p), sglang(p, "rust"), sglang(p, "asyncio"), inferencePerf(p), aiperf(p), guidellm(p), evalscope(p),
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func ours(tokamak string) client {
	return client{Name: "tokamak", Constant: true, Wide: true, Note: "from the send (`ttft_send`)",
		Argv: func(dir string, t task) ([]string, error) {
			argv := []string{tokamak, "run", "--url", t.URL, "--model", "truth", "--input-tokens", strconv.Itoa(inputTokens), "--output-tokens", strconv.Itoa(t.Tokens),
				"--requests", strconv.Itoa(t.Requests), "--out", filepath.Join(dir, "run"), "--retries", "0"}
			if t.Rate > 0 {
				return append(argv, "--rate", number(t.Rate), "--arrival", "constant"), nil
			}
			return append(argv, "--concurrency", strconv.Itoa(t.Concurrency)), nil
		},
		Read: func(dir string) (said, error) {
			d, err := readJSON(filepath.Join(dir, "run", "summary.json"))
			m := func(path ...string) *float64 { return d.number(1, append([]string{"metrics"}, path...)...) }
			return said{TTFTP50: m("ttft_send", "p50"), TTFTP99: m("ttft_send", "p99"), GapP50: m("icl", "p50"), GapP99: m("icl", "p99"),
				RequestRate: m("request_rate", "value"), TokenRate: m("output_token_rate", "value"),
				OK: d.number(1, "requests", "ok"), Failed: d.number(1, "requests", "failed")}, err
		}}
}

// serving is the command line that vLLM's and SGLang's clients share.
func serving(p place, backend string, t task) []string {
	argv := []string{"--backend", backend, "--base-url", t.URL, "--model", "truth", "--tokenizer", p.tokenizer(),
		"--random-input-len", strconv.Itoa(inputTokens), "--random-output-len", strconv.Itoa(t.Tokens), "--num-prompts", strconv.Itoa(t.Requests)}
	if t.Rate > 0 {
		return append(argv, "--request-rate", number(t.Rate))
	}
	return append(argv, "--max-concurrency", strconv.Itoa(t.Concurrency))
}

// servingSaid reads the result that they share; failures are what is missing
// of the requests asked for.
func servingSaid(name string) (said, error) {
	d, err := readJSON(name)
	ok := d.number(1, "completed")
	return said{TTFTP50: d.number(1, "median_ttft_ms"), TTFTP99: d.number(1, "p99_ttft_ms"), GapP50: d.number(1, "median_itl_ms"), GapP99: d.number(1, "p99_itl_ms"),
		RequestRate: d.number(1, "request_throughput"), TokenRate: d.number(1, "output_throughput"), OK: ok, Failed: d.number(1, "failed")}, err
}

func vllmRust(p place) client {
	return client{Name: "vLLM bench (Rust)", Constant: true, Wide: true,
		Argv: func(_ string, t task) ([]string, error) {
			argv := append([]string{p.bin("vllm-bench", "vllm-bench")}, serving(p, "openai-chat", t)...)
			argv = append(argv, "--endpoint", "/v1/chat/completions", "--dataset-name", "random", "--ignore-eos", "--percentile-metrics", "ttft,tpot,itl,e2el",
				"--metric-percentiles", "50,99", "--save-result", "--result-filename", "out.json")
			if t.Rate > 0 { // a gamma process of infinite shape: evenly spaced
				argv = append(argv, "--burstiness", "inf")
			}
			return argv, nil
		},
		Read: func(dir string) (said, error) { return servingSaid(filepath.Join(dir, "out.json")) }}
}

func sglang(p place, kind string) client {
	return client{Name: "SGLang (" + kind + ")", Env: []string{"HF_HUB_OFFLINE=1"}, Wide: kind == "rust",
		Argv: func(_ string, t task) ([]string, error) {
			argv := append([]string{p.bin("sglang", "python"), filepath.Join(p.root, "bench", "rivals", "sglang_client.py"), kind}, serving(p, "vllm-chat", t)...)
			return append(argv, "--dataset-name", "random-ids", "--random-range-ratio", "1", "--warmup-requests", "0", "--output-file", "out.jsonl", "--disable-tqdm"), nil
		},
		Read: func(dir string) (said, error) { return servingSaid(filepath.Join(dir, "out.jsonl")) }}
}

func aiperf(p place) client {
	return client{Name: "AIPerf", Constant: true,
		Argv: func(dir string, t task) ([]string, error) {
			argv := []string{p.bin("aiperf", "aiperf"), "profile", "-m", "truth", "--tokenizer", p.tokenizer(), "-u", t.URL, "--endpoint-type", "chat", "--streaming",
				"--isl", strconv.Itoa(inputTokens), "--osl", strconv.Itoa(t.Tokens), "--request-count", strconv.Itoa(t.Requests), "--extra-inputs", "ignore_eos:true",
				"--ui-type", "none", "--no-server-metrics", "--no-gpu-telemetry", "--artifact-dir", dir}
			if t.Rate > 0 {
				return append(argv, "--request-rate", number(t.Rate), "--arrival-pattern", "constant"), nil
			}
			return append(argv, "--concurrency", strconv.Itoa(t.Concurrency)), nil
		},
		Read: func(dir string) (said, error) {
			d, err := readJSON(filepath.Join(dir, "profile_export_aiperf.json"))
			failed := d.number(1, "error_request_count", "avg")
			if failed == nil && err == nil {
				failed = new(float64)
			}
			return said{TTFTP50: d.number(1, "time_to_first_token", "p50"), TTFTP99: d.number(1, "time_to_first_token", "p99"),
				GapP50: d.number(1, "inter_chunk_latency", "p50"), GapP99: d.number(1, "inter_chunk_latency", "p99"), MeanGapP50: d.number(1, "inter_token_latency", "p50"),
				RequestRate: d.number(1, "request_throughput", "avg"), TokenRate: d.number(1, "output_token_throughput", "avg"),
				OK: d.number(1, "request_count", "avg"), Failed: failed}, err
		}}
}

func guidellm(p place) client {
	return client{Name: "GuideLLM", Constant: true,
		Argv: func(dir string, t task) ([]string, error) {
			profile := fmt.Sprintf("kind=concurrent,streams=%d", t.Concurrency)
			if t.Rate > 0 {
				profile = "kind=constant,rate=" + number(t.Rate)
			}
			return []string{p.bin("guidellm", "guidellm"), "run", "--backend", "kind=openai_http,target=" + t.URL + ",model=truth", "--profile", profile,
				"--constraint", fmt.Sprintf("kind=max_requests,count=%d", t.Requests), "--tokenizer", "kind=hf_auto,model=" + p.tokenizer(),
				"--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", inputTokens, t.Tokens),
				"--output", "kind=json,path=" + filepath.Join(dir, "out.json"), "--disable-console-interactive"}, nil
		},
		Read: func(dir string) (said, error) {
			d, err := readJSON(filepath.Join(dir, "out.json"))
			m := func(path ...string) *float64 {
				return d.number(1, append([]string{"benchmarks", "0", "metrics"}, path...)...)
			}
			return said{TTFTP50: m("time_to_first_token_ms", "successful", "percentiles", "p50"), TTFTP99: m("time_to_first_token_ms", "successful", "percentiles", "p99"),
				MeanGapP50:  m("inter_token_latency_ms", "successful", "percentiles", "p50"),
				RequestRate: m("requests_per_second", "successful", "mean"), TokenRate: m("output_tokens_per_second", "successful", "mean"),
				OK: m("request_totals", "successful"), Failed: m("request_totals", "errored")}, err
		}}
}

func inferencePerf(p place) client {
	return client{Name: "inference-perf", Constant: true, Note: "completions: its random data refuses chat",
		Argv: func(dir string, t task) ([]string, error) {
			fixed := func(n int) map[string]any {
				return map[string]any{"type": "fixed", "min": n, "max": n, "mean": n, "total_count": t.Requests}
			}
			load := map[string]any{"type": "concurrent", "stages": []any{map[string]any{"num_requests": t.Requests, "concurrency_level": t.Concurrency}}}
			if t.Rate > 0 {
				load = map[string]any{"type": "constant", "stages": []any{map[string]any{"rate": t.Rate, "duration": int(float64(t.Requests) / t.Rate)}}}
			}
			name := filepath.Join(dir, "config.yml")
			b, err := json.Marshal(map[string]any{ // JSON is YAML
				"api":       map[string]any{"type": "completion", "streaming": true},
				"data":      map[string]any{"type": "random", "input_distribution": fixed(inputTokens), "output_distribution": fixed(t.Tokens)},
				"load":      load,
				"server":    map[string]any{"type": "vllm", "model_name": "truth", "base_url": t.URL, "ignore_eos": true},
				"tokenizer": map[string]any{"pretrained_model_name_or_path": p.tokenizer()},
				"report":    map[string]any{"request_lifecycle": map[string]any{"summary": true}},
				"storage":   map[string]any{"local_storage": map[string]any{"path": filepath.Join(dir, "out")}},
			})
			if err != nil {
				return nil, err
			}
			return []string{p.bin("inference-perf", "inference-perf"), "-c", name}, os.WriteFile(name, b, 0o644)
		},
		Read: func(dir string) (said, error) {
			d, err := readJSON(filepath.Join(dir, "out", "summary_lifecycle_metrics.json"))
			s := func(scale float64, path ...string) *float64 {
				return d.number(scale, append([]string{"successes"}, path...)...)
			}
			return said{TTFTP50: s(1e3, "latency", "time_to_first_token", "median"), TTFTP99: s(1e3, "latency", "time_to_first_token", "p99"),
				GapP50: s(1e3, "latency", "inter_token_latency", "median"), GapP99: s(1e3, "latency", "inter_token_latency", "p99"),
				RequestRate: s(1, "throughput", "requests_per_sec"), TokenRate: s(1, "throughput", "output_tokens_per_sec"),
				OK: s(1, "count"), Failed: d.number(1, "failures", "count")}, err
		}}
}

func evalscope(p place) client {
	return client{Name: "EvalScope",
		Argv: func(dir string, t task) ([]string, error) {
			argv := []string{p.bin("evalscope", "evalscope"), "perf", "--url", t.URL + "/v1/chat/completions", "--api", "openai", "--model", "truth",
				"--tokenizer-path", p.tokenizer(), "--dataset", "random", "--min-prompt-length", strconv.Itoa(inputTokens), "--max-prompt-length", strconv.Itoa(inputTokens),
				"--max-tokens", strconv.Itoa(t.Tokens), "--min-tokens", strconv.Itoa(t.Tokens), "--number", strconv.Itoa(t.Requests),
				"--extra-args", `{"ignore_eos": true}`, "--outputs-dir", filepath.Join(dir, "out"), "--no-test-connection", "--stream"}
			if t.Rate > 0 {
				return append(argv, "--rate", number(t.Rate), "--open-loop"), nil
			}
			return append(argv, "--parallel", strconv.Itoa(t.Concurrency)), nil
		},
		Read: func(dir string) (said, error) {
			results := filepath.Join(dir, "out", "*", "truth", "*")
			d, err := readJSON(filepath.Join(results, "benchmark_summary.json"))
			if err != nil {
				return said{}, err
			}
			table, err := readRows(filepath.Join(results, "benchmark_percentile.json"), "Percentiles")
			return said{TTFTP50: table["50%"].number(1, "TTFT (ms)"), TTFTP99: table["99%"].number(1, "TTFT (ms)"),
				GapP50: table["50%"].number(1, "ITL (ms)"), GapP99: table["99%"].number(1, "ITL (ms)"),
				RequestRate: d.number(1, "Req Throughput (req/s)"), TokenRate: d.number(1, "Output Throughput (tok/s)"),
				OK: d.number(1, "Success Requests"), Failed: d.number(1, "Failed Requests")}, err
		}}
}
