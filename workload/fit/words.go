package fit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// shortDuration writes seconds as people do: 40 min, not 2400s.
func shortDuration(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s < 120:
		return fmt.Sprintf("%.3g s", s)
	case s < 2*3600:
		return fmt.Sprintf("%.3g min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%.3g h", s/3600)
	}
	return fmt.Sprintf("%.3g days", s/(24*time.Hour).Seconds())
}

// grouped writes a whole number with commas.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// wrapped breaks a sentence into lines of at most width, the later ones set in.
func wrapped(s string, indent, width int) string {
	var b strings.Builder
	column := indent
	b.WriteString(strings.Repeat(" ", indent))
	for i, word := range strings.Fields(s) {
		if n := utf8.RuneCountInString(word); i > 0 && column+1+n > width {
			b.WriteString("\n" + strings.Repeat(" ", indent+2))
			column = indent + 2
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += utf8.RuneCountInString(word)
	}
	b.WriteByte('\n')
	return b.String()
}
