package token

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap replaces beginnings of a text: a double-array trie of what is
// replaced, and the replacements, each ended by a zero byte. It is what
// SentencePiece compiles normalization rules such as NFKC into.
type charsmap struct {
	units []uint32
	texts string
}

// newCharsmap reads a charsmap: the trie's size in bytes, the trie, the texts.
func newCharsmap(b []byte) (*charsmap, error) {
	if len(b) < 4 {
		return nil, errCharsmap
	}
	size := int64(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if size == 0 || size%4 != 0 || size > int64(len(b)) {
		return nil, errCharsmap
	}
	m := &charsmap{units: make([]uint32, size/4), texts: string(b[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return m, nil
}

// prefixes calls found with the length and the replacement of each rule that a
// text begins with, shortest first, until it returns false.
func (m *charsmap) prefixes(s string, found func(n int, to string) bool) {
	if len(m.units) == 0 {
		return
	}
	at := offset(m.units[0])
	for i := range len(s) {
		at ^= uint32(s[i])
		if int64(at) >= int64(len(m.units)) {
			return
		}
		u := m.units[at]
		if u&(1<<31|0xFF) != uint32(s[i]) {
			return
		}
		at ^= offset(u)
		if u>>8&1 == 0 {
			continue
		}
		if int64(at) >= int64(len(m.units)) {
			return
		}
		if !found(i+1, m.text(m.units[at]&(1<<31-1))) {
			return
		}
	}
}

// offset is where a unit's children lie.
func offset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }

// text returns the replacement that begins at a place.
func (m *charsmap) text(at uint32) string {
	if int64(at) >= int64(len(m.texts)) {
		return ""
	}
	s, _, _ := strings.Cut(m.texts[at:], "\x00")
	return s
}

// longest returns the longest rule that a text begins with; n is 0 if there is
// none.
func (m *charsmap) longest(s string) (n int, to string) {
	m.prefixes(s, func(length int, text string) bool {
		n, to = length, text
		return true
	})
	return n, to
}

// shortest returns the shortest rule that a text begins with.
func (m *charsmap) shortest(s string) (to string, ok bool) {
	m.prefixes(s, func(_ int, text string) bool {
		to, ok = text, true
		return false
	})
	return to, ok
}

// graphemes normalizes as the Precompiled normalizer of a tokenizer.json does:
// a grapheme cluster of less than six bytes becomes what the shortest rule that
// it begins with says; otherwise each of its characters does so by itself.
func (m *charsmap) graphemes(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	state := -1
	for s != "" {
		var g string
		g, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		if len(g) < 6 {
			if to, ok := m.shortest(g); ok {
				b.WriteString(to)
				continue
			}
		}
		for g != "" {
			_, n := utf8.DecodeRuneInString(g)
			if to, ok := m.shortest(g[:n]); ok {
				b.WriteString(to)
			} else {
				b.WriteString(g[:n])
			}
			g = g[n:]
		}
	}
	return b.String()
}

var errCharsmap = errors.New("a damaged charsmap")
