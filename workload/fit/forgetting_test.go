package fit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/workload/count"
)

// Of texts without end a million blocks are kept, and it is said that some were
// forgotten.
func TestTextsAreForgotten(t *testing.T) {
	b := newBlocks(nil)
	q := count.Prompt{}
	ids, ends := make([]uint64, 1000), make([]int64, 1000)
	for i := range ends {
		ends[i] = int64(16 * (i + 1))
	}
	for row := range int32(1200) {
		for i := range ids {
			ids[i] = uint64(row)*1000 + uint64(i) + 1
		}
		q.Blocks, q.Ends, q.Tokens = ids, ends, 16_000
		b.add(written(&q, int64(row)), row)
		if len(b.known) > mostTextBlocks {
			t.Fatalf("%d blocks", len(b.known))
		}
	}
	if _, complete := (&Reuse{blocks: b}).Curve(); complete || len(b.known) < mostTextBlocks/2 {
		t.Errorf("complete %v, %d blocks", complete, len(b.known))
	}
}

// Forgetting leaves what is kept whole: the blocks used last, each where the stack
// has it, and as many tokens in the stack as they have.
func TestForgettingKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBlocks([]int64{16})
		b.most = rapid.IntRange(2, 12).Draw(t, "most")
		var used []uint64
		for row := range rapid.Int32Range(1, 60).Draw(t, "prompts") {
			q := count.Prompt{}
			at := uint64(rapid.IntRange(1, 3).Draw(t, "front"))
			for k := range rapid.IntRange(1, 9).Draw(t, "blocks") {
				q.Blocks, q.Ends = append(q.Blocks, at), append(q.Ends, int64(10*(k+1)))
				at = at*4 + uint64(rapid.IntRange(0, 3).Draw(t, "next"))
			}
			q.Tokens = int64(10 * len(q.Blocks))
			b.add(written(&q, int64(row)), row)
			for _, id := range slices.Backward(q.Blocks) {
				if i := slices.Index(used, id); i >= 0 {
					used = slices.Delete(used, i, i+1)
				}
				used = append(used, id)
			}
			kept := used[max(len(used)-b.most, 0):]
			if len(b.known) != len(kept) || b.stack.used != int64(10*len(kept)) {
				t.Fatalf("%d blocks of %d tokens, want %d", len(b.known), b.stack.used, len(kept))
			}
			for i, id := range kept {
				at, ok := b.known[id]
				if !ok || b.all[at].id != id || b.at[b.all[at].place] != at {
					t.Fatalf("block %d is not kept, or not where it is", id)
				}
				if got := b.stack.distance(b.all[at].place); got != int64(10*(len(kept)-i)) {
					t.Fatalf("block %d lies %d tokens deep, want %d", id, got, 10*(len(kept)-i))
				}
			}
		}
	})
}
