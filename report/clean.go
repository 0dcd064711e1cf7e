package report

import (
	"strings"
	"unicode"
)

// Clean returns text that is safe to print on a terminal: whatever a target
// sent, control characters and marks that turn the direction of writing are
// shown as ?. Line ends and tabs stay.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, text)
}

// Line is Clean for text that is part of a line: line ends and tabs become
// spaces, so that a name cannot write a line of its own.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, text)
}

func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return '?'
	}
	return r
}
