package token

import (
	_ "embed"
	"unicode/utf8"
)

// class is what the patterns of tokenizers tell apart: classes of Unicode
// 15.0.0, those of characters assigned later are [other].
type class uint8

const (
	other    class = iota // controls, formats, what is not assigned, bytes that are no UTF-8
	punct                 // \p{P} and \p{S}
	mark                  // \p{M}
	upper                 // \p{Lu} and \p{Lt}
	lower                 // \p{Ll}
	caseless              // \p{Lm} and \p{Lo}
	digit                 // any number: \p{N}
	space                 // white space but for
	newline               // CR and LF
)

// classSet is a set of classes.
type classSet uint16

const (
	letters classSet = 1<<upper | 1<<lower | 1<<caseless
	words   classSet = letters | 1<<mark
	// Upper and lower halves of a word, in the patterns that tell them apart.
	upperHalf classSet = 1<<upper | 1<<caseless | 1<<mark
	lowerHalf classSet = 1<<lower | 1<<caseless | 1<<mark
	digits    classSet = 1 << digit
	symbols   classSet = 1 << punct
	others    classSet = 1<<other | 1<<punct | 1<<mark // no letter, no digit, no white space
	blanks    classSet = 1<<space | 1<<newline
)

func (s classSet) has(c class) bool { return s>>c&1 != 0 }

// classes holds the class of every character: for each 256 of them the number
// of a block, then the blocks; written by gen.go.
//
//go:embed classes.bin
var classes string

const classBlocks = (utf8.MaxRune + 1) / 256

// classOf returns the class and the length of the first character. Bytes that
// are no UTF-8 are others, one by one.
func classOf(s string) (class, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return class(classes[classBlocks+int(c)]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return other, 1
	}
	return class(classes[classBlocks+int(classes[r>>8])<<8+int(r&0xFF)]), n
}

// run returns the length of the characters of a set that s begins with.
func run(s string, of classSet) int {
	i := 0
	for i < len(s) {
		c, n := classOf(s[i:])
		if !of.has(c) {
			break
		}
		i += n
	}
	return i
}

// runOf is [run] for at most limit characters.
func runOf(s string, of classSet, limit int) int {
	i := 0
	for ; limit > 0 && i < len(s); limit-- {
		c, n := classOf(s[i:])
		if !of.has(c) {
			break
		}
		i += n
	}
	return i
}
