package token

import (
	"strings"
	"unicode/utf8"
)

// spmNormalizer writes a text as a SentencePiece model wants it: rules of the
// charsmap applied, spaces trimmed and joined, written as the space mark, and
// one put in front.
type spmNormalizer struct {
	*modelProto
	rules *charsmap // nil: none
}

// prefix returns what the beginning of a text becomes, and how much of the text
// that is: a user-defined piece itself, what the longest rule says, a character
// itself, or U+FFFD for a byte that is no UTF-8.
func (z *spmNormalizer) prefix(s string) (to string, n int) {
	if z.userDefined != nil {
		if n, _ := z.userDefined.longest(s); n > 0 {
			return s[:n], n
		}
	}
	if z.rules != nil {
		if n, to := z.rules.longest(s); n > 0 {
			return to, n
		}
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n <= 1 {
		return "\uFFFD", 1
	}
	return s[:n], n
}

func (z *spmNormalizer) normalize(s string) string {
	mark := " "
	if z.escapeSpaces {
		mark = spaceMark
	}
	for z.removeSpaces && s != "" {
		to, n := z.prefix(s)
		if to != " " {
			break
		}
		s = s[n:]
	}
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	if !z.suffix && z.dummyPrefix {
		b.WriteString(mark)
	}
	after := z.removeSpaces // a space was written last
	for s != "" {
		to, n := z.prefix(s)
		s = s[n:]
		for after && strings.HasPrefix(to, " ") {
			to = to[1:]
		}
		if to != "" {
			if strings.IndexByte(to, ' ') < 0 {
				b.WriteString(to)
			} else {
				b.WriteString(strings.ReplaceAll(to, " ", mark))
			}
			after = z.removeSpaces && strings.HasSuffix(to, " ")
		}
	}
	out := b.String()
	for z.removeSpaces && strings.HasSuffix(out, mark) {
		out = out[:len(out)-len(mark)]
	}
	if z.suffix && z.dummyPrefix {
		out += mark
	}
	return out
}
