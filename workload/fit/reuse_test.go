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
