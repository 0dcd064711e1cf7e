package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	tEOF kind = iota
	tData
	tBlockBegin
	tBlockEnd
	tVariableBegin
	tVariableEnd
	tName
	tString
	tInteger
	tFloat
	tOperator
)

type token struct {
	kind kind
	text string
	pos  int // offset in the source, for its line
}

func (t token) String() string {
	switch t.kind {
	case tEOF:
		return "end of template"
	case tBlockEnd:
		return "%}"
	case tVariableEnd:
		return "}}"
	}
	return fmt.Sprintf("%.40q", t.text)
}

// lexer cuts a source into tokens by the rules of Jinja's own, which are those
// of its regular expressions.
type lexer struct {
	src    string
	pos    int
	tokens []token
	// lineStart says that what is next begins a line, as lstrip_blocks sees it.
	lineStart bool
}

// newlines gives a source the line ends that Jinja works on, and takes off the
// last one.
func newlines(src string) string {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	return strings.TrimSuffix(src, "\n")
}

func lex(src string) ([]token, error) {
	l := &lexer{src: src, lineStart: true}
	for l.pos < len(l.src) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return append(l.tokens, token{kind: tEOF, pos: len(src)}), nil
}

func (l *lexer) fail(pos int, format string, args ...any) error {
	return &Error{Line: line(l.src, pos), Msg: fmt.Sprintf(format, args...)}
}

// line is the number of the line that holds an offset.
func line(src string, pos int) int {
	return 1 + strings.Count(src[:min(pos, len(src))], "\n")
}

// opening finds the next {{, {% or {#.
func (l *lexer) opening() int {
	for i := l.pos; ; i++ {
		j := strings.IndexByte(l.src[i:], '{')
		if j < 0 || i+j+1 >= len(l.src) {
			return -1
		}
		i += j
		if strings.IndexByte("{%#", l.src[i+1]) >= 0 {
			return i
		}
	}
}

// next takes text up to a tag, and the tag.
func (l *lexer) next() error {
	at := l.opening()
	if at < 0 {
		l.data(l.src[l.pos:])
		l.pos = len(l.src)
		return nil
	}
	text, tag := l.src[l.pos:at], l.src[at+1]
	l.pos = at + 2
	sign := byte(0)
	if l.pos < len(l.src) && (l.src[l.pos] == '-' || l.src[l.pos] == '+') {
		sign = l.src[l.pos]
		l.pos++
	}
	switch {
	case sign == '-':
		text = strings.TrimRightFunc(text, isSpace)
	case sign != '+' && tag != '{':
		text = lstripBlock(text, l.lineStart)
	}
	l.data(text)
	switch tag {
	case '#':
		return l.comment(at)
	case '{':
		return l.inside(token{kind: tVariableBegin, pos: at}, tVariableEnd)
	}
	if l.rawBegin() {
		return l.raw(at)
	}
	return l.inside(token{kind: tBlockBegin, pos: at}, tBlockEnd)
}

// lstripBlock drops the white space of the line that a tag stands on, where
// there is nothing else in front of it.
func lstripBlock(text string, lineStart bool) string {
	from := strings.LastIndexByte(text, '\n') + 1
	if (from > 0 || lineStart) && strings.TrimFunc(text[from:], isSpace) == "" {
		return text[:from]
	}
	return text
}

func (l *lexer) data(text string) {
	if text != "" {
		l.tokens = append(l.tokens, token{kind: tData, text: text, pos: l.pos})
	}
}

// after moves behind the end of a tag: all white space where it ends with a
// minus, one line end where trim is set.
func (l *lexer) after(pos int, sign byte, trim bool) {
	end := pos
	switch {
	case sign == '-':
		rest := strings.TrimLeftFunc(l.src[pos:], isSpace)
		end = len(l.src) - len(rest)
	case sign == 0 && trim && strings.HasPrefix(l.src[pos:], "\n"):
		end++
	}
	l.lineStart = end > pos && l.src[end-1] == '\n'
	l.pos = end
}

func (l *lexer) comment(at int) error {
	i := strings.Index(l.src[l.pos:], "#}")
	if i < 0 {
		return l.fail(at, "a comment without end")
	}
	end, sign := l.pos+i, byte(0)
	if i > 0 && (l.src[end-1] == '-' || l.src[end-1] == '+') {
		sign = l.src[end-1]
	}
	l.after(end+2, sign, true)
	return nil
}

// rawBegin takes the rest of a {% raw %}, if it is one.
func (l *lexer) rawBegin() bool {
	rest := strings.TrimLeftFunc(l.src[l.pos:], isSpace)
	rest, ok := strings.CutPrefix(rest, "raw")
	if !ok {
		return false
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	sign := byte(0)
	if strings.HasPrefix(rest, "-") {
		sign, rest = '-', rest[1:]
	}
	if !strings.HasPrefix(rest, "%}") {
		return false
	}
	l.after(len(l.src)-len(rest)+2, sign, false)
	return true
}

// raw takes text up to {% endraw %} as it is.
func (l *lexer) raw(at int) error {
	for i := l.pos; ; {
		j := strings.Index(l.src[i:], "{%")
		if j < 0 {
			return l.fail(at, "raw without endraw")
		}
		begin := i + j
		i = begin + 2
		rest, sign := l.src[i:], byte(0)
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			sign, rest = rest[0], rest[1:]
		}
		rest, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, isSpace), "endraw")
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, isSpace)
		end := byte(0)
		if rest != "" && (rest[0] == '-' || rest[0] == '+') {
			end, rest = rest[0], rest[1:]
		}
		if !strings.HasPrefix(rest, "%}") {
			continue
		}
		text := l.src[l.pos:begin]
		switch sign {
		case '-':
			text = strings.TrimRightFunc(text, isSpace)
		case 0:
			text = lstripBlock(text, l.lineStart)
		}
		l.data(text)
		l.after(len(l.src)-len(rest)+2, end, true)
		return nil
	}
}

