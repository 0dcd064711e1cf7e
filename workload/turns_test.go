package workload

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// A row of lengths with further turns is sent whole: by hand 100 tokens of
// which 70 are a shared block, an answer of 20, 8 more.
func TestTurnsOfLengths(t *testing.T) {
	const row = `{"at":0,"session_id":"a","input_tokens":100,"output_tokens":20,"hash_ids":[5],"block_tokens":70,"turns":[{"input_tokens":8,"output_tokens":3,"think":2.5}]}` + "\n"
	d := &Dataset{Name: "d", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(row + row)), nil }}
	for i, list := range play(t, modelledSource(t, Config{Dataset: d}, 1), 2) {
		if len(list) != 2 {
			t.Fatalf("session %d has %d turns", i, len(list))
		}
		a, b := list[0], list[1]
		if a.InputTokens != 100 || a.OutputTokens != 20 || a.SharedTokens != int64(70*i) || a.Messages[0].Blocks[0].Tokens != 70 {
			t.Errorf("session %d begins with %+v", i, a)
		}
		if b.InputTokens != 128 || b.SharedTokens != 120 || b.OutputTokens != 3 || b.Think != 2500*time.Millisecond || b.Turn != 1 || len(b.Messages) != 3 {
			t.Errorf("session %d goes on with %+v", i, b)
		}
	}
}

// What was reasoned does not come back: by hand 100 tokens, an answer of 20 of
// which 15 are reasoning, 8 more. What was said stands in another place than
// where it was computed, so that the prompt alone can be reused.
func TestReasoningDoesNotComeBack(t *testing.T) {
	const row = `{"at":0,"session_id":"a","input_tokens":100,"output_tokens":20,"reasoning_tokens":15,"turns":[{"input_tokens":8,"output_tokens":3}]}` + "\n"
	d := &Dataset{Name: "d", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(row)), nil }}
	m := modelOf(traffic.Client{Reasoning: stat.Constant(.75), Sessions: &traffic.Sessions{Turns: stat.Constant(2)}})
	for what, c := range map[string]struct {
		of           Config
		input, share int64
	}{"dataset": {Config{Dataset: d}, 113, 100}, "model": {Config{Traffic: m}, 105, 50}} {
		list := play(t, modelledSource(t, c.of, 1), 1)[0]
		if len(list) != 2 || list[0].OutputTokens != 20 {
			t.Fatalf("%s: %d turns, the first %+v", what, len(list), list[0])
		}
		b := list[1]
		if b.InputTokens != c.input || b.SharedTokens != c.share || b.Messages[1].Blocks[0].Tokens != 5 || b.Messages[1].Blocks[0].ID == 1<<40 {
			t.Errorf("%s goes on with %+v", what, b)
		}
	}
	a := Answer{Text: "said", Tokens: 20}
	if got, reused := a.said(); got != a || reused != 20 {
		t.Errorf("over sockets %+v, %d", got, reused)
	}
	a.Reasoning = 15
	if got, reused := a.said(); got != (Answer{Text: "said", Tokens: 5}) || reused != 0 {
		t.Errorf("over sockets, with reasoning, %+v, %d", got, reused)
	}
}
