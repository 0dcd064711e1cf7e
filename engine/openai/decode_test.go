package openai

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// response is what a test server says.
type response struct {
	status  int
	header  []wire.Field
	framing wire.Framing // of the body
	body    string
	cause   wire.Cause
	perSeg  int // events a segment; 0: all in one
}

func stream(body string) response {
	return response{status: 200, framing: wire.SSE, body: body,
		header: []wire.Field{{Name: "content-type", Value: "text/event-stream; charset=utf-8"}}}
}

func whole(status int, body string) response {
	return response{status: status, framing: wire.Whole, body: body,
		header: []wire.Field{{Name: "Content-Type", Value: "application/json"}}}
}

// events frames a body; event i arrives at 1000*(i+1).
func (r response) events() ([]byte, []wire.Event) {
	data := []byte(r.body)
	var out []wire.Event
	framer := wire.NewFramer(r.framing)
	start := 0
	add := func(end int) {
		out = append(out, wire.Event{Start: int32(start), End: int32(end), At: int64(1000 * (len(out) + 1))})
		start = end
	}
	for end := framer.Next(data); end >= 0; end = framer.Next(data) {
		add(end)
	}
	if start < len(data) {
		add(len(data))
	}
	return data, out
}

func newDriver(t testing.TB, api string, change func(*Options)) *Driver {
	t.Helper()
	o := Options{Base: &url.URL{Scheme: "http", Host: "h"}, Model: "m"}
	if change != nil {
		change(&o)
	}
	d, err := New(api, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// play decodes a response to a call.
func play(t testing.TB, d *Driver, c *engine.Call, r response) *engine.Answer {
	t.Helper()
	req, err := d.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	var x wire.Exchange
	x.Reset(req, nil)
	x.Status, x.Header, x.Cause, x.ContentFraming = r.status, r.header, r.cause, r.framing
	dec := d.Decoder(c)
	data, events := r.events()
	for len(events) > 0 {
		n := len(events)
		if r.perSeg > 0 {
			n = min(n, r.perSeg)
		}
		dec.Segment(&wire.Segment{Data: data, Events: events[:n]})
		events = events[n:]
	}
	return dec.End(&x)
}

func hi() *engine.Call {
	return &engine.Call{Messages: []engine.Message{{Role: "user", Content: "hi"}}}
}

// sse makes a stream of events from their data.
func sse(data ...string) string {
	var b strings.Builder
	for _, s := range data {
		b.WriteString("data: " + s + "\n\n")
	}
	return b.String()
}

func delta(fields string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{` + fields + `}}]}`
}

func finish(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	role  = `{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	usage = `{"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`
	done  = "[DONE]"
)

