package count

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Tokenizer counts the tokens of texts; those of package token do.
type Tokenizer interface {
	Name() string
	Count(text string) (int, error)
}

// EstimatedBytes is how many bytes of text are taken for a token where neither
// the log nor a tokenizer tells.
const EstimatedBytes = 4

// Prompts follows the texts of a log's prompts: how many tokens they have, and
// the blocks that name them. Blocks are those of one Prompts alone: their ids are
// hashes keyed by a random number that it keeps to itself, so that they tell
// nothing of the texts. It belongs to one goroutine.
type Prompts struct {
	counter Tokenizer
	seed    maphash.Seed
	parser  fastjson.Parser
	scratch []byte
	met     map[uint64]int32 // tokens of texts
	err     error            // the tokenizer's first

	text     []byte // of the conversation, as it is cut
	blocks   []uint64
	cuts     []int   // where each ends in text
	ends     []int64 // and in tokens
	messages []message
	settled  int   // messages whose tokens are known
	tokens   int64 // of those
	guessed  bool  // some of them are estimated
	out      []Prompt
	touched  int // blocks of prompts so far
}

// message is one of a prompt under way.
type message struct {
	from, to int     // its text
	first    int     // its first block
	tokens   float64 // of its text: counted, or estimated
	shown    int     // images and their like
}

// NewPrompts follows prompts whose tokens c counts where the log does not say
// them; nil: nothing does.
func NewPrompts(c Tokenizer) *Prompts {
	return &Prompts{counter: c, seed: maphash.MakeSeed(), met: map[uint64]int32{}}
}

// Prompt is one prompt of a row that has texts: of a conversation with all that
// was said before, answers included.
type Prompt struct {
	// Said are the tokens of what is new in it, and Answer those of its answer:
	// as the log says, else counted; 0: neither.
	Said, Answer int64
	// Counted says that the tokenizer told one of them.
	Counted bool
	// Tokens are those of the whole prompt. Estimated says that they are a fourth
	// of its bytes, as nothing tells them.
	Tokens    int64
	Estimated bool
	// Blocks name its text block by block: equal ids are equal text behind equal
	// text. Each message ends a block, so that what two prompts share is found to
	// the message; within one it is found to 64 bytes, or a 64th of what stands
	// before. Ends are the tokens up to the end of each.
	Blocks []uint64
	Ends   []int64

	// Alone says that it is one text, which a later one may go on with in the
	// midst of its last block.
	Alone bool

	of   *Prompts
	cuts []int
}

const (
	// BlockBytes is the length in bytes of a block of a text, and 1/BlockShare that
	// part of what stands before it which it has where that is more: long prompts
	// are of few hundred blocks.
	BlockBytes, BlockShare = 64, 64
)

const (
	// mostBlocks is how many blocks the prompts of a row have in all: what comes
	// behind is not followed, so that a line cannot make work without end.
	mostBlocks = 1 << 20
	// headTokens is what a template puts around a message, about, where the log
	// says how long a prompt is.
	headTokens = 4
	// shortText is the length in bytes below which a text is counted anew, and
	// mostMet how many counts are kept.
	shortText, mostMet = 64, 1 << 17
)

// Of returns the prompts of a row, one a turn, valid until the next call; none
// where it has no texts. An error is the tokenizer's.
func (p *Prompts) Of(r *trace.Row) ([]Prompt, error) {
	p.text, p.blocks, p.cuts, p.ends, p.messages, p.out = p.text[:0], p.blocks[:0], p.cuts[:0], p.ends[:0], p.messages[:0], p.out[:0]
	p.settled, p.tokens, p.guessed, p.touched = 0, 0, false, 0
	switch {
	case r.Body != nil:
		p.body(r.Body)
		p.prompt(r.Input, r.Output)
	case len(r.Turns) == 1 && HasText(&r.Turns[0]):
		t := &r.Turns[0]
		p.turn(t)
		p.prompt(first(r.Input, t.Input), first(r.Output, t.Output))
		p.answer(t.Answer, 0)
	case len(r.Turns) > 1 && hasTexts(r.Turns):
		p.conversation(r.Turns)
	}
	err := p.err
	p.err = nil
	return p.out, err
}

func first(a, b int64) int64 {
	if a > 0 {
		return a
	}
	return b
}

// HasText tells whether a turn is known by its text.
func HasText(t *trace.Turn) bool {
	for i := range t.Messages {
		if t.Messages[i].Text != "" {
			return true
		}
	}
	return t.Answer != ""
}

func hasTexts(turns []trace.Turn) bool {
	for i := range turns {
		if HasText(&turns[i]) {
			return true
		}
	}
	return false
}

// conversation makes a prompt of each turn.
func (p *Prompts) conversation(turns []trace.Turn) {
	for i := range turns {
		t := &turns[i]
		p.turn(t)
		p.prompt(t.Input, t.Output)
		p.answer(t.Answer, i+1)
	}
}

// begin begins a message.
func (p *Prompts) begin(role string) {
	p.cut()
	p.messages = append(p.messages, message{from: len(p.text), to: -1, first: len(p.blocks)})
	p.text = append(append(append(p.text, 0x1e), role...), 0x1f)
}

func (p *Prompts) now() *message { return &p.messages[len(p.messages)-1] }

// write adds text to the message under way.
func (p *Prompts) write(text []byte) {
	n := len(p.text)
	p.text = append(p.text, text...)
	p.now().tokens += p.count(p.text[n:])
}

func (p *Prompts) writeString(text string) {
	n := len(p.text)
	p.text = append(p.text, text...)
	p.now().tokens += p.count(p.text[n:])
}

