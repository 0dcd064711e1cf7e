package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// none stands for a figure that is missing.
const none = "-"

// figure writes a value in its unit with three significant digits: durations
// take the unit that reads best.
func figure(v measure.Value, unit string) string {
	x, ok := v.Get()
	switch {
	case !ok:
		return none
	case math.IsInf(x, 0):
		return v.String()
	case unit == "ms":
		return milliseconds(x)
	case unit == "%":
		return digits(x) + "%"
	case unit == "":
		return digits(x)
	}
	return digits(x) + " " + unit
}

func milliseconds(ms float64) string {
	switch abs := math.Abs(ms); {
	case abs >= 999.5:
		return digits(ms/1000) + " s"
	case abs < 0.9995 && abs > 0:
		return digits(ms*1000) + " µs"
	}
	return digits(ms) + " ms"
}

// digits writes three significant digits, and all of those before the point.
func digits(x float64) string {
	abs := math.Abs(x)
	switch {
	case x == 0:
		return "0"
	case abs >= 99.95:
		return thousands(strconv.FormatFloat(x, 'f', 0, 64))
	case abs >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case abs >= 0.0995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// thousands sets commas into a whole number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

func count[N int | int64](n N) string { return thousands(strconv.FormatInt(int64(n), 10)) }

// share writes part of whole as a percentage that never rounds to 0% or 100%
// what is not.
func share(part, whole int) string {
	if whole == 0 {
		return none
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && p < 0.01:
		return "<0.01%"
	case part < whole && p > 99.99:
		return ">99.99%"
	}
	s := strconv.FormatFloat(p, 'f', 2, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + "%"
}

// visible returns how many columns a text takes, colours left out.
func visible(s string) int {
	n, hidden := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			hidden = true
		case hidden:
			hidden = r != 'm'
		default:
			n++
		}
	}
	return n
}

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