func TestAnswers(t *testing.T) {
	good := func(middle ...string) string {
		return sse(append(append([]string{role}, middle...), finish("stop"), usage, done)...)
	}
	tests := map[string]struct {
		api        string
		options    func(*Options)
		call       *engine.Call
		response   response
		failure    engine.Failure
		class      string
		content    string
		kinds      []engine.Kind
		finish     string
		violations []string
		notes      []string
	}{
		"plain": {response: stream(good(delta(`"content":"Hel"`), delta(`"content":"lo"`))),
			content: "Hello", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop"},
		"comments, ids and CRLF": {response: stream(": hello\r\n\r\n" + strings.ReplaceAll(good(delta(`"content":"x"`)), "\n", "\r\n") + ": bye\r\n\r\n"),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"BOM": {response: stream("\xEF\xBB\xBF" + good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"data over several lines": {response: stream("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n" + sse(usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"Azure: first choices empty": {response: stream(sse(`{"choices":[],"id":"","prompt_filter_results":[{"prompt_index":0}]}`) + good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"null fields": {response: stream(good(`{"id":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null,"refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"error":null}`, delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"index after the content": {response: stream(sse(`{"choices":[{"finish_reason":null,"delta":{"content":"x"},"index":0}],"object":"chat.completion.chunk"}`, finish("length"), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "length"},
		"reasoning": {response: stream(sse(role, delta(`"reasoning_content":"why "`), delta(`"reasoning":"so"`), delta(`"content":"x"`), finish("stop"), final(3), done)),
			content: "why sox", kinds: []engine.Kind{engine.Reasoning, engine.Reasoning, engine.Text}, finish: "stop"},
		"both names of reasoning": {response: stream(good(delta(`"reasoning_content":"a","reasoning":"a"`), delta(`"content":"x"`))),
			content: "ax", kinds: []engine.Kind{engine.Reasoning, engine.Text}, finish: "stop"},
		"reasoning and text in one chunk": {response: stream(good(delta(`"reasoning":"a","content":"x"`))),
			content: "ax", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"tool calls": {response: stream(sse(role, delta(`"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]`), delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]`), finish("tool_calls"), usage, done)),
			content: `f{"a":1}`, kinds: []engine.Kind{engine.Tool, engine.Tool}, finish: "tool_calls"},
		"refusal": {response: stream(good(delta(`"refusal":"no"`))),
			content: "no", kinds: []engine.Kind{engine.Refusal}, finish: "stop"},
		"content filter": {response: stream(sse(role, delta(`"content":"x"`), finish("content_filter"), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "content_filter"},
		"typed parts": {response: stream(good(delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`), delta(`"content":[{"type":"text","text":"x"}]`))),
			content: "hmx", kinds: []engine.Kind{engine.Reasoning, engine.Text}, finish: "stop"},
		"think tags split over chunks": {response: stream(sse(role, delta(`"content":"<th"`), delta(`"content":"ink>a"`), delta(`"content":"b</thi"`), delta(`"content":"nk>"`), delta(`"content":"x"`), finish("stop"), final(6), done)),
			content: "<think>ab</think>x", finish: "stop", notes: []string{thinkTags},
			kinds: []engine.Kind{engine.Reasoning, engine.Reasoning, engine.Reasoning, engine.Reasoning, engine.Text}},
		"think without an opening tag": {response: stream(good(delta(`"content":"a"`), delta(`"content":"</think>x"`))),
			content: "a</think>x", finish: "stop", notes: []string{thinkUnopened},
			kinds: []engine.Kind{engine.Reasoning, engine.Text}},
		"think that used up the length": {response: stream(sse(role, delta(`"content":"<think>a"`), finish("length"), usage, done)),
			content: "<think>a", kinds: []engine.Kind{engine.Reasoning}, finish: "length", notes: []string{thinkTags, emptyLength}},
		"length with nothing": {response: stream(sse(role, finish("length"), usage, done)), finish: "length", notes: []string{emptyLength}},
		"empty answer":        {response: stream(good()), finish: "stop", notes: []string{emptyAnswer}},
		"hidden reasoning": {response: stream(sse(role, delta(`"content":"x"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":8}}}`, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{hiddenReasoning}},
		"completions": {api: APICompletions, response: stream(sse(`{"choices":[{"text":"a","index":0,"finish_reason":null}]}`, `{"choices":[{"text":"","index":0,"finish_reason":"length"}]}`, usage, done)),
			content: "a", kinds: []engine.Kind{engine.Text}, finish: "length"},
		"whole": {options: func(o *Options) { o.NoStream = true },
			response: whole(200, `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`),
			content:  "Hello", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"whole though a stream was asked": {
			response: whole(200, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`),
			content:  "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{notStreamed}},
		"stream though a whole was asked": {options: func(o *Options) { o.NoStream = true }, response: stream(good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{streamedUnasked}},
		"wrong content type": {response: response{status: 200, framing: wire.SSE, body: good(delta(`"content":"x"`)), header: []wire.Field{{Name: "Content-Type", Value: "text/plain"}}},
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{wrongContentType}},
		"n": {options: func(o *Options) { o.N = 2 },
			response: stream(sse(`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`,
				`{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}`, finish("stop"), usage, done)),
			content: "ab", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop"},
		"n and one without an end": {options: func(o *Options) { o.N = 2 },
			response: stream(sse(`{"choices":[{"index":1,"delta":{"content":"b"}}]}`, finish("stop"), usage, done)),
			content:  "b", kinds: []engine.Kind{engine.Text}, finish: "stop",
			failure: engine.Broken, class: noFinishReason, violations: []string{noFinishReason}},
		"fewer choices": {options: func(o *Options) { o.N = 2 }, response: stream(good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{missingChoices}},
		"more choices": {response: stream(good(delta(`"content":"x"`), `{"choices":[{"index":1,"delta":{"content":"y"},"finish_reason":"stop"}]}`)),
			content: "xy", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop", notes: []string{extraChoices}},
		"no terminator": {response: stream(sse(role, delta(`"content":"x"`), finish("stop"), usage)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop",
			failure: engine.Broken, class: noTerminator, violations: []string{noTerminator}},
		"no finish reason": {response: stream(sse(role, delta(`"content":"x"`), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text},
			failure: engine.Broken, class: noFinishReason, violations: []string{noFinishReason}},
		"cut by us: no violation": {response: response{status: 200, framing: wire.SSE, body: sse(role, delta(`"content":"x"`)), cause: wire.Cut},
			content: "x", kinds: []engine.Kind{engine.Text}},
		"broken JSON": {response: stream(sse(role, delta(`"content":"x"`), `{"choices":[{"index":0,"delta":{"content":"y`, finish("stop"), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop",
			failure: engine.Broken, class: badJSON, violations: []string{badJSON}},
		"broken JSON behind the content": {response: stream(sse(role, delta(`"reasoning":"x"`), `{"choices":[{"index":0,"delta":{"content":"y\ud83d"}}],`, finish("stop"), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Reasoning}, finish: "stop",
			failure: engine.Broken, class: badJSON, violations: []string{badJSON}},
		"half an event at the end": {response: stream(sse(role, delta(`"content":"x"`)) + `data: {"choices":[{"ind`),
			content: "x", kinds: []engine.Kind{engine.Text}, failure: engine.Broken, class: badJSON,
			violations: []string{badJSON, noTerminator, noFinishReason}},
		"last event without a blank line": {response: stream(sse(role, delta(`"content":"x"`), finish("stop"), usage) + "data: [DONE]\n"),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{unendedEvent}},
		"wrong types": {response: stream(good(`{"choices":{"a":1}}`, delta(`"content":7`), `[1]`, delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", failure: engine.Broken, class: badShape, violations: []string{badShape}},
		"choice out of range": {response: stream(good(`{"choices":[{"index":4000000,"delta":{"content":"y"}}]}`, delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", failure: engine.Broken, class: badShape, violations: []string{badShape}},
		"data after the terminator": {response: stream(good(delta(`"content":"x"`)) + sse(delta(`"content":"y"`))),
			content: "xy", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop", notes: []string{afterDone, contentAfterEnd}},
		"text between events": {response: stream(sse(role, delta(`"content":"x"`)) + "oops\n\n" + sse(finish("stop"), usage, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", failure: engine.Broken, class: badFraming, violations: []string{badFraming}},
		"empty body": {response: stream(""), failure: engine.Broken, class: emptyBody, violations: []string{emptyBody}},
		"HTML under 200": {response: response{status: 200, framing: wire.Whole, body: "<html><head><title>Gateway</title></head></html>", header: []wire.Field{{Name: "Content-Type", Value: "text/html"}}},
			failure: engine.Broken, class: badJSON, violations: []string{badJSON}, notes: []string{wrongContentType}},
		"usage missing": {response: stream(sse(role, delta(`"content":"x"`), finish("stop"), done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{usageMissing}},
		"usage of zeros": {response: stream(sse(role, delta(`"content":"x"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{usageZero}},
		"over max tokens": {call: &engine.Call{MaxTokens: 1, Messages: hi().Messages}, response: stream(good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{overMaxTokens}},
		"under max tokens": {call: &engine.Call{MaxTokens: 3, Messages: hi().Messages}, response: stream(good(delta(`"content":"x"`))),
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{underMaxTokens}},
		"under max tokens as a cap": {call: &engine.Call{MaxTokens: 3, Messages: hi().Messages}, response: stream(good(delta(`"content":"x"`))),
			options: func(o *Options) { o.OutputMode = Cap },
			content: "x", kinds: []engine.Kind{engine.Text}, finish: "stop"},
		"error object in the stream": {response: stream(sse(role, delta(`"content":"x"`), `{"error":{"message":"out of memory","type":"server_error","code":500}}`, done)),
			content: "x", kinds: []engine.Kind{engine.Text}, failure: engine.ErrorEvent, class: classErrorEvent},
		"error event": {response: stream(sse(role) + "event: error\ndata: {\"message\":\"out of memory\"}\n\n"),
			failure: engine.ErrorEvent, class: classErrorEvent},
		"flat error in the stream": {response: stream(sse(role, `{"object":"error","message":"out of memory","type":"InternalServerError","code":500}`, done)),
			failure: engine.ErrorEvent, class: classErrorEvent},
		"error object under 200": {response: whole(200, `{"error":"out of memory"}`),
			failure: engine.ErrorEvent, class: classErrorEvent, notes: []string{notStreamed}},
		"character split over chunks": {response: stream(good(delta("\"content\":\"\xE2\x82\""), delta("\"content\":\"\xAC\""))),
			content: "€", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop", notes: []string{splitUTF8}},
		"half a character": {response: stream(good(delta("\"content\":\"\xE2\x82\""), delta("\"content\":\"x\""))),
			content: "\xE2\x82x", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop",
			failure: engine.Broken, class: badUTF8, violations: []string{badUTF8}},
		"surrogates split over chunks": {response: stream(good(delta(`"content":"\ud83d"`), delta(`"content":"\ude00!"`))),
			content: "😀!", kinds: []engine.Kind{engine.Text, engine.Text}, finish: "stop", notes: []string{splitSurrogates}},
		"half a surrogate pair": {response: stream(good(delta(`"content":"\ud83d"`))),
			content: "\uFFFD", kinds: []engine.Kind{engine.Text}, finish: "stop",
			failure: engine.Broken, class: badUTF8, violations: []string{badUTF8}},
		"replacement character": {response: stream(good(delta(`"content":"\ufffd"`))),
			content: "\uFFFD", kinds: []engine.Kind{engine.Text}, finish: "stop", notes: []string{replacementChar}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			api, call := tt.api, tt.call
			if api == "" {
				api = APIChat
			}
			if call == nil {
				call = hi()
			}
			for _, perSeg := range []int{0, 1} {
				tt.response.perSeg = perSeg
				a := play(t, newDriver(t, api, tt.options), call, tt.response)
				fits(t, a)
				got := []any{a.Failure, a.ErrorClass, string(a.Content), a.Chunks.Kind, a.FinishReason, a.Violations, a.Notes}
				want := []any{tt.failure, tt.class, tt.content, tt.kinds, tt.finish, tt.violations, tt.notes}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("failure, class, content, kinds, finish, violations, notes (-want +got):\n%s", diff)
				}
				if tt.failure == engine.ErrorEvent && !strings.Contains(a.ErrorText, "out of memory") {
					t.Errorf("error text %q", a.ErrorText)
				}
			}
		})
	}
}
