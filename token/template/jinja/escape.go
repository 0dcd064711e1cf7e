package jinja

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unquote is the value of a string's inside with Python's escapes; a backslash
// before anything else stays.
func unquote(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, ok := unescape(&b, s[i+1:])
		if !ok {
			return "", false
		}
		i += 1 + n
	}
	return b.String(), true
}

// unescape writes what an escape means, whose length without the backslash it
// returns.
func unescape(b *strings.Builder, s string) (int, bool) {
	simple := map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}
	if text, ok := simple[s[0]]; ok {
		b.WriteString(text)
		return 1, true
	}
	if '0' <= s[0] && s[0] <= '7' {
		n := 1
		for n < 3 && n < len(s) && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[:n], 8, 16) // three octal digits
		b.WriteRune(rune(v))
		return n, true
	}
	length := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if length == 0 {
		if s[0] == 'N' {
			return 0, false // names of characters are not known here
		}
		b.WriteByte('\\')
		return 0, true
	}
	if len(s) < 1+length {
		return 0, false
	}
	v, err := strconv.ParseUint(s[1:1+length], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, false
	}
	b.WriteRune(rune(v)) // half a pair becomes U+FFFD: there is no such text
	return 1 + length, true
}
