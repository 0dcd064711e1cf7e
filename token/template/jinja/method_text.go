package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

func runes(s string) int { return utf8.RuneCountInString(s) }

// textMethod returns a method of str, bound to s.
func textMethod(s, name string) (any, bool) {
	m := textMethods[name]
	if m == nil {
		return nil, false
	}
	return &function{name: name, call: func(r *run, args []any, named *Dict) (any, error) {
		if err := r.look(s); err != nil {
			return nil, err
		}
		v, err := m(r, s, args, named)
		if err != nil {
			return nil, err
		}
		if text, ok := v.(string); ok {
			return text, r.grow(len(text))
		}
		return v, nil
	}}, true
}

type textFunc = func(r *run, s string, args []any, named *Dict) (any, error)

// plainText makes a method without arguments.
func plainText(f func(string) any) textFunc {
	return func(_ *run, s string, args []any, named *Dict) (any, error) {
		if len(args)+named.Len() > 0 {
			return nil, fmt.Errorf("no arguments are taken")
		}
		return f(s), nil
	}
}

func text1(f func(string) string) textFunc { return plainText(func(s string) any { return f(s) }) }

// textMethods are the methods of str.
var textMethods = map[string]textFunc{
	"strip":      stripMethod(true, true),
	"lstrip":     stripMethod(true, false),
	"rstrip":     stripMethod(false, true),
	"split":      splitMethod(false),
	"rsplit":     splitMethod(true),
	"splitlines": splitLines,
	"partition":  partition(strings.Index), "rpartition": rpartition,
	"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix),
	"removeprefix": remove(strings.TrimPrefix), "removesuffix": remove(strings.TrimSuffix),
	"replace": replaceMethod, "join": joinMethod, "format": format,
	"find": find(strings.Index, false), "rfind": find(strings.LastIndex, false),
	"index": find(strings.Index, true), "rindex": find(strings.LastIndex, true),
	"count": countMethod,
	"lower": text1(lower), "upper": text1(upper), "casefold": text1(cases.Fold().String),
	"title": text1(title), "capitalize": text1(capitalize), "swapcase": text1(swapCase),
	"zfill": zfill, "center": pad(-1), "ljust": pad(1), "rjust": pad(0),
	"isspace": plainText(func(s string) any { return all(s, isSpace) }),
	"isalpha": plainText(func(s string) any { return all(s, unicode.IsLetter) }),
	"isalnum": plainText(func(s string) any {
		return all(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	}),
	"isdigit":   plainText(func(s string) any { return all(s, isDigit) }),
	"isdecimal": plainText(func(s string) any { return all(s, unicode.IsDigit) }),
	"isnumeric": plainText(func(s string) any { return all(s, unicode.IsNumber) }),
	"isascii":   plainText(func(s string) any { return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f }) < 0 }),
	"islower":   plainText(func(s string) any { return cased(s, unicode.IsLower) }),
	"isupper":   plainText(func(s string) any { return cased(s, unicode.IsUpper) }),
}

// lower and upper follow Unicode's full mappings, as Python does.
func lower(s string) string { return cases.Lower(language.Und).String(s) }
func upper(s string) string { return cases.Upper(language.Und).String(s) }

func isDigit(r rune) bool {
	return unicode.IsDigit(r) || strings.ContainsRune("²³¹", r) || 0x2070 <= r && r <= 0x2089 && unicode.IsNumber(r)
}

func all(s string, ok func(rune) bool) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0
}

// cased tells whether all letters with a case are of one, and there is one.
func cased(s string, ok func(rune) bool) bool {
	some := false
	for _, c := range s {
		if unicode.IsLower(c) || unicode.IsUpper(c) || unicode.IsTitle(c) {
			if !ok(c) {
				return false
			}
			some = true
		}
	}
	return some
}

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return titled(s[:n]) + lower(s[n:])
}

func titled(s string) string {
	if r := []rune(s); len(r) == 1 && unicode.ToTitle(r[0]) != r[0] {
		return string(unicode.ToTitle(r[0]))
	}
	return upper(s)
}