// token adds an id of one.
func (p *Prompts) token(v *fastjson.Value) {
	p.text = append(v.MarshalTo(p.text), ' ')
	p.now().tokens++
}

// shows adds what is no text to the message under way.
func (p *Prompts) shows(id uint64) {
	p.text = binary.LittleEndian.AppendUint64(append(p.text, 0x1d), id)
	p.now().shown++
}

// count returns the tokens of a text.
func (p *Prompts) count(text []byte) float64 {
	if p.counter == nil {
		return float64(len(text)) / EstimatedBytes
	}
	if p.err != nil || len(text) == 0 {
		return 0
	}
	if len(text) < shortText {
		return float64(p.counted(text))
	}
	key := maphash.Bytes(p.seed, text)
	n, ok := p.met[key]
	if !ok {
		n = p.counted(text)
		if len(p.met) >= mostMet {
			clear(p.met)
		}
		p.met[key] = n
	}
	return float64(n)
}

func (p *Prompts) counted(text []byte) int32 {
	n, err := p.counter.Count(string(text))
	if err != nil {
		p.err = err
	}
	return int32(min(n, math.MaxInt32))
}

// cut ends the message under way and makes blocks of it.
func (p *Prompts) cut() {
	if len(p.messages) == 0 || p.now().to >= 0 {
		return
	}
	m := p.now()
	m.to = len(p.text)
	for at := m.from; at < m.to && len(p.blocks) < mostBlocks; {
		end := min(at+max(BlockBytes, at/BlockShare), m.to)
		p.blocks = append(p.blocks, p.chained(len(p.blocks)-1, p.text[at:end]))
		p.cuts = append(p.cuts, end)
		at = end
	}
}

// chained is the id of a text that stands behind a block.
func (p *Prompts) chained(block int, text []byte) uint64 {
	before := uint64(0)
	if block >= 0 {
		before = p.blocks[block]
	}
	return maphash.Comparable(p.seed, [2]uint64{before, maphash.Bytes(p.seed, text)})
}

// prompt ends one: said are the tokens of its new messages and answer those of
// its answer, as far as the log says.
func (p *Prompts) prompt(said, answer int64) {
	p.cut()
	q := Prompt{Said: said, Answer: answer, of: p, Alone: len(p.messages) == 1}
	n := p.settle(said)
	switch {
	case said > 0:
	case p.counter != nil:
		q.Said, q.Counted = n, n > 0
	default:
		p.guessed = true
	}
	q.Tokens, q.Estimated = p.tokens, p.guessed
	if p.touched += len(p.blocks); p.touched <= mostBlocks {
		q.Blocks, q.Ends, q.cuts = p.blocks, p.ends, p.cuts
	}
	p.out = append(p.out, q)
}

// answer puts one behind the prompt made last. A turn of a conversation goes
// before another; 0: none.
func (p *Prompts) answer(text string, turn int) {
	q := &p.out[len(p.out)-1]
	told := q.Answer
	if turn == 0 {
		if told == 0 && p.counter != nil && text != "" {
			q.Answer, q.Counted = int64(p.count([]byte(text))), true
		}
		return
	}
	p.begin("assistant")
	if p.writeString(text); text == "" {
		p.shows(maphash.Comparable(p.seed, [2]uint64{p.chainedLast(), uint64(turn)})) // its own, as far as is known
	}
	p.cut()
	n := p.settle(told)
	switch {
	case told > 0 || text == "":
	case p.counter != nil:
		q.Answer, q.Counted = n, true
	default:
		p.guessed = true
	}
}

// chainedLast is the id of the last block.
func (p *Prompts) chainedLast() uint64 {
	if len(p.blocks) == 0 {
		return 0
	}
	return p.blocks[len(p.blocks)-1]
}

// settle finds the tokens of the messages since the last call, told of them in
// all where the log tells, and of the ends of their blocks.
func (p *Prompts) settle(told int64) int64 {
	list := p.messages[p.settled:]
	p.settled = len(p.messages)
	sum, shown := 0.0, 0
	for i := range list {
		if told > 0 && p.counter == nil {
			list[i].tokens += headTokens
		}
		sum += list[i].tokens
		shown += list[i].shown
	}
	factor, each := 1.0, 0.0
	switch {
	case told <= 0:
	case shown > 0 && float64(told) > sum:
		each = (float64(told) - sum) / float64(shown)
	case sum > 0:
		factor = float64(told) / sum
	}
	upTo := float64(p.tokens)
	for i := range list {
		m := &list[i]
		n := m.tokens*factor + float64(m.shown)*each
		for k := m.first; k < len(p.blocks) && p.cuts[k] <= m.to; k++ {
			p.ends = append(p.ends, int64(math.Round(upTo+n*float64(p.cuts[k]-m.from)/float64(m.to-m.from))))
		}
		upTo += n
	}
	n := int64(math.Round(upTo)) - p.tokens
	if told > 0 {
		n = told
	}
	p.tokens += n
	return n
}

// Tail is the length in bytes of the last block of a prompt that is one text,
// behind a whole block; else 0. A prompt that goes on with it holds the same
// bytes behind that block, but no such block.
func (q *Prompt) Tail() int {
	n := len(q.Blocks)
	if !q.Alone || n < 2 {
		return 0
	}
	return q.cuts[n-1] - q.cuts[n-2]
}

// Behind is the id that a block of so many bytes behind block i would have, of
// the prompt's text; false where that is shorter.
func (q *Prompt) Behind(i, bytes int) (uint64, bool) {
	from := q.cuts[i]
	if from+bytes > q.cuts[len(q.cuts)-1] {
		return 0, false
	}
	return q.of.chained(i, q.of.text[from:from+bytes]), true
}
