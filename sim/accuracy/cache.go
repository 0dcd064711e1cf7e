package accuracy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
)

// Hits is the share of prompt tokens that a prefix cache of some blocks finds
// on the Mooncake conversation trace (blocks of 512 tokens).
type Hits struct {
	Blocks int64
	// Expected is the rate of an LRU cache under vLLM's rule, in percent.
	Expected float64
	// Got is ours; Recorded is ours when the trace was there last.
	Got, Recorded float64
	Measured      bool // Got was computed now
}

func hitRates() []Hits {
	return []Hits{{Blocks: 5078, Expected: 12.3, Recorded: 12.32}, {Blocks: 9960, Expected: 21.9, Recorded: 21.91},
		{Blocks: 29296, Expected: 33.5, Recorded: 33.49}, {Blocks: 400_000, Expected: 37.3, Recorded: 37.34}}
}

type tick struct{}

func (tick) StepTime(*core.Step) int64 { return 1 }

// HitRates replays the trace in dir through the prefix cache alone, one request
// after the other. Without the trace the recorded rates stand.
func HitRates(dir string) ([]Hits, error) {
	rates := hitRates()
	f, err := os.Open(filepath.Join(dir, "mooncake_fast25_conversation.jsonl"))
	if dir == "" || os.IsNotExist(err) {
		for i := range rates {
			rates[i].Got = rates[i].Recorded
		}
		return rates, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	prompts, err := readPrompts(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	for i := range rates {
		h := &rates[i]
		if h.Got, err = hits(prompts, h.Blocks); err != nil {
			return nil, err
		}
		h.Measured = true
	}
	return rates, nil
}

const block = 512

func readPrompts(f *os.File) ([][]core.Span, error) {
	var out [][]core.Span
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			Input int64    `json:"input_length"`
			IDs   []uint64 `json:"hash_ids"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		var prompt []core.Span
		left := r.Input
		for _, id := range r.IDs {
			if n := min(left, block); n > 0 {
				prompt = append(prompt, core.Span{ID: id + 1, Tokens: n})
				left -= n
			}
		}
		if left > 0 {
			prompt = append(prompt, core.Span{ID: 1<<40 + uint64(len(out)), Tokens: left})
		}
		out = append(out, prompt)
	}
	return out, lines.Err()
}

func hits(prompts [][]core.Span, blocks int64) (float64, error) {
	v := clock.NewVirtual(time.Unix(0, 0))
	e, err := core.New(core.Config{MaxSeqs: 1, MaxTokens: 1 << 20, MaxModelLen: 1 << 18, BlockSize: block, Blocks: blocks + 1, PrefixCache: true, Timer: tick{}}, v)
	if err != nil {
		return 0, err
	}
	for i, p := range prompts {
		if err := e.Submit(&core.Request{Prompt: p, MaxTokens: 1, Output: 1<<41 + uint64(i), Listener: silent{}}); err != nil {
			return 0, fmt.Errorf("request %d: %w", i, err)
		}
		v.Wait(clock.Forever)
	}
	c := e.State().Counts
	return 100 * float64(c.PrefixHits) / float64(c.PrefixQueries), nil
}
