package fit

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// blocks follows the prompt blocks of a log: which prompts go on with which,
// what sessions share at their front, and what caches of any size would find.
type blocks struct {
	tokens int64 // of a block
	known  map[uint64]block
	ends   map[uint64]ending // by the last full block of a prompt
	stack  *stack

	distinct, again int64 // blocks, and those used twice or more
	reuse           []float64
	fronts          []front
	frontOf         map[uint64]int32 // by their last block
	prompts, hits   int64            // tokens of prompts, and found in an unlimited cache
	sizes           []int64
	found           []int64 // tokens by size
	other           bool    // some rows have blocks of another length
	forgot          bool    // the oldest blocks, of a log with too many
}

// block is what is known of one: its place in the stack and who sent it first.
type block struct {
	place  int32
	owner  int32 // the request that began the session that sent it first
	last   int64 // ns
	shared bool  // by sessions
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
	if b.tokens == 0 {
		b.tokens = r.BlockTokens
	}
	if r.BlockTokens != b.tokens || b.tokens <= 0 {
		b.other = true
		return -1, 0
	}
	full := int(min(r.Input/b.tokens, int64(len(r.Blocks))))
	ids := r.Blocks[:full]
	before = -1
	first := row
	if e, ok := b.goesOn(ids, r.Input); ok {
		before, first = e.row, e.first
	}
	b.lookUp(ids, r.Input)
	front = b.share(ids, first, before < 0)
	for i := len(ids) - 1; i >= 0; i-- { // the front is the youngest, as it is freed last
		b.use(ids[i], first, r.At)
	}
	if full > 0 {
		b.ends[ids[full-1]] = ending{row, first, r.Input, r.Output}
	}
	if b.stack.full() {
		b.compact()
	}
	return before, front
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
func (b *blocks) lookUp(ids []uint64, input int64) {
	b.prompts += input
	usable := min(int64(len(ids)), (input-1)/b.tokens)
	deepest := int64(0)
	for _, id := range ids[:max(usable, 0)] {
		k, ok := b.known[id]
		if !ok {
			return
		}
		b.hits += b.tokens
		deepest = max(deepest, b.stack.distance(k.place))
		i, _ := slices.BinarySearch(b.sizes, deepest*b.tokens)
		if i < len(b.found) {
			b.found[i] += b.tokens // in this size and all above: summed at the end
		}
	}
}

// share finds the front that another session sent before, and numbers it where
// this request begins a session.
func (b *blocks) share(ids []uint64, first int32, begins bool) int32 {
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
		b.fronts = append(b.fronts, front{tokens: int64(depth) * b.tokens})
		n = int32(len(b.fronts))
		b.frontOf[last] = n
	}
	return n
}

// use makes a block the youngest.
func (b *blocks) use(id uint64, first int32, at int64) {
	k, ok := b.known[id]
	if !ok {
		b.distinct++
		k.owner = first
	} else {
		if !k.again {
			k.again = true
			b.again++
		}
		if len(b.reuse) < mostReuse {
			b.reuse = append(b.reuse, float64(at-k.last)/1e9)
		}
		b.stack.remove(k.place)
	}
	k.last = at
	k.place = b.stack.push()
	b.known[id] = k
}

// compact moves the blocks of the stack together, and forgets the oldest half
// when there are too many.
func (b *blocks) compact() {
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
	if len(ids) > mostBlocks {
		gone := ids[:len(ids)/2]
		ids = ids[len(ids)/2:]
		for _, id := range gone {
			delete(b.known, id)
			delete(b.ends, id)
		}
		b.forgot = true
	}
	b.stack.reset(len(ids))
	for i, id := range ids {
		k := b.known[id]
		k.place = int32(i)
		b.known[id] = k
	}
}
