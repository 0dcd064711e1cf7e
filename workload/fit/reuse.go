package fit

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Reuse follows the prompts of a log in their order: how much of them was sent
// before, what a cache of any size would find of that, and which prompt goes on
// with which. It belongs to one goroutine; a request takes some bytes, and a
// distinct block some tens.
type Reuse struct {
	blocks *blocks
	added  int32
}

// NewReuse begins with no prompt. cacheTokens are the sizes of the curve,
// ascending; nil: those of Options.
func NewReuse(cacheTokens []int64) *Reuse { return &Reuse{blocks: newBlocks(cacheTokens)} }

// Add follows a prompt that names its blocks; one that names none, or holds the
// new text of a turn alone, is passed over and false. before is the number of
// the prompt, counted from 0 over those followed, whose text and answer this
// one goes on with, or -1.
func (u *Reuse) Add(r *trace.Row) (before int32, followed bool) {
	p := u.blocks.promptOf(r, nil)
	if p == nil {
		return -1, false
	}
	return u.follow(p), true
}

// AddText is Add of a prompt known by its text, at a moment in ns. of is the
// number of the prompt with which its conversation began, where it is known to
// be a later one, else -1. One without blocks is passed over and false.
func (u *Reuse) AddText(q *count.Prompt, at int64, of int32) (before int32, followed bool) {
	p := written(q, at)
	if p == nil {
		return -1, false
	}
	p.of = of
	return u.follow(p), true
}

// AddBlocks is Add of a prompt of so many tokens, and its answer, that is known by
// blocks of lengths of their own: ends are the tokens up to the end of each, at is
// a moment in ns.
func (u *Reuse) AddBlocks(ids []uint64, ends []int64, input, output, at int64) (before int32) {
	return u.follow(&prompt{ids: ids, ends: ends, input: input, output: output, at: at, whole: true, of: -1})
}

func (u *Reuse) follow(p *prompt) (before int32) {
	before, _ = u.blocks.add(p, u.added)
	u.added++
	return before
}

// Estimated is how many prompts are of an estimated length.
func (u *Reuse) Estimated() int64 { return u.blocks.estimated }

// Curve returns the share of the prompt tokens that stand in leading blocks
// sent before, for caches of each size that forget the least recently used
// block, and last for an unlimited one. An engine computes at least the last
// token of a prompt, so that a whole prompt sent again is not all found. It is
// empty where no prompt was followed; complete is as of PrefixReport.
func (u *Reuse) Curve() (points []CachePoint, complete bool) {
	if u.blocks.prompts == 0 {
		return nil, true
	}
	return u.blocks.curve(), !u.blocks.forgot
}

// BlockLengths are the lengths of the blocks followed, the commonest first.
func (u *Reuse) BlockLengths() []BlockLength { return u.blocks.byPrompts() }

// MixedBlocks says that blocks have several lengths; "" where they have not.
func MixedBlocks(list []BlockLength) string {
	const shown = 4
	if len(list) < 2 {
		return ""
	}
	var words []string
	for i, l := range list {
		if i == shown {
			words = append(words, fmt.Sprintf("%d other lengths", len(list)-shown))
			break
		}
		words = append(words, fmt.Sprintf("%s tokens in %s prompts", grouped(l.Tokens), grouped(l.Prompts)))
	}
	return "prompt blocks have several lengths (" + strings.Join(words, ", ") + "): each counts with its own, and blocks of two lengths are never the same"
}

// curve is the prefix-hit curve by size, the unlimited cache last.
func (b *blocks) curve() []CachePoint {
	var out []CachePoint
	found := int64(0)
	for i, size := range b.sizes {
		found += b.found[i]
		out = append(out, CachePoint{Tokens: size, Hit: float64(found) / float64(b.prompts)})
	}
	return append(out, CachePoint{Hit: float64(b.hits) / float64(b.prompts)})
}