// inside takes the tokens of a tag up to its end.
func (l *lexer) inside(begin token, end kind) error {
	l.tokens = append(l.tokens, begin)
	closing := "%}"
	if end == tVariableEnd {
		closing = "}}"
	}
	var open []byte // brackets
	for l.pos < len(l.src) {
		if len(open) == 0 && l.end(closing, end) {
			return nil
		}
		c, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if isSpace(c) {
			l.pos += size
			continue
		}
		if err := l.token(c, &open); err != nil {
			return err
		}
	}
	return l.fail(begin.pos, "a tag without its end %s", closing)
}

// end takes the end of a tag, if it is next.
func (l *lexer) end(closing string, k kind) bool {
	rest, sign := l.src[l.pos:], byte(0)
	if rest[0] == '-' || rest[0] == '+' && k == tBlockEnd {
		sign, rest = rest[0], rest[1:]
	}
	if !strings.HasPrefix(rest, closing) {
		return false
	}
	l.tokens = append(l.tokens, token{kind: k, text: closing, pos: l.pos})
	l.after(len(l.src)-len(rest)+2, sign, k == tBlockEnd)
	return true
}

var pairs = map[byte]byte{')': '(', ']': '[', '}': '{'}

// token takes a number, name, string or operator.
func (l *lexer) token(c rune, open *[]byte) error {
	start := l.pos
	emit := func(k kind, n int) {
		l.pos += n
		l.tokens = append(l.tokens, token{kind: k, text: l.src[start:l.pos], pos: start})
	}
	rest := l.src[l.pos:]
	if '0' <= c && c <= '9' {
		n := 0
		if start == 0 || l.src[start-1] != '.' {
			n = floatLength(rest)
		}
		if n > 0 {
			emit(tFloat, n)
		} else {
			emit(tInteger, integerLength(rest))
		}
		return nil
	}
	if isWord(c) {
		n := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
		if n < 0 {
			n = len(rest)
		}
		emit(tName, n)
		return nil
	}
	if c == '\'' || c == '"' {
		n := stringLength(rest)
		if n < 0 {
			return l.fail(start, "a string without its end")
		}
		emit(tString, n)
		return nil
	}
	n := operatorLength(rest)
	if n == 0 {
		return l.fail(start, "unexpected character %q", c)
	}
	switch b := rest[0]; b {
	case '(', '[', '{':
		*open = append(*open, b)
	case ')', ']', '}':
		if k := len(*open); k == 0 || (*open)[k-1] != pairs[b] {
			return l.fail(start, "unexpected %q", b)
		}
		*open = (*open)[:len(*open)-1]
	}
	emit(tOperator, n)
	return nil
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

// digits is the length of digits with single underscores between them.
func digits(s string, ok func(byte) bool) int {
	n := 0
	for n < len(s) && (ok(s[n]) || s[n] == '_' && n > 0 && n+1 < len(s) && s[n-1] != '_' && ok(s[n+1])) {
		n++
	}
	return n
}

func decimal(c byte) bool { return '0' <= c && c <= '9' }

// floatLength is the length of a number with a fraction or an exponent; 0: it
// has neither.
func floatLength(s string) int {
	n := digits(s, decimal)
	whole := n
	if n < len(s) && s[n] == '.' {
		if m := digits(s[n+1:], decimal); m > 0 {
			n += 1 + m
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if d := digits(s[m:], decimal); d > 0 {
			n = m + d
		}
	}
	if n == whole {
		return 0
	}
	return n
}

func integerLength(s string) int {
	if len(s) > 2 && s[0] == '0' {
		var ok func(byte) bool
		switch s[1] | 0x20 {
		case 'b':
			ok = func(c byte) bool { return c == '0' || c == '1' }
		case 'o':
			ok = func(c byte) bool { return '0' <= c && c <= '7' }
		case 'x':
			ok = func(c byte) bool { return decimal(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
		}
		if ok != nil {
			if n := digits(s[2:], ok); n > 0 {
				return 2 + n
			}
		}
	}
	if s[0] == '0' {
		return digits(s, func(c byte) bool { return c == '0' })
	}
	return digits(s, decimal)
}

// stringLength is the length of a string with its quotes; -1: it has no end.
func stringLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return -1
}

func operatorLength(s string) int {
	for _, op := range []string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(s, op) {
			return 2
		}
	}
	if strings.IndexByte("+-/*%~[](){}><=.:|,;", s[0]) >= 0 {
		return 1
	}
	return 0
}
