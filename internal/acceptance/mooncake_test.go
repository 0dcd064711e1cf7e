package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mooncakeRow is a row of the Mooncake conversation trace.
type mooncakeRow struct {
	Input int64    `json:"input_length"`
	IDs   []uint64 `json:"hash_ids"`
}

// mooncakeBlock is the trace's block in tokens.
const mooncakeBlock = 512

func mooncake(t *testing.T) (path string, rows []mooncakeRow) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "traces", "mooncake_fast25_conversation.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the public trace is not here: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r mooncakeRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return path, rows
}

// hitShare is the share of prompt tokens, in percent, that a cache of so many
// blocks holds when the rows come one after the other: least recently used
// blocks go first, of one prompt its last, and the last token of a prompt is
// always computed.
func hitShare(rows []mooncakeRow, blocks int) float64 {
	used := map[uint64]int{} // the moment of each block's last use
	clock, hits, tokens := 0, int64(0), int64(0)
	var order []uint64 // by moment; stale entries are passed over
	var at []int
	for _, r := range rows {
		full := r.IDs[:min(int64(len(r.IDs)), r.Input/mooncakeBlock)]
		tokens += r.Input
		for i, id := range full {
			if _, ok := used[id]; !ok || int64(i+1)*mooncakeBlock > r.Input-1 {
				break
			}
			hits += mooncakeBlock
		}
		for _, id := range slices.Backward(full) {
			clock++
			used[id] = clock
			order, at = append(order, id), append(at, clock)
		}
		for len(used) > blocks {
			if used[order[0]] == at[0] {
				delete(used, order[0])
			}
			order, at = order[1:], at[1:]
		}
	}
	return 100 * float64(hits) / float64(tokens)
}

const unlimited = 1 << 30

// TestMooncakeReplayedInVirtualTime: the share of the prompts that an engine
// finds in its cache is that of the trace, from 2.6 million tokens of cache to
// any; and prompt_shared adds up to what an unlimited cache can find.
func TestMooncakeReplayedInVirtualTime(t *testing.T) {
	path, rows := mooncake(t)
	for _, blocks := range []int{5078, 29296, unlimited} {
		o := run(t, "--url", fmt.Sprintf("sim://qwen3-0.6b@h200?block_size=512&max_model_len=200000&num_gpu_blocks=%d", min(blocks, 400_000)+1),
			"--virtual", "--dataset", path, "--concurrency", "1", "--requests", fmt.Sprint(len(rows)), "--timeout", "1h", "--inconclusive-ok")
		o.wantExit(t, 0)
		want := hitShare(rows, blocks)
		got := o.metric(t, "cached_share", "value")
		t.Logf("%d blocks: %.2f %% of the tokens cached, %.2f %% in the trace", blocks, got, want)
		if math.Abs(got-want) > 1 {
			t.Errorf("%d blocks: %.2f %% of the tokens cached, want %.2f", blocks, got, want)
		}
		if blocks < unlimited {
			continue
		}
		shared, asked := int64(0), int64(0)
		for _, a := range attempts(t, o.dir) {
			shared, asked = shared+a.PromptShared.Or(0), asked+a.PromptAsked.Or(0)
		}
		// Blocks that a prompt cuts short count there too: up to 0.1 points.
		if possible := 100 * float64(shared) / float64(asked); math.Abs(possible-want) > 0.3 {
			t.Errorf("prompt_shared adds up to %.2f %%, want %.2f", possible, want)
		}
	}
}

// TestMooncakeReplayed sends the trace's first prompts as text to an engine in
// another process, which cuts them into tokens and blocks of its own.
func TestMooncakeReplayed(t *testing.T) {
	path, rows := mooncake(t)
	const n = 300
	for _, blocks := range []int{3000, unlimited} {
		o := run(t, "--url", fmt.Sprintf("sim://qwen3-0.6b@h200?tp=8&max_model_len=200000&num_gpu_blocks=%d", min(blocks, 40_000)*mooncakeBlock/16+1),
			"--dataset", path, "--concurrency", "1", "--requests", fmt.Sprint(n), "--body", `{"max_tokens":1,"min_tokens":1}`,
			"--slo", "error_rate<1%", "--inconclusive-ok")
		want := hitShare(rows[:n], blocks)
		got := o.metric(t, "cached_share", "value")
		t.Logf("%d blocks: %.2f %% of the tokens cached, %.2f %% in the trace", blocks, got, want)
		if math.Abs(got-want) > 1 || o.summary.Requests.OK != n {
			t.Errorf("%d blocks: %d ok, %.2f %% of the tokens cached, want %.2f", blocks, o.summary.Requests.OK, got, want)
		}
		if off := o.metric(t, "prompt_usage_difference", "max"); off != 0 {
			t.Errorf("a prompt of text is %v tokens longer than asked", off)
		}
	}
}
