package openai

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of what a server sends.
const maxDepth = 256

// scanner walks JSON text in place. It accepts exactly what the standard says
// (but for the depth), allocates nothing, and after an error (bad) moves no
// further: loops over it end by themselves.
type scanner struct {
	b     []byte
	p     int
	depth int
	bad   bool
}

func (s *scanner) fail() {
	s.bad = true
	s.p = len(s.b)
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.p < len(s.b) {
		switch c := s.b[s.p]; c {
		case ' ', '\t', '\n', '\r':
			s.p++
		default:
			return c
		}
	}
	return 0
}

// end tells whether the text was one good value and nothing else.
func (s *scanner) end() bool { return s.peek() == 0 && s.p == len(s.b) && !s.bad }

// open enters an object or array; what it returns is the state of the loop
// over its members by key or item.
func (s *scanner) open(c byte) (first bool) {
	if s.peek() != c || s.depth == maxDepth {
		s.fail()
		return false
	}
	s.depth++
	s.p++
	return true
}

// key moves to the value of the next member and returns its name, or false at
// the end of the object.
func (s *scanner) key(first *bool) (name []byte, ok bool) {
	if !s.next(first, '}') {
		return nil, false
	}
	name, escaped := s.text()
	if escaped {
		var u surrogates
		name = u.flush(unescape(nil, name, &u))
	}
	if s.peek() != ':' {
		s.fail()
		return nil, false
	}
	s.p++
	return name, true
}

// item moves to the next element, or returns false at the end of the array.
func (s *scanner) item(first *bool) bool { return s.next(first, ']') }

func (s *scanner) next(first *bool, closing byte) bool {
	c := s.peek()
	switch {
	case s.bad:
		return false
	case *first && c != closing:
		*first = false
		return true
	case c == closing:
		s.p++
		s.depth--
		return false
	case c != ',':
		s.fail()
		return false
	}
	s.p++
	if s.peek() == closing {
		s.fail()
		return false
	}
	return true
}

// text returns the raw inside of a string and whether it holds escapes.
func (s *scanner) text() (raw []byte, escaped bool) {
	if s.peek() != '"' {
		s.fail()
		return nil, false
	}
	b, start := s.b, s.p+1
	for i := start; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			s.p = i + 1
			return b[start:i], escaped
		case c == '\\':
			escaped = true
			i++
			if i == len(b) || !goodEscape(b[i:]) {
				s.fail()
				return nil, false
			}
		case c < ' ':
			s.fail()
			return nil, false
		}
	}
	s.fail()
	return nil, false
}

func goodEscape(b []byte) bool {
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		return len(b) >= 5 && hex4(b[1:5]) >= 0
	}
	return false
}

// hex4 reads four hexadecimal digits, -1 if they are none.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// skip passes any value.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '"':
		s.text()
	case '{':
		first := s.open('{')
		for _, ok := s.key(&first); ok; _, ok = s.key(&first) {
			s.skip()
		}
	case '[':
		first := s.open('[')
		for s.item(&first) {
			s.skip()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *scanner) literal(word string) {
	if len(s.b)-s.p < len(word) || string(s.b[s.p:s.p+len(word)]) != word {
		s.fail()
		return
	}
	s.p += len(word)
}

// number passes a number and returns its text.
func (s *scanner) number() []byte {
	s.peek()
	b, start, p := s.b, s.p, s.p
	digits := func() bool {
		from := p
		for p < len(b) && '0' <= b[p] && b[p] <= '9' {
			p++
		}
		return p > from
	}
	if p < len(b) && b[p] == '-' {
		p++
	}
	zero := p < len(b) && b[p] == '0'
	from := p
	if !digits() || zero && p > from+1 {
		s.fail()
		return nil
	}
	if p < len(b) && b[p] == '.' {
		p++
		if !digits() {
			s.fail()
			return nil
		}
	}
	if p < len(b) && b[p]|0x20 == 'e' {
		p++
		if p < len(b) && (b[p] == '+' || b[p] == '-') {
			p++
		}
		if !digits() {
			s.fail()
			return nil
		}
	}
	s.p = p
	return b[start:p]
}

// float returns a number, or false where the value is something else.
func (s *scanner) float() (v float64, ok bool) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.skip()
		return 0, false
	}
	n := s.number()
	if len(n) < 16 {
		v := int64(0)
		for i, c := range n {
			if c < '0' || c > '9' {
				break
			}
			v = v*10 + int64(c-'0')
			if i == len(n)-1 {
				return float64(v), true
			}
		}
	}
	v, err := strconv.ParseFloat(string(n), 64)
	return v, err == nil && !s.bad
}

// integer returns a whole number, or false where the value is something else
// or beyond 2^53.
func (s *scanner) integer() (int64, bool) {
	f, ok := s.float()
	n := int64(f)
	return n, ok && float64(n) == f && -1<<53 <= n && n <= 1<<53
}

// topField is a member of an object: its name and its raw value.
type topField struct {
	name  []byte
	value json.RawMessage
}

// topFields cuts an object into its members.
func topFields(b []byte) ([]topField, bool) {
	s := scanner{b: b}
	var out []topField
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		s.peek()
		start := s.p
		s.skip()
		if s.bad {
			return nil, false
		}
		out = append(out, topField{k, json.RawMessage(b[start:s.p])})
	}
	return out, s.end()
}

// surrogates carries what is left over between texts that belong together.
type surrogates struct {
	high  rune // a high surrogate whose other half may still come; 0: none
	lone  bool // one came whose other half never did
	split bool // a pair came in two texts
}

// flush gives up waiting for the other half.
func (u *surrogates) flush(dst []byte) []byte {
	if u.high == 0 {
		return dst
	}
	u.high, u.lone = 0, true
	return utf8.AppendRune(dst, utf8.RuneError)
}

// unescape appends the text of a raw string. A surrogate without its other
// half becomes U+FFFD, unless it ends the text: then it waits in u.
func unescape(dst, raw []byte, u *surrogates) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c != '\\':
			dst = append(u.flush(dst), c)
			i++
			continue
		case raw[i+1] != 'u':
			dst = append(u.flush(dst), plainEscape(raw[i+1]))
			i += 2
			continue
		}
		r := hex4(raw[i+2 : i+6])
		if u.high != 0 && 0xDC00 <= r && r < 0xE000 {
			u.split = u.split || i == 0
			dst, u.high = utf8.AppendRune(dst, utf16.DecodeRune(u.high, r)), 0
			i += 6
			continue
		}
		dst = u.flush(dst)
		switch {
		case 0xD800 <= r && r < 0xDC00:
			u.high = r
		case 0xDC00 <= r && r < 0xE000:
			u.lone = true
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += 6
	}
	return dst
}

func plainEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendString appends s as a JSON string. Bytes that are no UTF-8 become
// U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
