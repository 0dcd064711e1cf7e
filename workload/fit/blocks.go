package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// blocks follows the prompt blocks of a log: which prompts go on with which,
// what sessions share at their front, and what caches of any size would find.
type blocks struct {
	lengths []BlockLength // of blocks, in the order of their first rows
	scratch []uint64
	known   map[uint64]int32 // the place in all of each
	all     []block
	free    []int32           // places in all of those that were forgotten
	at      []int32           // place in all of the block at each place of the stack, -1: none
	oldest  int               // no block is at a place before it
	here    []int32           // place in all of each block of a prompt, -1: not known
	ends    map[uint64]ending // by the last full block of a prompt, of a text by its last
	tails   map[uint64]tails  // by the last but one of a prompt that is one text
	stack   *stack

	distinct, again int64 // blocks, and those used twice or more
	reuse           []float64
	fronts          []front
	frontOf         map[uint64]int32 // by their last block
	prompts, hits   int64            // tokens of prompts, and found in an unlimited cache
	sizes           []int64
	found           []int64 // tokens by size
	inBlocks        int64   // tokens of prompts that name their blocks, and those that these have, were all full
	inNames         int64
	left            int64 // prompts that name blocks without their length, or of one too many
	followed, texts int64 // prompts in all, and those known by their texts
	estimated       int64 // of them, those of estimated lengths
	begun           int64 // sessions that begin with a front
	most            int   // blocks of texts that are kept
	forgot          bool  // the oldest blocks, of a log with too many
}

// BlockLength is how many prompts name blocks of a length in tokens.
type BlockLength struct {
	Tokens  int64 `json:"tokens"`
	Prompts int64 `json:"prompts"`
}

// block is what is known of one: its place in the stack and who sent it first.
type block struct {
	id            uint64
	last          int64 // ns
	place         int32 // -1: forgotten
	owner         int32 // the request that began the session that sent it first
	tokens        int32
	front         int32 // the number of the front that ends with it, 0: none
	shared        bool  // by sessions
	again         bool
	ended, tailed bool // prompts ended with it, or as one text a little behind it
}

// ending is a prompt that ended in a block.
type ending struct {
	row            int32
	first          int32 // request of its session
	prompt, answer int64 // tokens
}

func newBlocks(sizes []int64) *blocks {
	if sizes == nil {
		for k := range 33 { // 100,000 to 1,000,000,000
			sizes = append(sizes, int64(math.Round(math.Pow(10, 5+float64(k)/8)/1000))*1000)
		}
	}
	return &blocks{known: map[uint64]int32{}, ends: map[uint64]ending{}, tails: map[uint64]tails{}, stack: newStack(), frontOf: map[uint64]int32{},
		most: mostTextBlocks, sizes: sizes, found: make([]int64, len(sizes))}
}

// add notes a prompt's blocks. It returns the request whose prompt, with its
// answer, this one goes on with, or -1, and where it begins a session the number
// of the front that another session sent before, from 1, or 0.
func (b *blocks) add(p *prompt, row int32) (before, front int32) {
	b.followed++
	if p.said != nil {
		b.texts++
		if p.said.Estimated {
			b.estimated++
		}
	}
	before, first := p.of, p.of
	deep := b.find(p)
	if before < 0 {
		first = row
		if e, ok := b.goesOn(p, deep); ok {
			before, first = e.row, e.first
		}
	}
	b.lookUp(p, deep)
	front = b.share(p, deep, first, before < 0)
	for i := len(p.ids) - 1; i >= 0; i-- { // the front is the youngest, as it is freed last
		b.here[i] = b.use(b.here[i], p.ids[i], p.tokens(i), first, p.at)
	}
	b.end(p, row, first)
	return before, front
}

// rest frees what only further prompts would need.
func (b *blocks) rest() {
	b.known, b.all, b.free, b.at, b.here, b.ends, b.tails, b.frontOf, b.stack = nil, nil, nil, nil, nil, nil, nil, nil, nil
}

// sharing tells whether clients share blocks: their log names them, or one in a
// hundred prompts or more begins a session with a front.
func (b *blocks) sharing() bool {
	return len(b.lengths) > 0 || b.begun > 0 && float64(b.begun) >= topShare*float64(b.followed)
}

