package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// blocks follows the prompt blocks of a log: which prompts go on with which,
// what sessions share at their front, and what caches of any size would find.
type blocks struct {
	lengths []BlockLength // of blocks, in the order of their first rows
	scratch []uint64
	known   map[uint64]block
	ends    map[uint64]ending // by the last full block of a prompt
	stack   *stack

	distinct, again int64 // blocks, and those used twice or more
	reuse           []float64
	fronts          []front
	frontOf         map[uint64]int32 // by their last block
	prompts, hits   int64            // tokens of prompts, and found in an unlimited cache
	sizes           []int64
	found           []int64 // tokens by size
	named           int64   // tokens that the prompts' blocks have, were all full
	left            int64   // prompts that name blocks without their length, or of one too many
	forgot          bool    // the oldest blocks, of a log with too many
}

// BlockLength is how many prompts name blocks of a length in tokens.
type BlockLength struct {
	Tokens  int64 `json:"tokens"`
	Prompts int64 `json:"prompts"`
}

// block is what is known of one: its place in the stack and who sent it first.
type block struct {
	place  int32
	owner  int32 // the request that began the session that sent it first
	last   int64 // ns
	tokens int32
	shared bool // by sessions
	again  bool
}

// ending is a prompt that ended in a block.
type ending struct {
	row            int32
	first          int32 // request of its session
	prompt, answer int64 // tokens
}

// front is what several sessions begin with.
type front struct{ tokens int64 }

func newBlocks(sizes []int64) *blocks {
	if sizes == nil {
		for k := range 33 { // 100,000 to 1,000,000,000
			sizes = append(sizes, int64(math.Round(math.Pow(10, 5+float64(k)/8)/1000))*1000)
		}
	}
	return &blocks{known: map[uint64]block{}, ends: map[uint64]ending{}, stack: newStack(), frontOf: map[uint64]int32{},
		sizes: sizes, found: make([]int64, len(sizes))}
}

// mostBlocks bounds the stack, and with it what a log of any length takes.
const mostBlocks = 4 << 20

// mostReuse bounds how many times between uses are kept.
const mostReuse = 1 << 20

// add notes a prompt's blocks. It returns the request whose prompt, with its
// answer, this one goes on with, or -1, and where it begins a session the number
// of the front that another session sent before, from 1, or 0. session is -1 where the row does not name one.
func (b *blocks) add(r *trace.Row, row, session int32) (before, front int32) {
	length := b.length(r.BlockTokens)
	if length == nil {
		return -1, 0
	}
	length.Prompts++
	size := length.Tokens
	b.named += size * int64(len(r.Blocks))
	full := int(min(r.Input/size, int64(len(r.Blocks))))
	ids := b.distinguished(r.Blocks[:full], size)
	before = -1
	first := row
	if e, ok := b.goesOn(ids, r.Input); ok {
		before, first = e.row, e.first
	}
	b.lookUp(ids, size, r.Input)
	front = b.share(ids, size, first, before < 0)
	for i := len(ids) - 1; i >= 0; i-- { // the front is the youngest, as it is freed last
		b.use(ids[i], size, first, r.At)
	}
	if full > 0 && int64(full) == r.Input/size { // else they do not name the end of the prompt
		b.ends[ids[full-1]] = ending{row, first, r.Input, r.Output}
	}
	return before, front
}

// mostLengths bounds how many lengths of blocks are told apart.
const mostLengths = 64

// length counts the prompts of a length; nil for none, or one too many.
func (b *blocks) length(tokens int64) *BlockLength {
	for i := range b.lengths {
		if b.lengths[i].Tokens == tokens {
			return &b.lengths[i]
		}
	}
	if tokens <= 0 || len(b.lengths) == mostLengths {
		b.left++
		return nil
	}
	b.lengths = append(b.lengths, BlockLength{Tokens: tokens})
	return &b.lengths[len(b.lengths)-1]
}

// distinguished are ids that differ from those of blocks of other lengths: equal
// ids of two lengths are not one text.
func (b *blocks) distinguished(ids []uint64, size int64) []uint64 {
	if size == b.lengths[0].Tokens {
		return ids
	}
	b.scratch = b.scratch[:0]
	for _, id := range ids {
		b.scratch = append(b.scratch, stat.Key(id, "block length", uint64(size)))
	}
	return b.scratch
}

