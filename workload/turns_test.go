package workload

import (
	"io"
	"strings"
	"testing"
	"time"
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
