package report

import (
	"strings"
	"unicode"
)

// Clean returns text that is safe to print on a terminal: whatever a target
// sent, control characters and marks that turn the direction of writing are
// shown as ?. Line ends, tabs and the summary's own colours stay.
func Clean(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == '\x1b' && ownColour(text[i:]):
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func ownColour(s string) bool {
	for _, c := range []string{green, yellow, red, plain} {
		if strings.HasPrefix(s, c) {
			return true
		}
	}
	return false
}
