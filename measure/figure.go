package measure

import (
	"math"
	"strconv"
	"strings"
)

// Figure writes a value for people, in its unit with three significant digits;
// durations take the unit that reads best. A missing value is "-".
func Figure(v Value, unit string) string {
	x, ok := v.Get()
	switch {
	case !ok || math.IsInf(x, 0):
		return v.String()
	case unit == "ms":
		return milliseconds(x)
	case unit == "%":
		return Percent(x)
	case unit == "":
		return Digits(x)
	}
	return Digits(x) + " " + unit
}

func milliseconds(ms float64) string {
	switch abs := math.Abs(ms); {
	case abs >= 999.5:
		return Digits(ms/1000) + " s"
	case abs < 0.9995 && abs > 0:
		return Digits(ms*1000) + " µs"
	}
	return Digits(ms) + " ms"
}

// Digits writes three significant digits, two of what is below 0.1, and all of
// those before the point with commas; never an exponent.
func Digits(x float64) string {
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
	case abs < 1e-6 && x > 0:
		return "<0.000001"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		rounded = x // cannot be: it was just written
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Percent writes a percentage with at most three significant digits and never
// an exponent. It never says 0% or 100% of what is not.
func Percent(x float64) string {
	switch {
	case x > 0 && x < 0.001:
		return "<0.001%"
	case x < 100 && x >= 99.95:
		return ">99.9%"
	}
	s := Digits(x)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + "%"
}

// Share writes part of whole as a percentage; "-" of nothing.
func Share(part, whole int) string {
	if whole == 0 {
		return Value{}.String()
	}
	return Percent(100 * float64(part) / float64(whole))
}

// Count writes a whole number with commas.
func Count[N int | int64](n N) string { return thousands(strconv.FormatInt(int64(n), 10)) }

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
