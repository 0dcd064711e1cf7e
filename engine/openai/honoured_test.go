package openai

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
)

func call(args ...string) string {
	out := ""
	for i, a := range args {
		if i > 0 {
			out += ","
		}
		out += a
	}
	return delta(`"tool_calls":[` + out + `]`)
}

func part(index int, arguments string) string {
	return fmt.Sprintf(`{"index":%d,"function":{"arguments":%q}}`, index, arguments)
}

// TestHonoured: what was asked for and what a whole answer did of it.
func TestHonoured(t *testing.T) {
	x := delta(`"content":"x"`)
	second := `{"id":"c1","choices":[{"index":1,"delta":{"content":"y"},"finish_reason":"stop"}]}`
	open := call(`{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}`)
	tests := map[string]struct {
		body     string // of the request
		api      string
		max      int64
		response []string
		note     string // the only one
	}{
		"length reached":             {max: 2, response: []string{x, finish("length"), usage}},
		"length not reached":         {max: 3, response: []string{x, finish("length"), usage}, note: lengthUnreached},
		"stop before the length":     {max: 3, response: []string{x, finish("stop"), usage}},
		"chunks beyond the usage":    {response: []string{x, x, x, finish("stop"), usage}, note: usageBelowChunks},
		"reasoning counted beside":   {response: []string{delta(`"reasoning":"r"`), x, x, finish("stop"), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}`}},
		"another id":                 {response: []string{`{"id":"c2","choices":[{"index":0,"delta":{"content":"x"}}]}`, finish("stop"), usage}, note: idChanged},
		"no id on the last":          {response: []string{x, finish("stop"), final(2)}},
		"stop string kept":           {body: `{"messages":[],"stop":"y"}`, response: []string{x, finish("stop"), usage}},
		"stop string ignored":        {body: `{"messages":[],"stop":"x"}`, response: []string{x, finish("stop"), usage}, note: stopIgnored},
		"one of several, in two":     {body: `{"messages":[],"stop":["q","xx"]}`, response: []string{x, x, finish("stop"), usage}, note: stopIgnored},
		"asked to stay":              {body: `{"messages":[],"stop":"x","include_stop_str_in_output":true}`, response: []string{x, finish("stop"), usage}},
		"n of the body":              {body: `{"messages":[],"n":2}`, response: []string{x, finish("stop"), usage}, note: missingChoices},
		"n of the body, given":       {body: `{"messages":[],"n":2}`, response: []string{x, second, finish("stop"), usage}},
		"one asked, two came":        {body: `{"messages":[]}`, response: []string{x, second, finish("stop"), usage}, note: extraChoices},
		"prompts of a list":          {api: APICompletions, body: `{"prompt":["a","b"]}`, response: []string{x, second, finish("stop"), usage}},
		"choices of one prompt":      {api: APICompletions, max: 1, body: `{"prompt":"a","n":2}`, response: []string{x, second, finish("stop"), usage}},
		"fewer of one prompt":        {api: APICompletions, body: `{"prompt":"a","n":2}`, response: []string{x, finish("stop"), usage}, note: missingChoices},
		"a reason nobody knows":      {response: []string{x, finish("eos"), usage}, note: finishUnknown},
		"filtered":                   {response: []string{x, finish("content_filter"), usage}},
		"tool calls without a call":  {response: []string{x, finish("tool_calls"), usage}, note: noToolCall},
		"a call in parts":            {response: []string{open, call(part(0, `{"a`)), call(part(0, `":1}`)), finish("tool_calls"), final(9)}},
		"a call cut short":           {response: []string{open, call(part(0, `{"a`)), finish("tool_calls"), final(9)}, note: badToolJSON},
		"cut by the length":          {response: []string{open, call(part(0, `{"a`)), finish("length"), final(9)}},
		"two calls by turns":         {response: []string{open, call(part(0, `{"a`), part(1, `[`)), call(part(1, `2]`), part(0, `":1}`)), finish("tool_calls"), final(9)}},
		"two calls, the second bad":  {response: []string{open, call(part(0, `{"a`), part(1, `[`)), call(part(1, `2`), part(0, `":1}`)), finish("tool_calls"), final(9)}, note: badToolJSON},
		"by the template":            {response: []string{open, call(part(0, `[`)), call(part(0, `1`)), call(part(0, `2`)), call(part(0, `]`)), finish("tool_calls"), final(9)}},
		"by the template, cut":       {response: []string{open, call(part(0, `[`)), call(part(0, `1`)), call(part(0, `2`)), finish("tool_calls"), final(9)}, note: badToolJSON},
		"without arguments":          {response: []string{open, finish("tool_calls"), final(9)}},
		"the old way":                {response: []string{delta(`"function_call":{"name":"f","arguments":"{"}`), finish("function_call"), final(9)}, note: badToolJSON},
		"names that look like parts": {response: []string{call(`{"index":0,"function":{"name":"f"}}`), call(`{"index":0,"function":{"name":"g"}}`), finish("tool_calls"), final(9)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &engine.Call{MaxTokens: tt.max, Body: []byte(tt.body)}
			if tt.api == "" {
				tt.api = APIChat
			}
			if tt.body == "" {
				c.Messages = hi().Messages
			}
			a := play(t, newDriver(t, tt.api, func(o *Options) { o.OutputMode = Cap }), c, stream(sse(append(tt.response, done)...)))
			var want []string
			if tt.note != "" {
				want = []string{tt.note}
			}
			if a.Failure != engine.Whole || !slices.Equal(a.Notes, want) {
				t.Errorf("failure %d %s, notes %v, want %v", a.Failure, a.ErrorClass, a.Notes, want)
			}
		})
	}
}

func TestUnlikeCount(t *testing.T) {
	for _, tt := range []struct {
		usage, counted int64
		want           string
	}{
		{100, 100, ""}, {100, 95, ""}, {100, 94, usageUnlikeCount}, {100, 105, ""}, {100, 106, usageUnlikeCount},
		{10, 7, ""}, {10, 6, usageUnlikeCount}, {0, 3, ""}, {0, 4, usageUnlikeCount},
	} {
		a := &engine.Answer{Usage: engine.Usage{Completion: engine.Count{N: tt.usage, Known: true}}}
		if got := UnlikeCount(a, tt.counted); got != tt.want {
			t.Errorf("usage %d, counted %d: %q, want %q", tt.usage, tt.counted, got, tt.want)
		}
	}
	call := &engine.Answer{Usage: engine.Usage{Completion: engine.Count{N: 50, Known: true}}, Parts: []engine.Part{{End: 1, Kind: engine.Tool}}}
	if got := UnlikeCount(call, 1); got != "" {
		t.Errorf("a tool call's frame counts as %q", got)
	}
}
