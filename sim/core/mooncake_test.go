package core

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// TestHitRatesOfATrace replays a public trace of conversations, which is not
// part of the repository, through the prefix cache alone: one request after the
// other, blocks of 512 tokens as the trace names them. The rates are those of
// an LRU cache of that size under vLLM's rule.
func TestHitRatesOfATrace(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "traces", "mooncake_fast25_conversation.jsonl"))
	if err != nil {
		t.Skip("the Mooncake conversation trace is not there: ", err)
	}
	defer f.Close()
	type row struct {
		Input int64    `json:"input_length"`
		IDs   []uint64 `json:"hash_ids"`
	}
	var rows []row
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	const size = 512
	for blocks, want := range map[int64]float64{5078: 12.3, 9960: 21.9, 29296: 33.5, 400_000: 37.3} {
		v := clock.NewVirtual(time.Unix(0, 0))
		e, err := New(Config{MaxSeqs: 1, MaxTokens: 1 << 20, MaxModelLen: 1 << 18, BlockSize: size, Blocks: blocks + 1, PrefixCache: true, Timer: tick{}}, v)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			var prompt []Span
			left := r.Input
			for _, id := range r.IDs {
				n := min(left, size)
				if n > 0 {
					prompt = append(prompt, Span{id + 1, n})
				}
				left -= n
			}
			if left > 0 {
				prompt = append(prompt, Span{1<<40 + uint64(i), left})
			}
			if err := e.Submit(&Request{Prompt: prompt, MaxTokens: 1, Output: 1<<41 + uint64(i), Listener: silent{}}); err != nil {
				t.Fatal(err)
			}
			v.Wait(clock.Forever)
		}
		got := 100 * float64(e.counts.PrefixHits) / float64(e.counts.PrefixQueries)
		if math.Abs(got-want) > 0.3 {
			t.Errorf("%d blocks: %.2f %% of the tokens hit, want %.1f", blocks, got, want)
		}
		t.Logf("%d blocks: %.2f %%", blocks, got)
	}
}

type silent struct{}

func (silent) Tokens(int64, int64)           {}
func (silent) Finished(Finish, Usage, int64) {}
