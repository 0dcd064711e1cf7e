package workload

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tokamak-bench/tokamak/token"
)

// RenderedMessage is a message as text.
type RenderedMessage struct {
	Role   string
	Text   string
	Tokens int64 // of Text alone, as the tokenizer counts
}

// Renderer writes requests as text under one tokenizer: each block as a piece
// of exactly its number of tokens. It is safe for concurrent use.
//
// A block begins with a few random words that follow from its ID, its salt, so
// that blocks of different ID part after a word or two. Then come sentences of
// the corpus, drawn by ID, and at the end single words up to the exact length.
//
// Lengths of sentences are counted once. Whether they add up, as under
// tokenizers that split at words, is tried on the whole corpus in several
// orders, cut and whole. Where they don't each message is counted as a whole
// and its end mended until the length is exact.
type Renderer struct {
	tokenizer token.Tokenizer
	sentences []measured
	fillers   []string // each one token, behind anything in front of it
	salt      int64    // fillers at the front of a block
	additive  bool     // lengths of parts add up
	coarse    bool     // each count is a request to a server: a few hundred, not thousands
	buffers   sync.Pool
}

// measured is a sentence with the number of tokens up to each of its ends.
type measured struct {
	sentence
	tokens []int64
}

func (m *measured) total() int64 { return m.tokens[len(m.tokens)-1] }

