package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// TestReuse follows three prompts by hand: the second shares two blocks of 16
// with the first, the third goes on with the first.
func TestReuse(t *testing.T) {
	u := fit.NewReuse([]int64{16, 32, 64})
	for i, c := range []struct {
		row    trace.Row
		before int32
	}{
		{trace.Row{Input: 48, Blocks: []uint64{1, 2, 3}, BlockTokens: 16}, -1},
		{trace.Row{Input: 48, Blocks: []uint64{1, 2, 4}, BlockTokens: 16}, -1},
		{trace.Row{Input: 64, Blocks: []uint64{1, 2, 3, 5}, BlockTokens: 16}, 0},
	} {
		if before, ok := u.Add(&c.row); !ok || before != c.before {
			t.Errorf("prompt %d goes on with %d (%v), want %d", i, before, ok, c.before)
		}
	}
	if _, ok := u.Add(&trace.Row{Input: 10, Blocks: []uint64{1}, BlockTokens: 16, Delta: true}); ok {
		t.Error("the new text of a turn alone was followed")
	}
	// Of 160 tokens a cache of one block finds block 1 twice, of two blocks 1
	// and 2, of four also 3: 32, 64 and 80.
	points, complete := u.Curve()
	want := []fit.CachePoint{{Tokens: 16, Hit: 0.2}, {Tokens: 32, Hit: 0.4}, {Tokens: 64, Hit: 0.5}, {Hit: 0.5}}
	if d := cmp.Diff(want, points); d != "" || !complete {
		t.Errorf("curve (-want +got), complete %v:\n%s", complete, d)
	}
}

// TestReuseOfSeveralLengths: each prompt counts with its own length of blocks,
// whichever came first, and one cache holds them all. Of 10·3 + 100·2 tokens
// asked twice, in turn, the second 230 find 20 and 100 (the last token of a
// prompt is never found), of 560 with one more. By then the first short blocks
// lie 210 and 220 tokens deep, and the first long one 130.
func TestReuseOfSeveralLengths(t *testing.T) {
	u := fit.NewReuse([]int64{120, 230, 500})
	for range 2 {
		u.Add(&trace.Row{Input: 30, Blocks: []uint64{1, 2, 3}, BlockTokens: 10})
		u.Add(&trace.Row{Input: 200, Blocks: []uint64{1, 2}, BlockTokens: 100})
	}
	u.Add(&trace.Row{Input: 100, Blocks: []uint64{9}, BlockTokens: 100})
	points, complete := u.Curve()
	want := []fit.CachePoint{{Tokens: 120}, {Tokens: 230, Hit: 120.0 / 560}, {Tokens: 500, Hit: 120.0 / 560}, {Hit: 120.0 / 560}}
	if d := cmp.Diff(want, points); d != "" || !complete {
		t.Errorf("curve (-want +got), complete %v:\n%s", complete, d)
	}
	lengths := u.BlockLengths()
	if d := cmp.Diff([]fit.BlockLength{{Tokens: 100, Prompts: 3}, {Tokens: 10, Prompts: 2}}, lengths); d != "" {
		t.Error(d)
	}
	if got := fit.MixedBlocks(lengths); got != "prompt blocks have several lengths (100 tokens in 3 prompts, 10 tokens in 2 prompts): each counts with its own, and blocks of two lengths are never the same" {
		t.Error(got)
	}
	if got := fit.MixedBlocks(lengths[:1]); got != "" {
		t.Error(got)
	}
}
