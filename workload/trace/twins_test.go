package trace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// planted is a damage to the first line of a sample that holds old, and a part
// of the reason that must be given for it.
type planted struct{ old, with, reason string }

// damages are of values: what is no JSON and no CSV is planted elsewhere.
func damages() map[string][]planted {
	const tokens1, tokens0, number = "expected a number of tokens from 1 to 10000000, found ", "expected a number of tokens from 0 to 10000000, found ", "expected a number from 0 on, found "
	const moment = "expected seconds or a time such as 2023-11-16 18:15:46.6805900, found "
	return map[string][]planted{
		"azure.csv": {
			{"2399,6", "0,6", "field 2: " + tokens1 + `"0"`},
			{"2399,6", "2399,-6", "field 3: " + tokens0 + `"-6"`},
			{"2399,6", "2399.5,6", "field 2: " + tokens1},
			{"2399,6", "10000001,6", "field 2: " + tokens1},
			{"2399,6", "2399", "field 3: " + tokens0 + `""`},
			{"2399,6", `"2399,6`, "quotes are not closed"},
			{"2024-05-10 00:00:00.017335+00:00", "2024-13-10 00:00:00+00:00", "field 1: " + moment},
			{"2024-05-10 00:00:00.017335+00:00", "1715299200017", "field 1: " + moment + `"1715299200017", which looks like ms since 1970`},
		},
		"azure-multimodal.csv": {
			{"1,1024,50", "-1,1024,50", "field 2: " + number + `"-1"`},
			{"1,1024,50", "1000001,1024,50", "field 2: " + number + `"1000001"`},
			{"1,1024,50", strings.Repeat("1", 41) + ",1024,50", "field 2: " + number + "a text of 41 bytes"},
			{"1,1024,50", "1.5,1024,50", "field 2: " + number + `"1.5"`},
			{"1,1024,50", "1,,50", "field 3: " + tokens1},
			{"1,1024,50", "1,1024,many", "field 4: " + tokens0 + "a text of 4 bytes"},
			{"2025-03-12 00:00:00.145", "2025-02-29 00:00:00", "field 1: " + moment},
		},
		"burstgpt.csv": {
			{"118.5", "noon", "field 1: " + moment},
			{"118.5", "1700000000000000", "which looks like us since 1970"},
			{"1.25", "5000000000", "field 3: expected seconds from 0 on, found "},
			{"1.25", "-1.25", "field 3: expected seconds from 0 on, found "},
			{"1.25", "fast", "field 3: expected seconds from 0 on, found a text of 4 bytes"},
			{"472,18", "0,18", "field 5: " + tokens1},
			{"472,18", "472,1e9", "field 6: " + tokens0},
		},
		"csv.csv": {
			{"1700000001,300,0", "never,300,0", "field 1: " + moment},
			{"1700000001,300,0", "1700000001,-300,0", "field 2: " + tokens1},
			{"1700000001,300,0", "1700000001,300,x", "field 3: " + tokens0},
			{"large,503", "large,5 03", "field 7: " + number},
		},
		"etalon.csv":      {{"1047,1368", "0,1368", "field 1: " + tokens1}, {"1047,1368", "1047,-1", "field 2: " + tokens0}},
		"tokamak-csv.csv": {{"0,472", "-1,472", "expected at to be seconds from the start"}, {"0,472", "1700000000,472", "expected at to be seconds"}, {"0,472", "0,0", "field 2: " + tokens1}, {"t,2", "t,two", "field 6: " + number}},
		"aiperf-single-turn.jsonl": {
			{`"timestamp":0`, `"timestamp":"soon"`, "expected timestamp to be a number or a date and time, found a text"},
			{`"timestamp":0`, `"timestamp":1767225600000000`, "expected timestamp in ms or as a date and time, found 1767225600000000, which looks like us since 1970"},
			{`"output_length":10`, `"output_length":-10`, "expected output_length from 0 to 10000000, found -10"},
			{`"output_length":10`, `"delay":-1`, "expected delay to be a length of time from 0 on, found -1"},
			{`["/a.png","/b.png"]`, `[7]`, "images is of the wrong type"},
			{`"text":"Hello",`, "", "expected text, texts, or images, audio or video"},
		},
		"aiperf-multi-turn.jsonl": {
			{`"delay":1000`, `"delay":-1`, "expected turn 2: delay to be a length of time from 0 on"},
			{`"delay":1000`, `"delay":[]`, "turn 2: delay is of the wrong type: expected a number, found a list"},
			{`"text":"Hi there","delay":1000,"image":"u"`, `"delay":1000`, "turn 2: expected text, texts"},
		},
		"bailian.jsonl": {
			{"61.114", `"x"`, "expected timestamp to be a number or a date and time"},
			{"61.114", "1767225600000", "which looks like ms since 1970"},
			{"61.114", "9000000000.5", "expected timestamp to be less than 146 years from 0 in s, found 9000000000.5"},
			{`"input_length": 37`, `"input_length": 0`, "expected input_length from 1 to 10000000, found 0"},
			{"[1089, 1090, 1091]", "[1, 2, 3, 4]", "expected at most 3 hash_ids for 37 tokens in blocks of 16, found 4"},
			{"[1089, 1090, 1091]", "[1, {}, 3]", "expected hash_ids to be a list of numbers or texts"},
			{`"turn": 1`, `"turn": -1`, "expected turn from 0 to 1000000000, found -1"},
			{`"chat_id": 159, `, "", "expected chat_id"},
		},
		"evalscope.jsonl": {
			{"1767225600.5", "1767225600500", "expected timestamp in s or as a date and time, found 1767225600500, which looks like ms since 1970"},
			{`"completion_tokens":40`, `"completion_tokens":40.5`, "expected completion_tokens from 0 to 10000000, found 40.5"},
			{`{"prompt":"three"}`, "7", "expected a body to be an object, found a number"},
			{`{"prompt":"three"}`, `"{x"`, "expected a body to be JSON (of 2 bytes)"},
			{`{"prompt":"three"}`, `{"prompt":"three","max_tokens":"many"}`, "expected body.max_tokens to be a whole number of tokens, found a text"},
			{`"body":{"prompt":"three"},`, "", "expected body"},
		},
		"goreplay-kafka.jsonl": {
			{`"1767225600000000001"`, `"now"`, "expected Req_Ts to be a number or a date and time"},
			{`"Req_Ts":"1767225600000000001",`, "", "expected Req_Ts"},
			{`,"Req_Body":"{\"prompt\":\"p\"}"`, "", "expected Req_Body"},
			{`"{\"prompt\":\"p\"}"`, `"{\"prompt\":\"p"`, "expected a body to be JSON"},
		},
		"litellm.jsonl": {
			{"1767225600.25", "true", "startTime is of the wrong type: expected a number or a date and time, found true or false"},
			{"1767225600.25", "1767225600250", "which looks like ms since 1970"},
			{`"prompt_tokens":12`, `"prompt_tokens":"twelve"`, "expected prompt_tokens from 0 to 10000000, found a text"},
			{`"completion_tokens":34`, `"completion_tokens":-34`, "expected completion_tokens from 0 to 10000000, found -34"},
			{`[{"role":"user","content":"hi"}]`, `[{"content":"hi"}]`, "expected message 1 to have a role"},
		},
		"llmservingsim.jsonl": {
			{"1787267980.0827403", "1787267980082", "which looks like ms since 1970"},
			{`"input_toks": 2358`, `"input_toks": 0`, "expected input_toks from 1 to 10000000, found 0"},
			{`"output_toks": 531`, `"output_toks": null, "first_token_ts": []`, "first_token_ts is of the wrong type"},
		},
		"mooncake.jsonl": {
			{"27482", `"later"`, "expected timestamp to be a number or a date and time"},
			{"27482", "1767225600000000", "which looks like us since 1970"},
			{"6955", "69550000", "expected input_length from 1 to 10000000, found 69550000"},
			{"6955", "600", "expected at most 2 hash_ids for 600 tokens in blocks of 512, found 14"},
			{`"output_length": 52`, `"output_length": 5.2`, "expected output_length from 0 to 10000000, found 5.2"},
		},
		"mooncake-texts.jsonl": {
			{`"text_input":"Hello there",`, "", "expected exactly one of input_length, text_input, messages, payload, found 0 of them"},
			{`"text_input":"Hello there",`, `"text_input":"a","input_length":5,`, "found 2 of them"},
			{`[{"role":"user","content":"weather?"}]`, `{}`, "expected messages to be a list of objects"},
			{`"max_tokens":3`, `"max_tokens":3.5`, "expected body.max_tokens to be a whole number of tokens, found 3.5"},
		},
		"mooncake-cumulative.jsonl": {{"[1,2,3]", "7", "hash_ids is of the wrong type: expected a list, found a number"}},
		"mooncake-delta.jsonl":      {{"[1,2,3]", "[1,2,3,4]", "expected at most 3 hash_ids for 1100 tokens"}},
		"openai-batch.jsonl": {
			{`"max_tokens":1000`, `"max_tokens":[]`, "expected body.max_tokens to be a whole number of tokens, found a list"},
			{`{"model":"m","prompt":"two"}`, `[]`, "expected a body to be an object, found a list"},
			{`"body":{"model":"m","prompt":"two"}`, `"body":null`, "expected body"},
		},
		"otel-spans.jsonl": {
			{`"2026-02-25T10:00:00.000000"`, `"2026-02-25 noon"`, "expected start_time to be a number or a date and time, found a text"},
			{`"start_time":"2026-02-25T10:00:00.000000",`, "", "expected startTimeUnixNano or start_time"},
			{`"gen_ai.usage.input_tokens":14`, `"gen_ai.usage.input_tokens":-14`, "expected attribute gen_ai.usage.input_tokens from 0 to 10000000, found -14"},
			{`"gen_ai.usage.input_tokens":14`, `"gen_ai.usage.input_tokens":1.4`, "expected attribute gen_ai.usage.input_tokens from 0 to 10000000, found 1.4"},
			{`"gen_ai.usage.output_tokens":30`, `"gen_ai.usage.output_tokens":"x","gen_ai.request.max_tokens":5`, "expected attribute gen_ai.usage.output_tokens from 0"},
			{`"gen_ai.usage.output_tokens":30`, `"gen_ai.request.max_tokens":0.5`, "expected attribute gen_ai.request.max_tokens to be a whole number of tokens, found 0.5"},
		},
		"otel.jsonl": {
			{`"1767225600000000000"`, `"x"`, "expected startTimeUnixNano to be a number or a date and time"},
			{`{"intValue":"100"}`, `{"intValue":"1e9"}`, "expected attribute gen_ai.usage.input_tokens from 0 to 10000000"},
		},
		"raw-payload.jsonl": {
			{`"max_tokens":7`, `"max_tokens":true`, "expected body.max_tokens to be a whole number of tokens, found true or false"},
			{`"prompt":"three",`, "", "expected a request body with messages, prompt or input"},
		},
		"tokamak.jsonl": {
			{`"at":0,`, `"at":-1,`, "expected at to be seconds from the start, at least 0"},
			{`"at":0,`, `"at":1767225600,`, "expected at to be seconds from the start, at least 0"},
			{`"at":0,`, `"at":1767225600000,`, "which looks like ms since 1970"},
			{`"prompt":"What is a tokamak?"`, `"prompt":7`, "prompt is of the wrong type: expected a text, found a number"},
			{`"prompt":"What is a tokamak?"`, `"prompt":"p","messages":[{"role":"user","content":"q"}]`, "expected only one of messages, prompt, body, conversations"},
			{`"prompt":"What is a tokamak?",`, "", "expected one of messages, prompt, body, conversations, input_tokens"},
			{`"output_tokens":8`, `"output_tokens":1e8`, "expected output_tokens from 0 to 10000000"},
			{`"max_tokens":9`, `"max_tokens":9.5`, "expected max_tokens to be a whole number of tokens, found 9.5"},
			{`"input_tokens":1300`, `"input_tokens":0`, "expected input_tokens from 1 to 10000000, found 0"},
			{`"input_tokens":1300`, `"input_tokens":1000`, "expected at most 2 hash_ids for 1000 tokens in blocks of 512, found 3"},
			{`"cached_tokens":512`, `"cached_tokens":` + strings.Repeat("1", 41), "expected cached_tokens from 0 to 10000000, found a number"},
			{`"cached_tokens":512`, `"cached_tokens":-1`, "expected cached_tokens from 0 to 10000000, found -1"},
			{`"reasoning_tokens":2`, `"reasoning_tokens":[2]`, "reasoning_tokens is of the wrong type"},
			{`"images":2`, `"images":-2`, "expected images from 0 to 1000000, found -2"},
			{`"tools":3`, `"tools":0.3`, "expected tools from 0 to 1000000, found 0.3"},
			{`"turn":1`, `"turn":"first"`, "expected turn from 0 to 1000000000, found a text"},
			{`"delta":true`, `"delta":1`, "delta is of the wrong type: expected true or false, found a number"},
			{`"status":503`, `"status":5030`, "expected status from 0 to 999, found 5030"},
			{`"first_token":0.02`, `"first_token":-0.02`, "expected first_token to be a length of time from 0 on, found -0.02"},
			{`"duration":1.5`, `"duration":5000000000`, "expected duration to be a length of time from 0 on, found 5000000000"},
			{`"duration":1.5`, `"duration":"long"`, "expected duration to be a length of time from 0 on, found a text"},
			{`"block_tokens":16`, `"block_tokens":0`, "expected block_tokens from 1 to 10000000, found 0"},
		},
		"vllm-custom.jsonl": {{`"output_tokens":12`, `"output_tokens":-1`, "expected output_tokens from 0 to 10000000, found -1"}, {`"And of Italy?"`, `["And of Italy?"]`, "prompt is of the wrong type"}},
		"weka.jsonl": {
			{`{"t":1,`, `{"t":"x",`, "expected t to be a number or a date and time"},
			{`{"t":1,`, `{`, "expected t"},
			{`"in":20`, `"in":0`, "expected in from 1 to 10000000, found 0"},
			{`"out":2,"hash_ids":[0]`, `"out":2,"hash_ids":[0,1]`, "expected at most 1 hash_ids for 20 tokens in blocks of 64, found 2"},
			{`"out":2,"hash_ids":[0]`, `"out":2,"ttft":-1`, "expected ttft to be a length of time from 0 on, found -1"},
			{`"block_size":64,"hash_id_scope":"global"`, `"block_size":0,"hash_id_scope":"global"`, "expected block_size from 1 to 10000000, found 0"},
		},
		"apisix.log": {
			{"1767225601000", "1767225601000000", "expected start_time in ms or as a date and time, found 1767225601000000, which looks like us since 1970"},
			{`"latency":800`, `"latency":"slow"`, "expected latency to be a length of time from 0 on, found a text"},
			{`"start_time":1767225601000,`, "", "expected a moment"},
			{`"prompt_tokens":30`, `"prompt_tokens":-30`, "expected llm_summary.prompt_tokens from 0 to 10000000, found -30"},
			{`"llm_time_to_first_token":120`, `"llm_time_to_first_token":-120`, "expected llm_summary.llm_time_to_first_token to be a length of time"},
			{`"request":{"uri":"/v1/chat/completions","method":"POST","headers":{},"size":300}`, `"request":7`, "expected request to be an object"},
		},
		"envoy-ai-gateway.log": {
			{`"2026-03-01T00:00:00.100Z"`, `"2026-03-01T25:00:00Z"`, "expected start_time to be a number or a date and time, found a text"},
			{`"response_code":200`, `"response_code":2000`, "expected response_code from 0 to 999, found 2000"},
			{`"gen_ai.usage.input_tokens":412`, `"gen_ai.usage.input_tokens":4.12`, "expected gen_ai.usage.input_tokens from 0 to 10000000, found 4.12"},
		},
		"envoy.log": {
			{`"duration":2310`, `"duration":-2310`, "expected duration to be a length of time from 0 on, found -2310"},
			{`"start_time":"2026-03-01T00:00:00.100Z"`, `"timestamp":1772323200100`, "expected timestamp in s or as a date and time, found 1772323200100, which looks like ms since 1970"},
			{`"start_time":"2026-03-01T00:00:00.100Z",`, "", "expected start_time or timestamp"},
		},
		"higress.log": {
			{`"21"`, `"many"`, "expected input_token from 0 to 10000000, found a text"},
			{`"duration":"1590"`, `"duration":"1.5 s"`, "expected duration to be a length of time from 0 on, found a text"},
			{`"{\"session_id\":\"s\"`, `"{\"session_id\":\"s`, "ai_log: column "},
			{`\"chat_round\":2`, `\"chat_round\":-2`, "expected ai_log.chat_round from 0 to 1000000000, found -2"},
		},
		"kong.log": {
			{"1767225600123", `"x"`, "expected started_at to be a number or a date and time"},
			{`"request":2612`, `"request":-1`, "expected latencies.request to be a length of time from 0 on, found -1"},
			{`"prompt_tokens":28`, `"prompt_tokens":2.8`, "expected ai.proxy.usage.prompt_tokens from 0 to 10000000, found 2.8"},
			{`"status":429`, `"status":[]`, "response.status is of the wrong type: expected a number, found a list"},
		},
		"nginx.log": {
			{`"1767225602.500"`, `"1767225602500"`, "expected msec in s or as a date and time, found a text, which looks like ms since 1970"},
			{`"request_time":"2.250"`, `"request_time":"2.2.5"`, "expected request_time to be a length of time from 0 on, found a text"},
			{`"status":"502"`, `"status":"502, 200"`, "expected status from 0 to 999, found a text"},
		},
	}
}