// NewRenderer measures a corpus, which takes some milliseconds, or where a
// server counts about 200 requests. It fails where the tokenizer does.
func NewRenderer(t token.Tokenizer, c Corpus) (*Renderer, error) {
	r := &Renderer{tokenizer: t, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	_, r.coarse = t.(*token.Server)
	if err := r.measureFillers(); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	if err := r.measureSentences(c.sentences()); err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return r, nil
}

func (r *Renderer) count(s string) (int64, error) {
	n, err := r.tokenizer.Count(s)
	return int64(n), err
}

// coarseFillers is how many fillers are looked for where a server counts.
const coarseFillers = 48

// measureFillers finds words that are one token each, with a space in front
// and without, or letters where there are none, as with byte tokenizers.
func (r *Renderer) measureFillers() error {
	var bare []string
	for _, w := range words() {
		n, err := r.count(" " + w)
		if err != nil {
			return err
		}
		if n != 1 {
			continue
		}
		if n, err = r.count(w); err != nil {
			return err
		}
		if n == 1 {
			bare = append(bare, " "+w)
		}
		if r.coarse && len(bare) == coarseFillers {
			break
		}
	}
	if len(bare) >= 16 {
		r.fillers, r.salt = bare, 6
		return nil
	}
	r.salt = 12
	for c := 'a'; c <= 'z'; c++ {
		r.fillers = append(r.fillers, string(c))
	}
	return nil
}

// measureSentences counts sentences up to each of their ends.
func (r *Renderer) measureSentences(list []sentence) error {
	for _, s := range list {
		m, err := r.measure(s)
		if err != nil {
			return err
		}
		r.sentences = append(r.sentences, m)
	}
	var err error
	r.additive, err = r.addsUp()
	return err
}

// measure adds up the counts of a sentence's parts, or where they don't add
// up to the whole, counts each of its beginnings.
func (r *Renderer) measure(s sentence) (measured, error) {
	if r.coarse {
		s.ends = s.ends[len(s.ends)-1:]
	}
	m := measured{sentence: s, tokens: make([]int64, len(s.ends))}
	from, total := 0, int64(0)
	for i, end := range s.ends {
		n, err := r.count(s.text[from:end])
		if err != nil {
			return m, err
		}
		total += n
		m.tokens[i], from = total, end
	}
	if r.coarse {
		return m, nil
	}
	whole, err := r.count(s.text)
	if err != nil || whole == total {
		return m, err
	}
	for i, end := range s.ends {
		if m.tokens[i], err = r.count(s.text[:end]); err != nil {
			return m, err
		}
	}
	return m, nil
}

// addsUp tells whether the lengths of parts add up to those of texts made of
// them: of all sentences in order, backwards, and each cut off somewhere with
// a filler behind it.
func (r *Renderer) addsUp() (bool, error) {
	forward, sum := r.fillers[0], int64(1)
	for _, f := range r.fillers {
		forward += f
		sum++
	}
	backward, cut, cutSum := r.fillers[0], r.fillers[0], int64(1)
	for i, m := range r.sentences {
		forward += m.text
		sum += m.total()
		end := i * 7 % len(m.ends)
		cut += m.text[:m.ends[end]] + r.fillers[i%len(r.fillers)]
		cutSum += m.tokens[end] + 1
	}
	for _, m := range slices.Backward(r.sentences) {
		backward += m.text
	}
	for text, want := range map[string]int64{forward: sum, backward: sum - int64(len(r.fillers)), cut: cutSum} {
		n, err := r.count(text)
		if err != nil || n != want {
			return false, err
		}
	}
	return true, nil
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
		list[i] = RenderedMessage{Role: m.Role, Text: text, Tokens: n}
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
	b, want, last := (*buffer)[:0], int64(0), 0
	for _, block := range m.Blocks {
		if block.Tokens < 0 || block.Tokens > maxTokens {
			return "", 0, errors.New("workload: a block has no valid length")
		}
		last = len(b)
		b = r.block(b, block)
		want += block.Tokens
	}
	got := want
	if !r.additive {
		var err error
		if b, got, err = r.mend(b, last, want); err != nil {
			return "", 0, err
		}
	}
	*buffer = b
	return string(b), got, nil
}

// block appends the text of a block.
func (r *Renderer) block(b []byte, block Block) []byte {
	d := draws(block.ID)
	left := block.Tokens
	for range min(left, r.salt) {
		b = r.filler(b, &d)
	}
	left -= min(left, r.salt)
	for left > 0 {
		m := &r.sentences[d.below(len(r.sentences))]
		if m.total() > left {
			b, left = m.part(b, left)
			break
		}
		b = append(b, m.text...)
		left -= m.total()
	}
	for range left {
		b = r.filler(b, &d)
	}
	return b
}

// part appends as much of a sentence as left tokens hold.
func (m *measured) part(b []byte, left int64) ([]byte, int64) {
	for i, v := range slices.Backward(m.ends) {
		if m.tokens[i] <= left {
			return append(b, m.text[:v]...), left - m.tokens[i]
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

// mend counts a message and, where its length is not the one wanted, changes
// its end until it is; nothing before floor is touched. Where a tokenizer
// cannot make the length, it returns the nearest that it came to.
func (r *Renderer) mend(b []byte, floor int, want int64) ([]byte, int64, error) {
	const tries = 24
	d := draws(want)
	for try := 0; ; try++ {
		got, err := r.count(string(b))
		if err != nil || got == want {
			return b, got, err
		}
		switch {
		case try == tries:
			return r.nudge(b, want, got)
		case got < want:
			for range max(1, (want-got)*9/10) {
				b = r.filler(b, &d)
			}
		default:
			b = shorten(b, floor, got-want)
		}
	}
}

// nudge tries small endings.
func (r *Renderer) nudge(b []byte, want, got int64) ([]byte, int64, error) {
	for _, end := range []string{".", " a", "a", "!", "\n", "ab", ".\n", " ab"} {
		n, err := r.count(string(b) + end)
		if err != nil || n == want {
			return append(b, end...), n, err
		}
	}
	return b, got, nil
}

// shorten takes n words, or letters where there are no words, off the end.
func shorten(b []byte, floor int, n int64) []byte {
	for ; n > 0 && len(b) > floor; n-- {
		i := len(b) - 1
		for i > floor && b[i] != ' ' && b[i] != '\n' {
			i--
		}
		if i == floor && len(b)-i > 16 {
			i = len(b) - 1 // one long word: byte by byte
		}
		for i > floor && b[i]&0xc0 == 0x80 {
			i-- // whole characters
		}
		b = b[:i]
	}
	return b
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
