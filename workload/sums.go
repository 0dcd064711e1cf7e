package workload

import (
	"slices"
	"strings"
)

// trySums finds out the lengths of what add up.
func (r *Renderer) trySums() error {
	additive, err := r.addsUp()
	if err != nil {
		return err
	}
	if !additive && r.corpus.Joint == "" && !r.coarse {
		if err := r.measureBehindWord(); err != nil {
			return err
		}
		if additive, err = r.addsUp(); err != nil {
			return err
		}
		if !additive {
			if err := r.measurePieces(); err != nil {
				return err
			}
		}
	}
	if additive {
		r.sums = ofPieces
		return nil
	}
	if r.coarse {
		return nil
	}
	return r.tryBlocks()
}

// measureBehindWord counts pieces again, between words.
func (r *Renderer) measureBehindWord() error {
	for i := range r.pieces {
		m := &r.pieces[i]
		n, err := r.count(r.first() + m.Text)
		if err != nil {
			return err
		}
		f, err := r.count(r.first())
		if err != nil {
			return err
		}
		m.total = n - f
		tokens, err := r.measureEnds(m)
		if err != nil {
			return err
		}
		m.upTo.Store(&tokens)
	}
	return nil
}

// addsUp tells whether the lengths of parts add up to those of texts made of
// them: of all pieces in order, backwards, and each cut off somewhere with
// words behind it.
func (r *Renderer) addsUp() (bool, error) {
	var forward, backward, cut strings.Builder
	forwardSum, backwardSum, cutSum := int64(1), int64(1)+r.joint, int64(1)
	forward.WriteString(r.first())
	backward.WriteString(r.first() + r.corpus.Joint)
	cut.WriteString(r.first())
	for _, f := range r.fillers {
		forward.WriteString(f)
		forwardSum++
	}
	forward.WriteString(r.corpus.Joint)
	forwardSum += r.joint
	for i := range r.pieces {
		m := &r.pieces[i]
		forward.WriteString(m.Text)
		forwardSum += m.total
		if r.corpus.Joint != "" && i%8 > 0 {
			continue // enough of them, and cutting is dear
		}
		upTo, err := r.upTo(m)
		if err != nil {
			return false, err
		}
		end := i * 7 % len(m.Ends)
		cut.WriteString(r.corpus.Joint + m.Text[:m.Ends[end]] + r.fillers[i%len(r.fillers)])
		cutSum += r.joint + upTo[end] + 1
	}
	for i := range slices.Backward(r.pieces) {
		backward.WriteString(r.pieces[i].Text)
		backwardSum += r.pieces[i].total
		if backward.Len() > 1<<16 {
			break
		}
	}
	for _, t := range []struct {
		text string
		want int64
	}{{forward.String(), forwardSum}, {backward.String(), backwardSum}, {cut.String(), cutSum}} {
		n, err := r.count(t.text)
		if err != nil || n != t.want {
			return false, err
		}
	}
	return true, nil
}

// tryBlocks tells whether blocks that are each mended add up.
func (r *Renderer) tryBlocks() error {
	r.sums = ofBlocks
	var b []byte
	want := int64(0)
	for i := range uint64(24) {
		block := Block{ID: i * 0x9e3779b97f4a7c15, Tokens: int64(30 + i*11)}
		from := len(b)
		text, err := r.block(b, block)
		if err != nil {
			return err
		}
		var got int64
		if b, got, err = r.mend(text, from, block.Tokens, block.ID); err != nil {
			return err
		}
		want += block.Tokens
		if got != block.Tokens {
			r.sums = ofNothing
			return nil
		}
	}
	n, err := r.count(string(b))
	if err == nil && n != want {
		r.sums = ofNothing
	}
	return err
}

// mend counts a block, which begins at from, and where its length is not the
// one wanted, changes its end until it is. Where a tokenizer cannot make the
// length, it returns the nearest that it came to.
func (r *Renderer) mend(b []byte, from int, want int64, id uint64) ([]byte, int64, error) {
	before := ""
	if from > 0 {
		before = r.first()
	}
	base, err := r.count(before)
	if err != nil {
		return b, 0, err
	}
	return r.mended(b, from, want, draws(id^uint64(want)), func(b []byte) (int64, error) {
		n, err := r.count(before + string(b[from:]))
		return n - base, err
	})
}

// mendWhole is mend of a whole message; nothing before floor is touched.
func (r *Renderer) mendWhole(b []byte, floor int, want int64) ([]byte, int64, error) {
	return r.mended(b, floor, want, draws(want), func(b []byte) (int64, error) { return r.count(string(b)) })
}

func (r *Renderer) mended(b []byte, floor int, want int64, d draws, count func([]byte) (int64, error)) ([]byte, int64, error) {
	const tries = 24
	for try := 0; ; try++ {
		got, err := count(b)
		if err != nil || got == want {
			return b, got, err
		}
		switch {
		case try == tries:
			return nudge(b, want, got, count)
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
func nudge(b []byte, want, got int64, count func([]byte) (int64, error)) ([]byte, int64, error) {
	for _, end := range []string{".", " a", "a", "!", "\n", "ab", ".\n", " ab"} {
		longer := append(b, end...)
		n, err := count(longer)
		if err != nil || n == want {
			return longer, n, err
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