// twinLine is a line of a sample, or one that was planted behind it and the
// reason that must be given for it.
type twinLine struct{ text, reason string }

// twin plants damages behind the lines that they are of.
func twin(t *testing.T, text string, list []planted) []twinLine {
	t.Helper()
	var lines []twinLine
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		lines = append(lines, twinLine{line, ""})
	}
	for _, p := range list {
		at := slices.IndexFunc(lines, func(l twinLine) bool { return l.reason == "" && strings.Contains(l.text, p.old) })
		if at < 0 {
			t.Fatalf("no line has %s", p.old)
		}
		lines = slices.Insert(lines, at+1, twinLine{strings.Replace(lines[at].text, p.old, p.with, 1), p.reason})
	}
	return lines
}

// Each sample with damages planted in it: as many bad lines as there were
// planted, each with its number and reason, and all other rows as they were.
func TestDamagedTwins(t *testing.T) {
	table := damages()
	for _, path := range samples(t) {
		name := strings.TrimPrefix(path, "testdata/")
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".gor") {
			continue // TestDocumentsDamaged
		}
		if len(table[name]) == 0 {
			t.Errorf("%s has no damaged twin", name)
		}
		text := read(t, path)
		want, whole := all(t, text, Options{})
		for list := range slices.Chunk(table[name], keptErrors) {
			lines, reasons, damaged := twin(t, text, list), map[int64]string{}, ""
			for i, l := range lines {
				if damaged += l.text; l.reason != "" {
					reasons[int64(i+1)] = l.reason
				}
			}
			got, r := all(t, damaged, Options{MaxBad: 1})
			n, bad := r.Skipped()
			if int(n) != len(list) {
				t.Errorf("%s: %d skipped of %d planted: %v", name, n, len(list), bad)
			}
			for _, e := range bad {
				if reason, ok := reasons[e.Line]; !ok || !strings.Contains(e.Err.Error(), reason) {
					t.Errorf("%s: want %q, got %v", name, reason, e)
				}
			}
			if ignored := r.Ignored() - whole.Ignored(); ignored != 0 && (name != "otel.jsonl" || ignored != n) { // whose line holds one of each
				t.Errorf("%s: %d more are ignored", name, ignored)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		delete(table, name)
	}
	for name := range table {
		t.Errorf("%s is no sample", name)
	}
}
