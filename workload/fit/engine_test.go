package fit

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// What chats share by their texts is what a real engine had in its cache. The
// chats of testdata/engine.jsonl were sent one behind the other to llama.cpp (with
// SmolLM2-135M-Instruct, one slot), whose usage said prompt_tokens and cached_tokens:
// system prompts, a conversation, a document with two questions in one message, and
// one prompt twice. It looks for the front token by token, and finds what its
// template puts in front of each message too.
func TestSharedAsAnEngineFinds(t *testing.T) {
	r, err := trace.Open("engine.jsonl", func() (io.ReadCloser, error) { return os.Open("testdata/engine.jsonl") }, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	p, b := count.NewPrompts(nil), newBlocks(nil)
	ours, engines := int64(0), int64(0)
	for row := int32(0); ; row++ {
		r, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		said, err := p.Of(r)
		if err != nil {
			t.Fatal(err)
		}
		before := b.hits
		b.add(b.promptOf(r, said), row)
		t.Logf("prompt %d of %d tokens: %d found, %d by the engine", row, r.Input, b.hits-before, r.Cached)
		if off := b.hits - before - r.Cached; off < -textBlock || off > textBlock {
			t.Errorf("prompt %d of %d tokens: %d found, %d by the engine", row, r.Input, b.hits-before, r.Cached)
		}
		ours, engines = ours+b.hits-before, engines+r.Cached
	}
	if ours < engines*95/100 || ours > engines*105/100 {
		t.Errorf("%d tokens found, %d by the engine", ours, engines)
	}
}
