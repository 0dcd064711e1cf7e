package token

import (
	"unicode"
	"unicode/utf8"
)

// class is what the patterns of tokenizers tell apart.
type class uint8

const (
	other class = iota
	letter
	digit // any number: \p{N}
	space
	newline // CR and LF
)

// classOf returns the class and the length of the first character. Bytes that
// are no UTF-8 are others, one by one.
func classOf(s string) (class, int) {
	c := s[0]
	if c < utf8.RuneSelf {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			return letter, 1
		case c == ' ', c == '\t', c == '\v', c == '\f':
			return space, 1
		case '0' <= c && c <= '9':
			return digit, 1
		case c == '\n', c == '\r':
			return newline, 1
		}
		return other, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return other, 1
	case unicode.IsLetter(r):
		return letter, n
	case unicode.IsNumber(r):
		return digit, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// run returns the length of the characters of one class that s begins with, at
// most limit of them.
func run(s string, of class, limit int) int {
	i := 0
	for ; limit > 0 && i < len(s); limit-- {
		c, n := classOf(s[i:])
		if c != of {
			break
		}
		i += n
	}
	return i
}

const unlimited = int(^uint(0) >> 1)

// cl100kPiece returns the length of the first piece of s under
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// the pattern of cl100k_base and Llama 3 (3 digits) and of Qwen 2 (1 digit).
func cl100kPiece(s string, digits int) int {
	if s[0] == '\'' {
		if n := contraction(s, true); n > 0 {
			return n
		}
	}
	c, n := classOf(s)
	switch c {
	case letter:
		return n + run(s[n:], letter, unlimited)
	case digit:
		return run(s, digit, digits)
	}
	if c != newline {
		if l := run(s[n:], letter, unlimited); l > 0 {
			return n + l
		}
	}
	if e := others(s); e > 0 {
		for e < len(s) && (s[e] == '\r' || s[e] == '\n') {
			e++
		}
		return e
	}
	return spaces(s, true)
}

// gpt2Piece returns the length of the first piece of s under GPT-2's pattern
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Piece(s string) int {
	if s[0] == '\'' {
		if n := contraction(s, false); n > 0 {
			return n
		}
	}
	lead := 0
	if s[0] == ' ' && len(s) > 1 {
		lead = 1
	}
	if c, _ := classOf(s[lead:]); c == letter || c == digit {
		return lead + run(s[lead:], c, unlimited)
	}
	if e := others(s); e > 0 {
		return e
	}
	return spaces(s, false)
}

// others matches ` ?[^\s\p{L}\p{N}]+`; 0 if it does not.
func others(s string) int {
	lead := 0
	if s[0] == ' ' {
		lead = 1
	}
	if n := run(s[lead:], other, unlimited); n > 0 {
		return lead + n
	}
	return 0
}

// spaces matches white space: where lines count, up to its last line end; else
// all but the last character if something follows that is none.
func spaces(s string, lines bool) int {
	end, last, afterLine := 0, 0, 0
	for end < len(s) {
		c, n := classOf(s[end:])
		if c != space && c != newline {
			break
		}
		last = end
		end += n
		if c == newline {
			afterLine = end
		}
	}
	switch {
	case lines && afterLine > 0:
		return afterLine
	case end < len(s) && last > 0:
		return last
	}
	return end
}

// contraction matches 's, 't, 're, 've, 'm, 'll, 'd at an apostrophe; where case
// does not count, the long s is an s.
func contraction(s string, fold bool) int {
	at := func(i int) (byte, int) {
		if i >= len(s) {
			return 0, 0
		}
		c := s[i]
		if fold && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A', 1
		}
		if fold && c == 0xC5 && i+1 < len(s) && s[i+1] == 0xBF {
			return 's', 2
		}
		return c, 1
	}
	a, n := at(1)
	switch a {
	case 's', 't', 'm', 'd':
		return 1 + n
	}
	b, m := at(1 + n)
	switch string([]byte{a, b}) {
	case "re", "ve", "ll":
		return 1 + n + m
	}
	return 0
}
