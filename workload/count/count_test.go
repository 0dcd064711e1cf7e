package count_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// words counts the words of a text.
type words struct{}

func (words) Name() string { return "words" }

func (words) Count(text string) (int, error) {
	if text == "refused" {
		return 0, errors.New("refused")
	}
	return len(strings.Fields(text)), nil
}

// By hand, a token a word.
func TestBody(t *testing.T) {
	for _, c := range []struct {
		body string
		want int64
	}{
		{`{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"one two three"}],"max_tokens":900}`, 5},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"what is this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA a b c"}}]}]}`, 3},
		{`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"find","arguments":"a b"}}]},{"role":"tool","content":"c d e"}]}`, 6},
		{`{"prompt":"a b c d"}`, 4},
		{`{"prompt":["a b","c"]}`, 3},
		{`{"prompt":[15,27,9]}`, 3},
		{`{"input":"a b","instructions":"c"}`, 3},
		{`{"input":[{"role":"user","content":[{"type":"input_text","text":"a b c"}]},{"type":"function_call_output","output":"d e"}]}`, 5},
		{`{"system":[{"type":"text","text":"a b"}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"c d"}]}]}]}`, 4},
		{`{"contents":[{"role":"user","parts":[{"text":"a b c"}]}],"system_instruction":{"parts":[{"text":"d"}]}}`, 4},
		{`{"inputs":"a b"}`, 2},
		{`{"prompt":"a","tools":[{"type": "function"}]}`, 2},
		{`{"model":"m"}`, 0},
		{`not JSON`, 0},
		{`{"messages":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, 0},
	} {
		got, err := count.Body([]byte(c.body), words{})
		if got != c.want || err != nil {
			t.Errorf("%d tokens (%v), want %d of %s", got, err, c.want, c.body)
		}
	}
	if _, err := count.Body([]byte(`{"prompt":"refused"}`), words{}); err == nil {
		t.Error("the tokenizer's error is lost")
	}
}

func TestTurn(t *testing.T) {
	said, answer, err := count.Turn(&trace.Turn{Messages: []trace.Message{{Text: "a b"}, {Text: "c"}}, Answer: "d e"}, words{})
	if said != 3 || answer != 2 || err != nil {
		t.Errorf("%d and %d tokens, %v; want 3 and 2", said, answer, err)
	}
	if _, _, err := count.Turn(&trace.Turn{Answer: "refused"}, words{}); err == nil {
		t.Error("the tokenizer's error is lost")
	}
}

// Whatever a body holds, counting it ends.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		if n, err := count.Body(body, words{}); n < 0 || err != nil && !strings.Contains(before, "refused") {
			t.Errorf("%d, %v", n, err)
		}
		if string(body) != before {
			t.Error("the body was changed")
		}
	})
}
