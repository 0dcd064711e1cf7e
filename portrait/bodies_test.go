package portrait_test

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Prompts in request bodies are counted with a tokenizer, and what max_tokens
// allows is no length: two bodies of three and one words have 4 tokens.
func TestBodiesAreCounted(t *testing.T) {
	list := func() []trace.Row {
		return []trace.Row{{Body: []byte(`{"messages":[{"role":"user","content":"one two three"}],"max_tokens":50}`), Limit: 50},
			{Body: []byte(`{"prompt":"one"}`)}, {Body: []byte(`{"prompt":"one two"}`), Input: 9}}
	}
	f, p := show(t, &rows{of: list()}, portrait.Options{Tokenizer: words{}})
	if f.Input.Count != 3 || f.Input.Sum != 13 || f.Output.Count != 0 {
		t.Errorf("%+v, %+v", f.Input, f.Output)
	}
	if text := strings.Join(strings.Fields(page(t, p, portrait.TextOptions{})), " "); !strings.Contains(text, "The lengths of 2 requests were counted from their texts with words") {
		t.Error(text)
	}
	if f, _ = show(t, &rows{of: list()}, portrait.Options{}); f.Input.Count != 1 {
		t.Errorf("lengths that nothing told: %+v", f.Input)
	}
}
