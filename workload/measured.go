package workload

import (
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// measured is a piece with its number of tokens.
type measured struct {
	corpus.Piece
	total int64
	// upTo are the tokens up to each end; nil until the piece is cut for the
	// first time.
	upTo atomic.Pointer[[]int64]
}

const (
	// coarseFillers is how many fillers are looked for where a server counts,
	coarseFillers = 48
	// coarsePieces how many pieces of a corpus with a joint are used there,
	coarsePieces = 40
	// coarseEnds and at how many places each may be cut.
	coarseEnds = 3
)

// measureFillers finds words that are one token each, with a space in front
// and without, or letters where there are none, as with byte tokenizers.
func (r *Renderer) measureFillers() error {
	context, err := r.spaceContext()
	if err != nil {
		return err
	}
	var bare []string
	for _, w := range corpus.Words() {
		n, err := r.count(context + " " + w)
		if err != nil {
			return err
		}
		if context != "" {
			n--
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

// spaceContext is what a word with a space in front has to stand behind to be
// one token: nothing, or a word under tokenizers that put a space of their own
// in front of a text (SentencePiece).
func (r *Renderer) spaceContext() (string, error) {
	const word = "the"
	for _, context := range []string{"", word} {
		n, err := r.count(context + " " + word)
		if err != nil {
			return "", err
		}
		if n == int64(1+len(context)/len(word)) {
			return context, nil
		}
	}
	return "", nil
}

// first is a filler as it begins a message.
func (r *Renderer) first() string { return strings.TrimPrefix(r.fillers[0], " ") }

// measurePieces counts the pieces of the corpus.
func (r *Renderer) measurePieces() error {
	list := r.corpus.Pieces
	if r.corpus.Joint != "" {
		if r.coarse {
			list = thinned(list)
		}
		return r.measureBehindJoint(list)
	}
	r.pieces = make([]measured, len(list))
	for i, p := range list {
		m := &r.pieces[i]
		m.Piece = p
		tokens, err := r.measure(m)
		if err != nil {
			return err
		}
		m.upTo.Store(&tokens)
		m.total = tokens[len(tokens)-1]
	}
	return nil
}

// thinned keeps some of the pieces, and some of their ends.
func thinned(list []corpus.Piece) []corpus.Piece {
	var out []corpus.Piece
	for _, p := range list[:min(len(list), coarsePieces)] {
		var ends []int
		for i := 1; i < coarseEnds; i++ {
			ends = append(ends, p.Ends[(len(p.Ends)-1)*i/coarseEnds])
		}
		p.Ends = slices.Compact(append(ends, len(p.Text)))
		out = append(out, p)
	}
	return out
}

// measureBehindJoint counts pieces where they stand: between newlines.
func (r *Renderer) measureBehindJoint(list []corpus.Piece) error {
	before, err := r.count(r.first())
	if err != nil {
		return err
	}
	around, err := r.count(r.first() + r.corpus.Joint + r.first())
	if err != nil {
		return err
	}
	behind, err := r.count(r.first() + r.corpus.Joint)
	if err != nil {
		return err
	}
	r.joint = behind - before
	r.pieces = make([]measured, len(list))
	for i, p := range list {
		n, err := r.count(r.first() + r.corpus.Joint + p.Text + r.first())
		if err != nil {
			return err
		}
		r.pieces[i].Piece, r.pieces[i].total = p, n-around
	}
	return nil
}

// upTo returns the tokens of a piece up to each of its ends.
func (r *Renderer) upTo(m *measured) ([]int64, error) {
	if p := m.upTo.Load(); p != nil {
		return *p, nil
	}
	tokens, err := r.measureEnds(m)
	if err != nil {
		return nil, err
	}
	m.upTo.Store(&tokens)
	return tokens, nil
}

// measureEnds adds up a piece's parts, each counted behind what is in front of
// it; where they don't add up to the whole, it counts each beginning.
func (r *Renderer) measureEnds(m *measured) ([]int64, error) {
	tokens := make([]int64, len(m.Ends))
	front := r.first() + r.corpus.Joint
	text := front + m.Text
	from, sum := len(front), int64(0)
	for i, end := range m.Ends {
		before := tail(text[:from])
		n, err := r.count(before + text[from:len(front)+end])
		if err != nil {
			return nil, err
		}
		b, err := r.count(before)
		if err != nil {
			return nil, err
		}
		sum += n - b
		tokens[i], from = sum, len(front)+end
	}
	if sum == m.total {
		return tokens, nil
	}
	base, err := r.count(front)
	if err != nil {
		return nil, err
	}
	for i, end := range m.Ends[:len(m.Ends)-1] {
		if tokens[i], err = r.count(text[:len(front)+end]); err != nil {
			return nil, err
		}
		tokens[i] -= base
	}
	tokens[len(tokens)-1] = m.total
	return tokens, nil
}

// tail is the last few characters of a text.
func tail(s string) string {
	i := max(0, len(s)-8)
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// measure adds up the counts of a piece's parts, or where they don't add up to
// the whole, counts each of its beginnings.
func (r *Renderer) measure(m *measured) ([]int64, error) {
	if r.coarse {
		m.Ends = m.Ends[len(m.Ends)-1:]
	}
	tokens := make([]int64, len(m.Ends))
	from, total := 0, int64(0)
	for i, end := range m.Ends {
		n, err := r.count(m.Text[from:end])
		if err != nil {
			return nil, err
		}
		total += n
		tokens[i], from = total, end
	}
	if r.coarse {
		return tokens, nil
	}
	whole, err := r.count(m.Text)
	if err != nil || whole == total {
		return tokens, err
	}
	for i, end := range m.Ends {
		if tokens[i], err = r.count(m.Text[:end]); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}
