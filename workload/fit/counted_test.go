package fit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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

// texts are rows of one request each, whose text holds so many words.
func texts(kind string, n int) []trace.Row {
	rows := make([]trace.Row, n)
	for i := range rows {
		r := &rows[i]
		*r = trace.Row{Format: "test", Timed: true, At: int64(i)*2e9 + int64(i*i)%1e6}
		text := strings.Repeat("word ", 1+i%7)
		switch kind {
		case "body":
			r.Body, r.Limit = fmt.Appendf(nil, `{"messages":[{"role":"user","content":%q}],"max_tokens":60}`, text), 60
		case "turn":
			r.Turns = []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: text}}, Answer: "yes it is"}}
		case "conversation":
			t := trace.Turn{Messages: []trace.Message{{Role: "user", Text: text}}, Answer: "yes it is"}
			r.Turns = []trace.Turn{t, t}
		}
	}
	return rows
}

// By hand: words of 1 to 7, again and again, are 4 in the mean: 28 in seven rows.
func TestTextsAreCounted(t *testing.T) {
	for _, c := range []struct {
		kind          string
		input, output float64
	}{
		{"body", 280, 0},
		{"turn", 280, 210},
		// n words, 3 back, then n + 3 + n again: 3n + 3 of a conversation
		{"conversation", 3*280 + 3*70, 420},
	} {
		t.Run(c.kind, func(t *testing.T) {
			_, r, err := Fit(t.Context(), &listed{texts(c.kind, 70)}, Options{Tokenizer: words{}})
			if err != nil {
				t.Fatal(err)
			}
			if in := r.Totals.Input.Log; in == nil || *in != c.input {
				t.Errorf("%v prompt tokens, want %v", in, c.input)
			}
			out := r.Totals.Output.Log
			if (out == nil) != (c.output == 0) || out != nil && *out != c.output {
				t.Errorf("%v tokens of answers, want %v", out, c.output)
			}
			if !strings.Contains(strings.Join(r.Findings, "\n"), "were counted from their texts with words") {
				t.Errorf("%q", r.Findings)
			}
			if strings.Contains(strings.Join(r.Findings, "\n"), "prefixes:") {
				t.Errorf("%q", r.Findings)
			}
			// Without a tokenizer they are unknown, and the flag is named.
			_, r, err = Fit(t.Context(), &listed{texts(c.kind, 70)}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Totals.Input.Log != nil || r.Totals.Output.Log != nil || r.Input != nil || r.Totals.Input.Off != nil {
				t.Errorf("lengths that nothing told: %+v", r.Totals)
			}
			if all := strings.Join(r.Findings, "\n"); !strings.Contains(all, "--tokenizer counts them") || !strings.Contains(all, "the log tells no prompt lengths: 256 tokens are made up") {
				t.Errorf("%q", r.Findings)
			}
		})
	}
	rows := texts("turn", 70)
	rows[3].Turns[0].Answer = "refused"
	if _, _, err := Fit(t.Context(), &listed{rows}, Options{Tokenizer: words{}}); err == nil || err.Error() != "refused" {
		t.Errorf("the tokenizer's error is lost: %v", err)
	}
}

// max_tokens is a limit: it is reported as one, stands in the model as one, and
// makes the lengths that are made up no longer than it.
func TestLimitIsNoLength(t *testing.T) {
	m, r, err := Fit(t.Context(), &listed{texts("body", 70)}, Options{Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	c := &r.Clients[0]
	if len(c.Output) != 0 || r.Output != nil {
		t.Errorf("a length was learnt of a limit: %+v", c.Output)
	}
	if want := (Limits{70, 60, 60, 60}); c.Limits == nil || *c.Limits != want {
		t.Errorf("limits %+v, want %+v", c.Limits, want)
	}
	if m.Clients[0].Limit == nil || m.Clients[0].Limit.Quantile(.5) != 60 || m.Clients[0].Lengths[0].Output.Quantile(.5) != 60 {
		t.Errorf("%+v", m.Clients[0])
	}
	for _, want := range []string{"the log tells no lengths of answers: max_tokens of its requests (p50 60, at most 60) is a limit and no length, so 60 tokens are made up",
		"client-1: 70 requests limit their answers (max_tokens): p50 60, p90 60, at most 60 tokens"} {
		if text := strings.ReplaceAll(r.Text(), "\n    ", " "); !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// A log of lengths alone has no texts whose fronts could be shared.
func TestLengthsAloneTellNoPrefix(t *testing.T) {
	_, r, err := Fit(t.Context(), &listed{senderOf(fresh).rows(20)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(r.Findings, "\n"), "prefixes:") {
		t.Errorf("%q", r.Findings)
	}
}
