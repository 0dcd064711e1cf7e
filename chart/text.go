package chart

import "strings"

// Wrap breaks words into lines of at most so many columns; a longer word
// stands alone.
func Wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) > columns:
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

// Clip cuts a text to so many columns, with … (or . in plain ASCII) for what
// is lost.
func Clip(s string, most int) string {
	if Columns(s) <= most {
		return s
	}
	n := 0
	for i, r := range s {
		n += columns(r)
		if n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
