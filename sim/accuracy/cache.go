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
	// Alone is ours of the cache alone, one request after the other; Engine is
	// that of a whole engine at the trace's moments, whose answers are cached too.
	Alone, Engine float64
	Measured      bool // computed now; else recorded when the trace was there last
}

func hitRates() []Hits {
	return []Hits{{Blocks: 5078, Expected: 12.3, Alone: 12.32, Engine: 11.748}, {Blocks: 9960, Expected: 21.9, Alone: 21.91, Engine: 21.63},
		{Blocks: 29296, Expected: 33.5, Alone: 33.49, Engine: 33.13}, {Blocks: 400_000, Expected: 37.3, Alone: 37.34, Engine: 37.34}}
}

// tick is a step of 1 ms: the trace's moments stay apart, and nothing queues for long.
type tick struct{}

func (tick) StepTime(*core.Step) int64 { return 1_000_000 }

// HitRates replays the trace in dir through the prefix cache alone and through a
// whole engine. Without the trace the recorded rates stand.
func HitRates(dir string) ([]Hits, error) {
	rates := hitRates()
	f, err := os.Open(filepath.Join(dir, "mooncake_fast25_conversation.jsonl"))
	if dir == "" || os.IsNotExist(err) {
		return rates, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list, err := readPrompts(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	for i := range rates {
		h := &rates[i]
		if h.Alone, err = hits(list, h.Blocks, true); err != nil {
			return nil, err
		}
		if h.Engine, err = hits(list, h.Blocks, false); err != nil {
			return nil, err
		}
		h.Measured = true
	}
	return rates, nil
}

const block = 512

// traced is a request of the trace.
type traced struct {
	at     int64 // ns
	prompt []core.Span
	output int64
}

func readPrompts(f *os.File) ([]traced, error) {
	var out []traced
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			At     float64  `json:"timestamp"` // ms
			Input  int64    `json:"input_length"`
			Output int64    `json:"output_length"`
			IDs    []uint64 `json:"hash_ids"`
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
		out = append(out, traced{int64(r.At * 1e6), prompt, max(r.Output, 1)})
	}
	return out, lines.Err()
}

func hits(list []traced, blocks int64, alone bool) (float64, error) {
	cfg := core.Config{MaxSeqs: 256, MaxTokens: 16384, MaxModelLen: 1 << 18, BlockSize: block, Blocks: blocks + 1, PrefixCache: true, PromptMustFit: true, Timer: tick{}}
	if alone {
		cfg.MaxSeqs, cfg.MaxTokens = 1, 1<<20
	}
	v := clock.NewVirtual(time.Unix(0, 0))
	e, err := core.New(cfg, v)
	if err != nil {
		return 0, err
	}
	for i, r := range list {
		q := &core.Request{Prompt: r.prompt, MaxTokens: r.output, Output: 1<<41 + uint64(i), Listener: silent{}}
		if alone {
			q.MaxTokens = 1
			v.Wait(clock.Forever)
		} else {
			v.Wait(r.at)
		}
		if err := e.Submit(q); err != nil {
			return 0, fmt.Errorf("request %d: %w", i, err)
		}
	}
	v.Wait(clock.Forever)
	c := e.State().Counts
	return 100 * float64(c.PrefixHits) / float64(c.PrefixQueries), nil
}