// find looks for the blocks of a prompt, and returns how many of the leading
// ones are known. Behind one that is not no block of a text is.
func (b *blocks) find(p *prompt) (deep int) {
	b.here = b.here[:0]
	deep = -1
	for i, id := range p.ids {
		if deep >= 0 && p.said != nil {
			b.here = append(b.here, -1)
			continue
		}
		at, ok := b.known[id]
		if !ok {
			at = -1
			if deep < 0 {
				deep = i
			}
		}
		b.here = append(b.here, at)
	}
	if deep < 0 {
		return len(p.ids)
	}
	return deep
}

// end notes where a prompt ends, for one that goes on with it.
func (b *blocks) end(p *prompt, row, first int32) {
	n := len(p.ids)
	if n == 0 || !p.whole || b.gone(b.here[n-1], p.ids[n-1]) {
		return
	}
	b.ends[p.ids[n-1]] = ending{row: row, first: first, prompt: p.input, answer: p.output}
	b.all[b.here[n-1]].ended = true
	if p.said == nil {
		return
	}
	if tail := p.said.Tail(); tail > 0 && tail <= math.MaxUint16 && !b.gone(b.here[n-2], p.ids[n-2]) {
		b.tails[p.ids[n-2]] = b.tails[p.ids[n-2]].with(uint16(tail))
		b.all[b.here[n-2]].tailed = true
	}
}

// tails are the lengths in bytes, 0 for none, of what the last few texts that
// ended behind a block had there.
type tails [4]uint16

func (t tails) with(n uint16) tails {
	if !slices.Contains(t[:], n) {
		copy(t[1:], t[:])
		t[0] = n
	}
	return t
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
func (b *blocks) goesOn(p *prompt, deep int) (ending, bool) {
	if p.said == nil {
		deep = len(p.ids) // ids of logs need not name what stands before
	}
	for i := deep - 1; i >= 0; i-- {
		at := b.here[i]
		if at < 0 {
			continue
		}
		at, e, ok := b.endAt(p, i, at)
		if !ok {
			continue
		}
		if b.all[at].shared || p.input <= e.prompt+e.answer/2 {
			return ending{}, false
		}
		return e, true
	}
	return ending{}, false
}

// endAt finds a prompt that ended with a block of this one, or as one text a
// little behind it with what stands there in this one too. at is the place of the
// last block of it.
func (b *blocks) endAt(p *prompt, i int, block int32) (at int32, e ending, ok bool) {
	k := &b.all[block]
	if k.tailed && p.said != nil {
		for _, n := range b.tails[k.id] {
			if n == 0 {
				break
			}
			id, whole := p.said.Behind(i, int(n))
			if at, known := b.known[id]; whole && known && b.all[at].ended {
				return at, b.ends[id], true
			}
		}
	}
	if !k.ended {
		return 0, ending{}, false
	}
	return block, b.ends[k.id], true
}

// lookUp counts what caches of each size would find: the leading blocks whose
// distance in the stack is at most the size, and never the whole prompt, of
// which an engine computes the last token at least.
func (b *blocks) lookUp(p *prompt, deep int) {
	b.prompts += p.input
	deepest := int64(0)
	for i, at := range b.here[:deep] {
		if p.upTo(i+1) >= p.input {
			return
		}
		size := p.tokens(i)
		b.hits += size
		deepest = max(deepest, b.stack.distance(b.all[at].place))
		i, _ := slices.BinarySearch(b.sizes, deepest)
		if i < len(b.found) {
			b.found[i] += size // in this size and all above: summed at the end
		}
	}
}

// share finds the front that another session sent before, and numbers it where
// this request begins a session.
func (b *blocks) share(p *prompt, deep int, first int32, begins bool) int32 {
	depth := 0
	for depth < deep {
		k := &b.all[b.here[depth]]
		if k.owner == first {
			break
		}
		k.shared = true
		depth++
	}
	if p.said != nil && depth == len(p.ids) {
		depth-- // a prompt that was sent before has new text too: an engine computes its end
	}
	if depth == 0 || !begins {
		return 0
	}
	return b.begin(p, depth)
}
