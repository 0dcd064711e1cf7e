package trace

import (
	"fmt"
	"strings"
	"testing"
)

// What a request allowed an answer at most is read beside its length, and is
// asked for only where there is no length.
func TestLimitOfAnswers(t *testing.T) {
	const span = `{"traceId":"t","spanId":"s","startTimeUnixNano":"1767225600000000000","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.request.max_tokens","value":%s}%s]}`
	const answered = `,{"key":"gen_ai.usage.output_tokens","value":{"intValue":"5"}}`
	m, err := ParseMapping("m.yaml", []byte("fields: {at: t, output_tokens: n, max_tokens: q.most, body: b}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data                 string
		mapping              *Mapping
		limit, output, asked int64
	}{
		{fmt.Sprintf(span, `{"intValue":"256"}`, answered), nil, 256, 5, 5},
		{fmt.Sprintf(span, `{"intValue":256}`, ""), nil, 256, 0, 256},
		{fmt.Sprintf(span, `{"intValue":"-1"}`, answered), nil, 0, 5, 5},
		{fmt.Sprintf(span, `{"intValue":"2147483647"}`, answered), nil, 0, 5, 5},
		{`{"t":1,"n":7,"q":{"most":"64"}}`, m, 64, 7, 7},
		{`{"t":1,"q":{"most":64}}`, m, 64, 0, 64},
		{`{"t":1,"q":{"most":2147483647}}`, m, 0, 0, 0},
		{`{"t":1,"q":{"most":64},"b":{"prompt":"p"}}`, m, 64, 0, 64},
		{`{"t":1,"q":{"most":64},"b":{"prompt":"p","max_tokens":32}}`, m, 32, 0, 32},
	} {
		rows, _ := all(t, c.data, Options{Mapping: c.mapping})
		if r := rows[0]; len(rows) != 1 || r.Limit != c.limit || r.Output != c.output || r.Asked() != c.asked {
			t.Errorf("%s: limit %d, output %d, asked %d", c.data, r.Limit, r.Output, r.Asked())
		}
	}
}

// limited are contents with a request that limits its answer, one for each way
// to say it. What is %s is the limit.
func limited() map[string]string {
	const span = `{"traceId":"t","spanId":"s","startTimeUnixNano":"1767225600000000000","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"m"}},`
	list := map[string]string{
		"own":        `{"at":0,"input_tokens":5,"max_tokens":%s}`,
		"own body":   `{"at":0,"body":{"prompt":"p","max_tokens":%s}}`,
		"batch":      `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[],"max_tokens":%s}}`,
		"evalscope":  `{"timestamp":0,"request_id":"a","body":{"messages":[],"max_tokens":%s}}`,
		"mooncake":   `{"timestamp":0,"payload":{"prompt":"p","max_tokens":%s}}`,
		"aiperf":     `{"session_id":"s","payloads":[{"prompt":"p","max_tokens":%s}]}`,
		"kafka":      `{"Req_URL":"/v1/completions","Req_Method":"POST","Req_Ts":"1767225600000000000","Req_Body":{"prompt":"p","max_tokens":%s}}`,
		"apisix":     `{"request":{"uri":"/v1/chat/completions","method":"POST"},"response":{"status":200},"start_time":1767225601000,"llm_request":{"max_tokens":%s}}`,
		"litellm":    `{"startTime":1767225600,"endTime":1767225601,"call_type":"acompletion","model_parameters":{"max_tokens":%s}}`,
		"otel":       span + `{"key":"gen_ai.request.max_tokens","value":{"intValue":%s}}]}`,
		"otel, text": `{"span_id":"s","start_time":"2026-01-01T00:00:00Z","attributes":{"llm.invocation_parameters":"{\"max_tokens\":%s}","openinference.span.kind":"LLM"}}`,
	}
	for _, f := range []string{"max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens", "n_predict", "parameters.max_new_tokens",
		"sampling_params.max_new_tokens", "options.num_predict", "generationConfig.maxOutputTokens", "inferenceConfig.maxTokens"} {
		body, end := "", ""
		for i, part := range strings.Split(f, ".") {
			if i > 0 {
				body, end = body+"{", end+"}"
			}
			body += `"` + part + `":`
		}
		list[f] = `{"model":"m","prompt":"p",` + body + `%s` + end + `}`
	}
	return list
}

// There are many ways to say that there is no limit, and what is none in any
// engine's words is a bad line that says what was expected and no text.
func TestNoLimit(t *testing.T) {
	for name, text := range limited() {
		for _, none := range []string{"null", "-1", "-2", "0", "2147483647", "4294967295", "9223372036854775807", "18446744073709551615", "10000001", "1e9"} {
			if rows, _ := all(t, strings.ReplaceAll(text, "%s", none), Options{}); len(rows) != 1 || rows[0].Limit != 0 || rows[0].Asked() != 0 {
				t.Errorf("%s: %s is %s", name, none, dump(rows))
			}
		}
		for limit, want := range map[string]int64{"1": 1, "256": 256, "256.0": 256, "10000000": MaxTokens} {
			if rows, _ := all(t, strings.ReplaceAll(text, "%s", limit), Options{}); len(rows) != 1 || rows[0].Limit != want {
				t.Errorf("%s: %s is %s", name, limit, dump(rows))
			}
		}
		for _, wrong := range []string{"1.5", "true", "[1]"} {
			data := strings.ReplaceAll(text, "%s", wrong)
			r, err := Open("data", content(data), Options{})
			if err == nil {
				_, err = r.Next()
			}
			if name == "own body" { // which is sent as it is
				if err != nil {
					t.Errorf("%s: %s: %v", name, wrong, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), " to be a whole number of tokens, found ") {
				t.Errorf("%s: %s: %v", name, wrong, err)
			}
		}
	}
	for text, want := range map[string]string{
		`{"model":"m","prompt":"p","max_tokens":"abc"}`:                                        "data:1: expected body.max_tokens to be a whole number of tokens, found a text",
		`{"model":"m","prompt":"p","max_tokens":1.5}`:                                          "data:1: expected body.max_tokens to be a whole number of tokens, found 1.5",
		`{"model":"m","prompt":"p","parameters":{"max_new_tokens":"-"},"max_tokens":" "}`:      "EOF",
		`{"model":"m","prompt":"p","parameters":{"max_new_tokens":{"a":1}}}`:                   "data:1: expected body.parameters.max_new_tokens to be a whole number of tokens, found an object",
		`{"model":"m","prompt":"p","max_completion_tokens":-1,"max_tokens":7,"n_predict":"x"}`: "EOF", // behind the first that sets one
	} {
		r, err := Open("data", content(text), Options{})
		for err == nil {
			_, err = r.Next()
		}
		if !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The first field that sets a limit counts, and those before it that set none do not.
func TestFirstLimitCounts(t *testing.T) {
	for text, want := range map[string]int64{
		`{"model":"m","prompt":"p","max_completion_tokens":-1,"max_tokens":7,"n_predict":9}`:     7,
		`{"model":"m","prompt":"p","max_completion_tokens":null,"n_predict":9}`:                  9,
		`{"model":"m","prompt":"p","max_completion_tokens":5,"max_tokens":2147483647}`:           5,
		`{"model":"m","prompt":"p","max_tokens":0,"options":{"num_predict":-2},"n_predict":"-"}`: 0,
	} {
		if rows, _ := all(t, text, Options{}); rows[0].Limit != want {
			t.Errorf("%s: %d", text, rows[0].Limit)
		}
	}
}

// A log that was written with a body that is no limit's keeps its row, as with
// any body that cannot be sent again.
func TestWrongLimitInALoggedBody(t *testing.T) {
	rows, r := all(t, `{"request":{"uri":"/v1/completions","method":"POST","body":"{\"prompt\":\"p\",\"max_tokens\":\"abc\"}"},"response":{"status":400},"latencies":{},"started_at":1767225601000}`, Options{})
	if n, _ := r.Skipped(); len(rows) != 1 || n != 0 || rows[0].Body != nil || !rows[0].Failed {
		t.Error(dump(rows))
	}
	rows, _ = all(t, `{"request":{"uri":"/v1/completions","method":"POST","body":"{\"prompt\":\"p\",\"max_tokens\":-1}"},"response":{"status":200},"latencies":{},"started_at":1767225601000}`, Options{})
	if len(rows) != 1 || rows[0].Body == nil || rows[0].Limit != 0 {
		t.Error(dump(rows))
	}
}
