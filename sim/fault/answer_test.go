package fault

import (
	"testing"
)

func TestLocate(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"id":"content","choices":[{"delta":{"content":" wo\"rd"}}]}`, `" wo\"rd"`},
		{`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, ""},
		{`{"choices":[{"text":" a"}]}`, `" a"`},
		{`{"token":{"id":3,"text":"b","special":false},"generated_text":null}`, `"b"`},
		{`{"content" : "x","stop":false}`, `"x"`},
		{`{"a":"`, ""}, {`"`, ""}, {`{"content":`, ""}, {`[DONE]`, ""},
	} {
		got := ""
		if start, end := locate([]byte(tc.in), textKeys...); start >= 0 {
			got = tc.in[start:end]
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.in, got, tc.want)
		}
	}
	if start, end := locate([]byte(`{"a":1,"usage":{"x":{"y":"}"}},"b":2}`), "usage"); start != 15 || end != 30 {
		t.Error(start, end)
	}
}

func FuzzLocate(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"content":" word"}}],"usage":{"completion_tokens":3}}`)
	f.Fuzz(func(t *testing.T, s string) {
		e := event{data: []byte(s)}
		_ = e.say("x")
		_ = recount(e.data, 3)
		_ = splice(e.data, []byte("null"), "usage")
	})
}
