package portrait_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// asked is a chat of a system prompt of 30 words and what is said after it.
func asked(said ...string) trace.Row {
	list := []trace.Message{{Role: "system", Text: strings.Repeat("rule ", 30)}}
	for i, text := range said {
		list = append(list, trace.Message{Role: []string{"user", "assistant"}[i%2], Text: text})
	}
	return trace.Row{Turns: []trace.Turn{{Messages: list}}}
}

func bodied(r trace.Row) trace.Row {
	var list []string
	for _, m := range r.Turns[0].Messages {
		list = append(list, fmt.Sprintf(`{"role":%q,"content":%q}`, m.Role, m.Text))
	}
	return trace.Row{Body: []byte(`{"messages":[` + strings.Join(list, ",") + `]}`)}
}

// TestSharedTexts: of texts the share is found by their messages. By hand, in
// words: prompts of 32, 33, 36 and 32; the second finds the system prompt, the third
// the whole first, whose conversation it goes on with, the fourth the system prompt:
// 30 + 32 + 30 of 133.
func TestSharedTexts(t *testing.T) {
	list := func() []trace.Row {
		return []trace.Row{asked("one two"), bodied(asked("three four five")), asked("one two", "an answer", "x y"), asked("six seven")}
	}
	f, p := show(t, &rows{of: list()}, portrait.Options{Tokenizer: words{}})
	if x, _ := f.SharedPrefix.Get(); x != 92.0/133 || f.SharedPrefixOf != 4 {
		t.Errorf("shared prefix %v of %d, want %v of 4", f.SharedPrefix, f.SharedPrefixOf, 92.0/133)
	}
	if f.Input.Sum != 133 || f.Sessions == nil || *f.Sessions != 3 {
		t.Errorf("%d tokens, %v sessions", f.Input.Sum, f.Sessions)
	}
	if text := page(t, p, portrait.TextOptions{}); strings.Contains(text, "bytes a token") {
		t.Error(text)
	}
	// Of bytes, a fourth of them a token, where nothing counts: 150 of the system's,
	// which are said to be so.
	f, p = show(t, &rows{of: list()}, portrait.Options{})
	if x, _ := f.SharedPrefix.Get(); x < .6 || x > .75 || f.Input.Count != 0 {
		t.Errorf("shared prefix %v, %d lengths", f.SharedPrefix, f.Input.Count)
	}
	if text := strings.Join(strings.Fields(page(t, p, portrait.TextOptions{})), " "); !strings.Contains(text, "Of 4 requests the texts are taken at 4 bytes a token") {
		t.Error(text)
	}
	// New text alone says nothing of what it stands behind.
	rest := list()
	for i := range rest {
		rest[i].Delta = true
	}
	if f, _ = show(t, &rows{of: rest}, portrait.Options{Tokenizer: words{}}); f.SharedPrefix.Valid() {
		t.Errorf("shared prefix %v", f.SharedPrefix)
	}
}

// TestSharedConversations: the prompts of a conversation hold what came before,
// as the learner of models has it: 32 words, then 32 and 2 of the answer and 2 said, of
// which the first 32 are found; another finds the 30 of the system: 62 of 32 + 36 + 31.
func TestSharedConversations(t *testing.T) {
	talk := asked("one two")
	talk.Turns[0].Answer = "an answer"
	talk.Turns = append(talk.Turns, trace.Turn{Messages: []trace.Message{{Role: "user", Text: "x y"}}})
	list := []trace.Row{talk, asked("six")}
	f, _ := show(t, &rows{of: list}, portrait.Options{Tokenizer: words{}})
	if x, _ := f.SharedPrefix.Get(); x != 62.0/99 || f.SharedPrefixOf != 3 || *f.Sessions != 2 {
		t.Errorf("shared prefix %v of %d, want %v of 3; %d sessions", f.SharedPrefix, f.SharedPrefixOf, 62.0/99, *f.Sessions)
	}
	var many []trace.Row
	for range 12 {
		many = append(many, list...)
	}
	_, r, err := fit.Fit(t.Context(), &rows{of: many}, fit.Options{Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	f, _ = show(t, &rows{of: many}, portrait.Options{Tokenizer: words{}})
	if x, _ := f.SharedPrefix.Get(); x != r.Prefix.Curve[len(r.Prefix.Curve)-1].Hit {
		t.Errorf("%v shown, %v fitted", x, r.Prefix.Curve[len(r.Prefix.Curve)-1].Hit)
	}
}
