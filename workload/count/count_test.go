package count_test

import (
	"errors"
	"slices"
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
		got, err := count.NewPrompts(words{}).Of(&trace.Row{Body: []byte(c.body)})
		if err != nil || len(got) != 1 || got[0].Said != c.want || got[0].Counted != (c.want > 0) || got[0].Estimated {
			t.Errorf("%+v (%v), want %d tokens of %s", got, err, c.want, c.body)
		}
	}
	p := count.NewPrompts(words{})
	if _, err := p.Of(&trace.Row{Body: []byte(`{"prompt":"refused"}`)}); err == nil {
		t.Error("the tokenizer's error is lost")
	}
	if _, err := p.Of(&trace.Row{Body: []byte(`{"prompt":"taken"}`)}); err != nil {
		t.Errorf("the error of another row: %v", err)
	}
}

// What the log says goes before what is counted, and texts stand behind all that
// was said before: 3 and 2 words, then 4 with an answer of 7 tokens, then 1.
func TestTurns(t *testing.T) {
	user := func(text string) []trace.Message { return []trace.Message{{Role: "user", Text: text}} }
	turns := []trace.Turn{{Messages: []trace.Message{{Role: "system", Text: "a b"}, {Role: "user", Text: "c"}}, Answer: "d e"},
		{Messages: user("f g h i"), Answer: "j", Output: 7}, {Messages: user("k")}}
	got, err := count.NewPrompts(words{}).Of(&trace.Row{Turns: turns})
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct{ said, answer, all int64 }{{3, 2, 3}, {4, 7, 9}, {1, 0, 17}} {
		if q := got[i]; q.Said != want.said || q.Answer != want.answer || q.Tokens != want.all || !q.Counted {
			t.Errorf("turn %d: %+v, want %+v", i, q, want)
		}
	}
	// Of the first alone the log says both lengths, then neither and nothing counts: 24 bytes.
	row := trace.Row{Turns: turns[:1], Input: 30, Output: 9}
	got, err = count.NewPrompts(words{}).Of(&row)
	if q := got[0]; err != nil || q.Said != 30 || q.Answer != 9 || q.Tokens != 30 || q.Counted || q.Estimated {
		t.Errorf("%+v, %v", q, err)
	}
	row = trace.Row{Turns: []trace.Turn{{Messages: user(strings.Repeat("word ", 8))}}}
	got, err = count.NewPrompts(nil).Of(&row)
	if q := got[0]; err != nil || q.Said != 0 || q.Tokens != 10 || q.Counted || !q.Estimated {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := count.NewPrompts(words{}).Of(&trace.Row{Turns: []trace.Turn{{Answer: "refused"}}}); err == nil {
		t.Error("the tokenizer's error is lost")
	}
	for _, r := range []trace.Row{{Input: 5}, {Turns: []trace.Turn{{Input: 5}}}, {Turns: []trace.Turn{{Input: 5}, {Input: 6}}}} {
		if got, err := count.NewPrompts(words{}).Of(&r); len(got) > 0 || err != nil {
			t.Errorf("lengths alone are no texts: %+v, %v", got, err)
		}
	}
}

// Whatever a body holds, counting it ends.
func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		for _, c := range []count.Tokenizer{words{}, nil} {
			got, err := count.NewPrompts(c).Of(&trace.Row{Body: body})
			if len(got) != 1 || err != nil && !strings.Contains(before, "refused") {
				t.Fatalf("%d, %v", len(got), err)
			}
			if q := got[0]; q.Tokens < 0 || len(q.Ends) != len(q.Blocks) || !slices.IsSorted(q.Ends) || len(q.Ends) > 0 && q.Ends[len(q.Ends)-1] != q.Tokens {
				t.Errorf("%+v", q)
			}
		}
		if string(body) != before {
			t.Error("the body was changed")
		}
	})
}