// byPrompts are the lengths, the commonest first.
func (b *blocks) byPrompts() []BlockLength {
	out := slices.Clone(b.lengths)
	slices.SortStableFunc(out, func(a, b BlockLength) int { return cmp.Compare(b.Prompts, a.Prompts) })
	return out
}

// goesOn finds the longest earlier prompt whose full blocks are this one's
// front and that grew by more than half its answer: what comes back of one may
// be stripped of reasoning, and counts its tokens anew. Blocks that sessions
// share end no conversation.
func (b *blocks) goesOn(ids []uint64, input int64) (ending, bool) {
	for i := len(ids) - 1; i >= 0; i-- {
		e, ok := b.ends[ids[i]]
		if !ok {
			continue
		}
		if b.known[ids[i]].shared || input <= e.prompt+e.answer/2 {
			return ending{}, false
		}
		return e, true
	}
	return ending{}, false
}

// lookUp counts what caches of each size would find: the leading blocks whose
// distance in the stack is at most the size, and never the whole prompt, of
// which an engine computes the last token at least.
func (b *blocks) lookUp(ids []uint64, size, input int64) {
	b.prompts += input
	usable := min(int64(len(ids)), (input-1)/size)
	deepest := int64(0)
	for _, id := range ids[:max(usable, 0)] {
		k, ok := b.known[id]
		if !ok {
			return
		}
		b.hits += size
		deepest = max(deepest, b.stack.distance(k.place))
		i, _ := slices.BinarySearch(b.sizes, deepest)
		if i < len(b.found) {
			b.found[i] += size // in this size and all above: summed at the end
		}
	}
}

// share finds the front that another session sent before, and numbers it where
// this request begins a session.
func (b *blocks) share(ids []uint64, size int64, first int32, begins bool) int32 {
	depth := 0
	for depth < len(ids) {
		k, ok := b.known[ids[depth]]
		if !ok || k.owner == first {
			break
		}
		if !k.shared {
			k.shared = true
			b.known[ids[depth]] = k
		}
		depth++
	}
	if depth == 0 || !begins {
		return 0
	}
	last := ids[depth-1]
	n, ok := b.frontOf[last]
	if !ok {
		b.fronts = append(b.fronts, front{tokens: int64(depth) * size})
		n = int32(len(b.fronts))
		b.frontOf[last] = n
	}
	return n
}

// use makes a block of so many tokens the youngest.
func (b *blocks) use(id uint64, size int64, first int32, at int64) {
	if b.stack.full(size) {
		b.compact(size)
	}
	k, ok := b.known[id]
	if !ok {
		b.distinct++
		k.owner, k.tokens = first, int32(min(size, math.MaxInt32))
	} else {
		if !k.again {
			k.again = true
			b.again++
		}
		if len(b.reuse) < mostReuse {
			b.reuse = append(b.reuse, float64(at-k.last)/1e9)
		}
		b.stack.remove(k.place, k.tokens)
	}
	k.last = at
	k.place = b.stack.push(k.tokens)
	b.known[id] = k
}

// compact moves the blocks of the stack together, and forgets the oldest half
// when there are too many, or too many tokens for one more block.
func (b *blocks) compact(size int64) {
	places, used := make([]uint64, b.stack.next), make([]bool, b.stack.next)
	for id, k := range b.known {
		places[k.place], used[k.place] = id, true
	}
	ids := places[:0]
	for i, id := range places {
		if used[i] {
			ids = append(ids, id)
		}
	}
	if len(ids) > mostBlocks || b.stack.used+size >= mostStacked {
		b.forgot = true
		half := (len(ids) + 1) / 2
		for _, id := range ids[:half] {
			delete(b.known, id)
			delete(b.ends, id)
		}
		ids = ids[half:]
	}
	tokens := make([]int32, len(ids))
	for i, id := range ids {
		k := b.known[id]
		k.place = int32(i)
		b.known[id] = k
		tokens[i] = k.tokens
	}
	b.stack.reset(tokens)
}
