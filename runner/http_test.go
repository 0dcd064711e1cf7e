package runner

import (
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
)

// How much of an answer was reasoned: the usage says it, else the chunks do:
// by hand 3 and 4 tokens of reasoning, then 5 of text.
func TestReasoningInAnAnswer(t *testing.T) {
	a := &engine.Answer{Chunks: engine.Chunks{Kind: []engine.Kind{engine.Reasoning, engine.Reasoning, engine.Text}}}
	if n := reasoningIn(a); n != 0 {
		t.Errorf("%d where nothing tells", n)
	}
	a.Chunks.Tokens = []int32{3, 4, 5}
	if n := reasoningIn(a); n != 7 {
		t.Errorf("%d by chunks", n)
	}
	if a.Usage.Reasoning.Known = true; reasoningIn(a) != 7 {
		t.Errorf("%d by chunks, against the usage", reasoningIn(a))
	}
	a.Usage.Reasoning = engine.Count{N: 6, Known: true}
	if n := reasoningIn(a); n != 6 {
		t.Errorf("%d by usage", n)
	}
}
