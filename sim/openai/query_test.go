package openai

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// A chat without text is answered, since a template has tokens, and counts one;
// an empty prompt of a completion has none.
func TestAChatWithoutTextHasAToken(t *testing.T) {
	l, d := face.NewLanguage(token.Builtin()), &Dialect{}
	for body, want := range map[string]int{
		`{"messages":[{"role":"user","content":""}]}`:                                         1,
		`{"messages":[{"role":"system","content":""},{"role":"user","content":[]}]}`:          1,
		`{"messages":[{"role":"user"},{"role":"user","content":"hello"}]}`:                    1,
		`{"messages":[{"role":"user","content":"hello world"},{"role":"user","content":""}]}`: 2,
	} {
		q, problem := d.parse([]byte(body), chatAPI)
		if problem != nil {
			t.Fatal(problem.Message)
		}
		ask, problem := d.ask(q, l, chatAPI, 1)
		if problem != nil || len(ask.Prompts) != 1 || len(ask.Prompts[0]) != want {
			t.Errorf("%s: %v, want %d tokens (%+v)", body, ask.Prompts, want, problem)
		}
	}
	q, _ := d.parse([]byte(`{"prompt":""}`), textAPI)
	if ask, problem := d.ask(q, l, textAPI, 1); problem != nil || len(ask.Prompts[0]) != 0 {
		t.Errorf("a completion: %+v, %+v", ask, problem)
	}
}

// No body makes the reader panic, and none that it understands is our fault.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		`{"messages":[{"role":"user","content":"hi"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`,
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"enum":[1,2]}}}}}],"tool_choice":"required"}`,
		`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}}}}`,
		`{"prompt":["a","b"],"n":2,"seed":-1,"stop":["x",""],"logprobs":3}`, `{"prompt":[[1,2],[3]]}`, `{"prompt":[1,2]}`, `{"prompt":"\ud800"}`, `{`,
		`{"messages":[{"role":"user","content":"x"}],"response_format":{"schema":{"type":"string","pattern":"^[A-Z]{2}\\d+$"}}}`,
	} {
		f.Add([]byte(s))
	}
	l, d := face.NewLanguage(token.Builtin()), &Dialect{}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, a := range []api{chatAPI, textAPI} {
			q, problem := d.parse(body, a)
			if problem == nil {
				_, problem = d.ask(q, l, a, 1)
			}
			if problem != nil && problem.Kind != face.Invalid {
				t.Errorf("%s: %+v", body, problem)
			}
		}
	})
}
