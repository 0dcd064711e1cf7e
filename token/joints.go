package token

import (
	"math/bits"
	"slices"
	"unicode/utf8"
)

// joints says between which neighbouring characters of a piece a token may lie.
// Between any others the piece is cut: what a merge makes of one side depends on
// nothing of the other, so that the ids stay those of the whole. It is made from
// the vocabulary itself, and where that does not prove enough there is none.
type joints struct {
	// ascii has for each character those that may be joined to it from behind.
	ascii [utf8.RuneSelf][2]uint64
	// wide has a bit for each hash of a pair that is not all ASCII: a pair of the
	// same bit is taken for joined too, which never harms.
	wide  []uint64
	shift int
	// tokens has the characters that are tokens, by their number: of others, each
	// for itself, something may be left that is told across a cut. nil: nothing is.
	tokens []uint64
}

// newJoints makes joints for n pairs or fewer, not all of them different.
func newJoints(n int) *joints {
	size := min(max(bits.Len(uint(n)), 6), 20) // 128 KiB of bits at the most
	return &joints{wide: make([]uint64, 1<<(size-6)), shift: 64 - size}
}

// bit returns the place of a pair.
func (j *joints) bit(x, y rune) (word *uint64, mask uint64) {
	if x < utf8.RuneSelf && y < utf8.RuneSelf {
		return &j.ascii[x][y>>6], 1 << (y & 63)
	}
	h := (uint64(x)<<32 | uint64(y)) * 0x9E3779B97F4A7C15 >> j.shift
	return &j.wide[h>>6], 1 << (h & 63)
}

// join says that two characters may be in one token.
func (j *joints) join(x, y rune) {
	word, mask := j.bit(x, y)
	*word |= mask
}

// joined tells whether two characters may be in one token.
func (j *joints) joined(x, y rune) bool {
	word, mask := j.bit(x, y)
	return *word&mask != 0 || j.tokens != nil && !(j.isToken(x) && j.isToken(y))
}

func (j *joints) isToken(r rune) bool { return j.tokens[r>>6]>>(r&63)&1 != 0 }

// onlyTokens lets cuts be between tokens of one character alone.
func (j *joints) onlyTokens(v *vocabulary) {
	j.tokens = make([]uint64, (utf8.MaxRune+1)/64)
	for id := range v.size() {
		t := v.token(uint32(id))
		if r, n := utf8.DecodeRune(t); n > 0 && n == len(t) && r != utf8.RuneError {
			j.tokens[r>>6] |= 1 << (r & 63)
		}
	}
}

// cut measures the first part of a text that is not empty.
func (j *joints) cut(s string) int {
	x, at := utf8.DecodeRuneInString(s)
	for at < len(s) {
		y, n := rune(s[at]), 1
		if y >= utf8.RuneSelf {
			y, n = utf8.DecodeRuneInString(s[at:])
		}
		if !j.joined(x, y) {
			break
		}
		x, at = y, at+n
	}
	return at
}

// findJoints finds where pieces can be cut if merges are pairs of tokens. Each
// two neighbours in a token are where some merge joined its two tokens.
func (b *bpe) findJoints(merges []mergeRule) {
	j := newJoints(16 * len(merges))
	for _, m := range merges {
		x, _ := utf8.DecodeLastRune(b.v.token(m.a))
		y, _ := utf8.DecodeRune(b.v.token(m.b))
		j.join(x, y)
	}
	if b.leaves(merges) {
		j.onlyTokens(b.v)
	}
	b.joints = j
}

// leaves tells whether a character that is no token may become something that
// its neighbours matter to: what is unknown joins others, waits for them or is
// left out, and bytes and the unknown token may merge, though their names are not
// the characters that they stand for.
func (b *bpe) leaves(merges []mergeRule) bool {
	other := make([]bool, b.v.size())
	for c, known := range b.known {
		if !known {
			return true
		}
		other[b.single[c]] = true
	}
	if b.hasUnk {
		other[b.unknown] = true
	}
	return slices.ContainsFunc(merges, func(m mergeRule) bool { return other[m.a] || other[m.b] })
}

// findTextJoints finds them if two parts merge where their text is a token.
func (b *bpe) findTextJoints() {
	j := newJoints(16 * b.v.size())
	for id := range b.v.size() {
		t := b.v.token(uint32(id))
		if !utf8.Valid(t) {
			return // it may end within a character
		}
		x, n := utf8.DecodeRune(t)
		for at := n; at < len(t); at += n {
			var y rune
			y, n = utf8.DecodeRune(t[at:])
			j.join(x, y)
			x = y
		}
	}
	if !b.fallback {
		j.onlyTokens(b.v)
	}
	b.joints = j
}
