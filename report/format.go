package report

import (
	"strings"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/measure"
)

func figure(v measure.Value, unit string) string { return Line(measure.Figure(v, unit)) }

func share(part, whole int) string { return measure.Share(part, whole) }

func count(n int) string { return measure.Count(n) }

// clip cuts a text to so many columns.
func clip(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(width-1, 0)]) + "…"
}

// visible returns how many columns a text takes.
func visible(s string) int { return utf8.RuneCountInString(s) }

// wrap breaks words into lines of at most width columns; a longer word stands
// alone.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case visible(line)+1+visible(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
