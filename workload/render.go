package workload

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/corpus"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// RenderedMessage is a message as text.
type RenderedMessage struct {
	Role   string
	Text   string
	Tokens int64 // of Text alone, as the tokenizer counts
	Media  []media.File
}

// Renderer writes requests as text under one tokenizer: each block as a piece
// of exactly its number of tokens. It is safe for concurrent use.
//
// A block begins with a few random words that follow from its ID, its salt, so
// that blocks of different ID part after a word or two. Then come pieces of
// the corpus, drawn by ID, and at the end single words up to the exact length.
// A block's text follows from its ID and length alone, but for the space that
// the first of a message does not begin with; and since each begins with a
// word behind a space, no tokenizer merges one into what is in front of it.
//
// Lengths of pieces are counted once. Whether they add up, as under tokenizers
// that split at words, is tried on the corpus in several orders, cut and
// whole. Where they don't, each block is counted and its end mended until its
// length is exact; where not even blocks add up, each message is.
type Renderer struct {
	tokenizer token.Tokenizer
	corpus    *corpus.Corpus
	pieces    []measured
	fillers   []string // each one token, behind anything in front of it
	salt      int64    // fillers at the front of a block
	joint     int64    // tokens of the corpus's joint behind a filler
	sums      sums
	coarse    bool // each count is a request to a server: a few hundred, not thousands
	buffers   sync.Pool
	tools     sync.Map // of toolList by media.Tools
}

// sums says the lengths of what add up.
type sums uint8

const (
	ofNothing sums = iota // messages are counted and mended
	ofBlocks              // blocks are counted and mended, and the message again where they don't add up after all
	ofPieces              // nothing is counted
)

// NewRenderer measures a corpus, which takes some milliseconds, or where a
// server counts about 200 requests. It fails where the tokenizer does.
func NewRenderer(t token.Tokenizer, c *corpus.Corpus) (*Renderer, error) {
	r := &Renderer{tokenizer: t, corpus: c, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	_, r.coarse = t.(*token.Server)
	for _, step := range []func() error{r.measureFillers, r.measurePieces, r.trySums} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("corpus: %w", err)
		}
	}
	return r, nil
}

func (r *Renderer) count(s string) (int64, error) {
	n, err := r.tokenizer.Count(s)
	return int64(n), err
}

// Render returns the messages of a request as text, and the tokens of all of
// them together: the sum over messages, without what a chat template adds. It
// fails only where the tokenizer does. A request with a Body has no messages.
func (r *Renderer) Render(q *Request) ([]RenderedMessage, int64, error) {
	list := make([]RenderedMessage, len(q.Messages))
	total := int64(0)
	for i := range q.Messages {
		m := &q.Messages[i]
		text, n, err := r.message(m)
		if err != nil {
			return nil, 0, err
		}
		files, err := m.files()
		if err != nil {
			return nil, 0, err
		}
		list[i] = RenderedMessage{Role: m.Role, Text: text, Tokens: n, Media: files}
		total += n
	}
	return list, total, nil
}

func (r *Renderer) message(m *Message) (string, int64, error) {
	if len(m.Blocks) == 0 || m.Text != "" {
		n, err := r.count(m.Text)
		return m.Text, n, err
	}
	buffer := r.buffers.Get().(*[]byte)
	defer r.buffers.Put(buffer)
	b, got, err := r.blocks((*buffer)[:0], m.Blocks)
	*buffer = b
	return string(b), got, err
}

// blocks appends the text of blocks and returns its length in tokens.
func (r *Renderer) blocks(b []byte, list []Block) ([]byte, int64, error) {
	want, last := int64(0), 0
	for _, block := range list {
		if block.Tokens < 0 || block.Tokens > MaxTokens {
			return b, 0, errors.New("workload: a block has no valid length")
		}
		last = len(b)
		var err error
		if b, err = r.block(b, block); err != nil {
			return b, 0, err
		}
		want += block.Tokens
		if r.sums == ofBlocks {
			if b, _, err = r.mend(b, last, block.Tokens, block.ID); err != nil {
				return b, 0, err
			}
		}
	}
	if r.sums == ofPieces {
		return b, want, nil
	}
	return r.mendWhole(b, last, want)
}

// block appends the text of a block, of its length as far as lengths add up.
func (r *Renderer) block(b []byte, block Block) ([]byte, error) {
	d := draws(block.ID)
	left := block.Tokens
	for range min(left, r.salt) {
		b = r.filler(b, &d)
	}
	left -= min(left, r.salt)
	if left > r.joint {
		var err error
		if b, left, err = r.text(append(b, r.corpus.Joint...), left-r.joint, &d); err != nil {
			return b, err
		}
	}
	for range left {
		b = r.filler(b, &d)
	}
	return b, nil
}

// text appends pieces of the corpus of at most left tokens and returns how
// many are left.
func (r *Renderer) text(b []byte, left int64, d *draws) ([]byte, int64, error) {
	at, run := 0, 0
	for left > 0 {
		if run == 0 {
			at, run = d.below(len(r.pieces)), r.corpus.Run
		}
		m := &r.pieces[at]
		if m.total > left {
			upTo, err := r.upTo(m)
			if err != nil {
				return b, left, err
			}
			b, left = m.part(b, upTo, left)
			break
		}
		b = append(b, m.Text...)
		left -= m.total
		at, run = (at+1)%len(r.pieces), run-1
	}
	return b, left, nil
}

// part appends as much of a piece as left tokens hold.
func (m *measured) part(b []byte, upTo []int64, left int64) ([]byte, int64) {
	for i, v := range slices.Backward(m.Ends) {
		if upTo[i] <= left {
			return append(b, m.Text[:v]...), left - upTo[i]
		}
	}
	return b, left
}

// filler appends one word, without its space at the beginning of a message.
func (r *Renderer) filler(b []byte, d *draws) []byte {
	f := r.fillers[d.below(len(r.fillers))]
	if len(b) == 0 && f[0] == ' ' {
		f = f[1:]
	}
	return append(b, f...)
}

// draws is a small generator: SplitMix64 from a block's ID.
type draws uint64

func (d *draws) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int(((x ^ x>>31) >> 32) * uint64(n) >> 32)
}
