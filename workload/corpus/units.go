package corpus

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

const (
	// longestUnit is from how many bytes on a word counts as none of a
	// language: a key, an address, an encoded blob.
	longestUnit = 32
	// mostDigits is how many digits a unit holds at most: longer numbers are
	// somebody's.
	mostDigits = 4
)

// units cuts a text into what a Markov model chains: words with the space in
// front of them, single ideographs and marks, line breaks. An empty unit is a
// gap: something that is never learnt stood there.
func units(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			unit, n := nextUnit(text)
			text = text[n:]
			if unit != " " && !yield(unit) {
				return
			}
		}
	}
}

// nextUnit returns the unit at the front of a text and how many bytes it
// takes; a lone space is none.
func nextUnit(text string) (unit string, n int) {
	breaks := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\n' || text[n] == '\t' || text[n] == '\r') {
		if text[n] == '\n' {
			breaks++
		}
		n++
	}
	switch {
	case breaks == 1:
		return "\n", n
	case breaks > 1:
		return "\n\n", n
	}
	space := ""
	if n > 0 {
		space = " "
	}
	if n == len(text) {
		return " ", n
	}
	from := n
	r, size := utf8.DecodeRuneInString(text[n:])
	n += size
	if r == utf8.RuneError && size == 1 || unicode.IsControl(r) {
		return "", n
	}
	if !inWord(r) {
		return space + text[from:n], n
	}
	digits := 0
	for n = from; n < len(text); n += size {
		if r, size = utf8.DecodeRuneInString(text[n:]); !inWord(r) {
			break
		}
		if unicode.IsDigit(r) {
			digits++
		}
	}
	if n-from > longestUnit || digits > mostDigits {
		return "", n
	}
	return space + text[from:n], n
}

// inWord tells the characters that runs of make one unit.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !ideograph(r)
}

func ideograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
