package portrait

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCutByHand: a front of 150 tokens ends a block, and so does each prompt; no
// two blocks are the same, and a later prompt has those of the one before.
func TestCutByHand(t *testing.T) {
	c := &cut{size: 64, named: []uint64{7}, each: 150, own: 1}
	ids, ends := c.blocks(200)
	if d := cmp.Diff([]int64{64, 128, 150, 200}, ends); d != "" {
		t.Error(d)
	}
	first := slices.Clone(ids)
	ids, ends = c.blocks(330)
	if d := cmp.Diff([]int64{64, 128, 150, 200, 264, 328, 330}, ends); d != "" {
		t.Error(d)
	}
	if !slices.Equal(first, ids[:4]) {
		t.Error("a later prompt has other blocks than the one before")
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 7 {
		t.Errorf("%d different blocks of 7", n)
	}
	other := &cut{size: 64, named: []uint64{7}, each: 150, own: 2}
	if ids, _ = other.blocks(200); !slices.Equal(first[:3], ids[:3]) || first[3] == ids[3] {
		t.Error("another conversation shares its front, and nothing else")
	}
}