// title begins each run of letters with a capital.
func title(s string) string {
	var b strings.Builder
	inside := false
	for _, c := range s {
		letter := unicode.IsLetter(c) && (unicode.ToLower(c) != c || unicode.ToUpper(c) != c)
		switch {
		case letter && inside:
			b.WriteString(lower(string(c)))
		case letter:
			b.WriteString(titled(string(c)))
		default:
			b.WriteRune(c)
		}
		inside = letter
	}
	return b.String()
}

func swapCase(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			b.WriteString(lower(string(c)))
		} else {
			b.WriteString(upper(string(c)))
		}
	}
	return b.String()
}

func stripMethod(left, right bool) textFunc {
	return func(_ *run, s string, args []any, named *Dict) (any, error) {
		p, err := take("strip", args, named, "chars")
		if err != nil {
			return nil, err
		}
		return strip(s, p.value("chars", nil), left, right)
	}
}

// strip takes characters off the ends; chars nil: white space.
func strip(s string, chars any, left, right bool) (any, error) {
	cut := isSpace
	if chars != nil {
		set, ok := asText(chars)
		if !ok {
			return nil, fmt.Errorf("strip: expected a string, found %s", typeName(chars))
		}
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, cut)
	}
	if right {
		s = strings.TrimRightFunc(s, cut)
	}
	return s, nil
}

func replaceMethod(r *run, s string, args []any, _ *Dict) (any, error) {
	p, err := take("replace", args, nil, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	return r.replace(s, p)
}

// replace is Python's s.replace.
func (r *run) replace(s string, p *params) (any, error) {
	if err := p.need("old", "new"); err != nil {
		return nil, err
	}
	old, err := p.text("old", "")
	if err != nil {
		return nil, err
	}
	with, err := p.text("new", "")
	if err != nil {
		return nil, err
	}
	count, err := p.whole("count", -1)
	if err != nil {
		return nil, err
	}
	times := strings.Count(s, old)
	if count >= 0 {
		times = int(min(int64(times), count))
	}
	if grown := len(s) + times*(len(with)-len(old)); grown > maxText || times > maxText {
		return nil, errTooMuch
	}
	return strings.Replace(s, old, with, times), nil
}

func joinMethod(r *run, s string, args []any, _ *Dict) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("join takes one argument")
	}
	items, err := r.iterate(args[0])
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	total := 0
	for i, x := range items {
		t, ok := asText(x)
		if !ok {
			return nil, fmt.Errorf("join: expected strings, found %s", typeName(x))
		}
		texts[i] = t
		if total += len(t) + len(s); total > maxText {
			return nil, errTooMuch
		}
	}
	return strings.Join(texts, s), nil
}

func zfill(_ *run, s string, args []any, _ *Dict) (any, error) {
	p, err := take("zfill", args, nil, "width")
	if err != nil {
		return nil, err
	}
	n, err := p.whole("width", 0)
	if err != nil || n > maxText {
		return nil, errTooMuch
	}
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = s[:1], s[1:]
	}
	return sign + strings.Repeat("0", max(0, int(n)-runes(s)-len(sign))) + s, nil
}

// pad fills up to a width: share 0 in front, 1 behind, -1 at both sides.
func pad(share int) textFunc {
	return func(_ *run, s string, args []any, _ *Dict) (any, error) {
		p, err := take("center", args, nil, "width", "fill")
		if err != nil {
			return nil, err
		}
		n, err := p.whole("width", 0)
		if err != nil {
			return nil, err
		}
		fill, err := p.text("fill", " ")
		if err != nil || runes(fill) != 1 || n > maxText {
			return nil, fmt.Errorf("expected one character and a width in bounds")
		}
		more := max(0, int(n)-runes(s))
		left := more
		switch share {
		case 1:
			left = 0
		case -1:
			left = more/2 + more&int(n)&1
		}
		return strings.Repeat(fill, left) + s + strings.Repeat(fill, more-left), nil
	}
}
