package trace

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Entries with the names that the gateways' own sources and documents give
// their fields: what each says of lengths and times is read.
func TestNamesOfTheWild(t *testing.T) {
	type facts struct {
		Format                           string
		Input, Output, Cached, Reasoning int64
		FirstToken                       time.Duration
		Model                            string
	}
	const apisix = `{"request":{"uri":"/v1/chat/completions","method":"POST"},"response":{"status":200},"start_time":1767225601000,"latency":800,`
	for name, c := range map[string]struct {
		text string
		want facts
	}{
		"apisix, a stream": {apisix + `"llm_summary":{"request_model":"a","model":"b","duration":120,"prompt_tokens":30,"completion_tokens":9,"total_tokens":39,"upstream_response_time":700,"stream":true,"cache_read_input_tokens":16,"reasoning_tokens":4},"llm_request":{"stream":true}}`,
			facts{"apisix", 30, 9, 16, 4, 120 * time.Millisecond, "b"}},
		"apisix, at once": {apisix + `"llm_summary":{"request_model":"a","duration":"700","prompt_tokens":"30","completion_tokens":"9"},"llm_request":{"messages":[],"stream":false}}`,
			facts{"apisix", 30, 9, 0, 0, 0, "a"}},
		"apisix, variables": {apisix + `"llm_model":"b","llm_time_to_first_token":"120","llm_prompt_tokens":"30","llm_completion_tokens":"9","llm_cache_read_input_tokens":"16","llm_reasoning_tokens":"4"}`,
			facts{"apisix", 30, 9, 16, 4, 120 * time.Millisecond, "b"}},
		"kong": {`{"request":{"uri":"/v1/chat/completions","method":"POST","id":"q"},"response":{"status":200},"latencies":{"request":2700},"started_at":1767225601000,"ai":{"ai-proxy":{"usage":{"prompt_token":28,"total_tokens":48,"completion_token":20,"time_per_token":133},"meta":{"request_model":"command","response_model":"command-r","llm_latency":2670}}}}`,
			facts{"kong", 28, 20, 0, 0, 0, "command-r"}},
		"higress": {`{"start_time":"2026-01-01T00:00:00Z","path":"/v1/chat/completions","response_code":200,"ai_log":"{\"model\":\"q\",\"input_token\":100,\"output_token\":50,\"llm_first_token_duration\":90,\"llm_service_duration\":900,\"input_token_details\":{\"cached_tokens\":64},\"output_token_details\":{\"reasoning_tokens\":7}}"}`,
			facts{"higress", 100, 50, 64, 7, 90 * time.Millisecond, "q"}},
		"higress, without ai_log": {`{"start_time":"2026-01-01T00:00:00Z","path":"/v1/chat/completions","method":"POST","response_code":200,"model":"q","input_token":"100","output_token":"50","llm_first_token_duration":"90"}`,
			facts{"higress", 100, 50, 0, 0, 90 * time.Millisecond, "q"}},
		"litellm, a spend log": {`{"request_id":"c","call_type":"agenerate_content","api_key":"k","spend":0.1,"total_tokens":12,"prompt_tokens":10,"completion_tokens":2,"startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-01T00:00:01Z","completionStartTime":"2026-01-01T00:00:00.25Z","model":"m","metadata":"{\"usage_object\":{\"cache_read_input_tokens\":6}}","cache_hit":"False","end_user":"","messages":{},"response":{}}`,
			facts{"litellm", 10, 2, 6, 0, 250 * time.Millisecond, "m"}},
		"otel, now": {`{"traceId":"t","spanId":"s","startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[{"key":"gen_ai.provider.name","value":{"stringValue":"p"}},{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"10"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"5"}},{"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"4"}},{"key":"gen_ai.usage.reasoning.output_tokens","value":{"intValue":"3"}},{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.125}}]}`,
			facts{"otel", 10, 5, 4, 3, 125 * time.Millisecond, "m"}},
		"otel, before": {`{"traceId":"t","spanId":"s","startTimeUnixNano":"1767225600000000000","attributes":[{"key":"gen_ai.usage.completion_tokens","value":{"intValue":"5"}},{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"10"}},{"key":"gen_ai.usage.cache_read_input_tokens","value":{"intValue":"4"}}]}`,
			facts{"otel", 10, 5, 4, 0, 0, ""}},
		"otel, OpenInference": {`{"trace_id":"t","span_id":"s","start_time":"2026-01-01T00:00:00Z","attributes":{"llm.model_name":"m","llm.token_count.prompt":10,"llm.token_count.completion":5,"llm.token_count.prompt_details.cache_read":4,"llm.token_count.completion_details.reasoning":3}}`,
			facts{"otel", 10, 5, 4, 3, 0, "m"}},
		"otel, OpenInference's parameters": {`{"trace_id":"t","span_id":"s","start_time":"2026-01-01T00:00:00Z","attributes":{"openinference.span.kind":"LLM","llm.invocation_parameters":"{\"model\":\"m\",\"max_tokens\":7}","llm.token_count.prompt":10}}`,
			facts{"otel", 10, 0, 0, 0, 0, "m"}},
		"otel, OpenInference in objects": {`{"trace_id":"t","span_id":"s","start_time":"2026-01-01T00:00:00Z","attributes":{"openinference":{"span":{"kind":"LLM"}},"llm":{"model_name":"m","invocation_parameters":"{'model': 'other'}","token_count":{"prompt":10,"completion":5,"prompt_details":{"cache_read":4}}}}}`,
			facts{"otel", 10, 5, 4, 0, 0, "m"}},
	} {
		rows, r := all(t, c.text, Options{})
		if len(rows) != 1 {
			t.Errorf("%s: %d rows, %d ignored", name, len(rows), r.Ignored())
			continue
		}
		w := rows[0]
		if diff := cmp.Diff(c.want, facts{r.Format(), w.Input, w.Output, w.Cached, w.Reasoning, w.FirstToken, w.Model}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if w.ReasoningTold != (w.Reasoning > 0) {
			t.Errorf("%s: reasoning told: %v", name, w.ReasoningTold)
		}
	}
}

// Spans of OpenInference that call no model are passed over, though they may
// sum up the tokens of those that do.
func TestKindsOfSpans(t *testing.T) {
	for kind, rows := range map[string]int{"LLM": 1, "CHAIN": 0, "AGENT": 0, "EMBEDDING": 0} {
		text := `{"trace_id":"t","span_id":"s","start_time":"2026-01-01T00:00:00Z","attributes":{"openinference.span.kind":"` + kind + `","llm.token_count.prompt":10}}` + "\n" +
			`{"trace_id":"t","span_id":"r","start_time":"2026-01-01T00:00:00Z","attributes":{"gen_ai.request.model":"m","gen_ai.usage.input_tokens":3}}`
		got, r := all(t, text, Options{})
		if len(got) != 1+rows || r.Ignored() != int64(1-rows) {
			t.Errorf("%s: %d rows, %d ignored", kind, len(got), r.Ignored())
		}
	}
}

// A dash stands for nothing in access logs, so that the next name may have it.
func TestDashes(t *testing.T) {
	rows, _ := all(t, `{"start_time":"-","timestamp":"2026-01-01T00:00:00Z","path":"/v1/completions","response_code":"-","duration":"-","gen_ai.usage.input_tokens":"-","genai_tokens_input":"7","gen_ai.usage.output_tokens":""}`, Options{})
	if r := rows[0]; len(rows) != 1 || r.At != 1767225600e9 || r.Status != 0 || r.Told || r.Duration != 0 || r.Input != 7 || r.Output != 0 {
		t.Error(dump(rows))
	}
}

// An end before its beginning tells no length of time, and a logged answer's
// usage that is none no tokens.
func TestTimesThatGoBack(t *testing.T) {
	for _, text := range []string{
		`{"input_toks":5,"output_toks":5,"arrival_time":1,"queued_ts":9,"first_token_ts":8,"last_token_ts":7}`,
		`{"call_type":"completion","startTime":9,"endTime":8,"completionStartTime":7,"prompt_tokens":3}`,
		`{"spanId":"s","startTimeUnixNano":"9","endTimeUnixNano":"8","attributes":{"gen_ai.request.model":"m"}}`,
		`{"request":{"method":"POST"},"response":{"status":200,"body":"{\"usage\":{\"prompt_tokens\":-3,\"completion_tokens\":100000000}}"},"start_time":1}`,
	} {
		rows, _ := all(t, text, Options{})
		if r := rows[0]; len(rows) != 1 || r.FirstToken != 0 || r.Duration != 0 || max(r.Input, -r.Input) > 5 || r.Input < 0 || r.Output > 5 {
			t.Errorf("%s: %s", text, dump(rows))
		}
	}
}

// Our own timestamps are ms from the first, think times s.
func TestOwnTimes(t *testing.T) {
	rows, _ := all(t, `{"timestamp":1767225600250,"prompt":"a"}`+"\n"+`{"timestamp":1767225601500,"input_tokens":5,"turns":[{"input_tokens":6,"think":2.5}]}`, Options{})
	if len(rows) != 2 || rows[0].At != 0 || rows[1].At != 1250e6 || rows[1].Turns[1].Think != 2500*time.Millisecond {
		t.Error(dump(rows))
	}
}

// A record whose body is cut short is a bad one that says by how much, also
// where what is left is JSON.
func TestRecordCutShort(t *testing.T) {
	const record = "1 aaaaaaaaaaaa 5\nPOST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n{\"prompt\":\"p\"}"
	_, r := all(t, fmt.Sprintf(record, 14)+"\n"+separator+"\n"+fmt.Sprintf(record, 90), Options{MaxBad: 1})
	if n, bad := r.Skipped(); n != 1 || bad[0].Error() != "data: record 2: the body is cut short: 14 bytes of 90" {
		t.Error(n, bad)
	}
}

// The attribute of a span goes before the parameters of its request.
func TestLimitOfASpanGoesFirst(t *testing.T) {
	rows, _ := all(t, `{"spanId":"s","startTimeUnixNano":"9","attributes":{"gen_ai.request.model":"m","gen_ai.request.max_tokens":5,"llm.invocation_parameters":"{\"max_tokens\":7}"}}`, Options{})
	if rows[0].Limit != 5 {
		t.Error(dump(rows))
	}
}
