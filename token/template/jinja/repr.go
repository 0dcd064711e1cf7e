package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValueNesting bounds how deep values stand in each other where they are
// written or compared.
const maxValueNesting = 400

// show is Python's str(v).
func (r *run) show(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, r.look(v)
	case safe:
		return string(v), r.look(string(v))
	case *Undefined:
		return "", nil
	}
	var b strings.Builder
	writeRepr(&b, v, 0)
	if b.Len() > maxText {
		return "", errTooMuch
	}
	return b.String(), r.grow(b.Len())
}

// repr is Python's repr(v).
func repr(v any) string {
	var b strings.Builder
	writeRepr(&b, v, 0)
	return b.String()
}

func writeRepr(b *strings.Builder, v any, depth int) {
	if depth > maxValueNesting || b.Len() > maxText {
		b.WriteString("...") // run.show fails where it is too long
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case *big.Int:
		b.WriteString(v.String())
	case float64:
		b.WriteString(floatRepr(v))
	case string:
		quote(b, v)
	case safe:
		b.WriteString("Markup(")
		quote(b, string(v))
		b.WriteString(")")
	case *Undefined:
		b.WriteString("Undefined")
	case *List:
		listRepr(b, v, depth)
	case *Dict:
		dictRepr(b, v, depth)
	case *namespace:
		b.WriteString("<Namespace ")
		dictRepr(b, v.attributes, depth)
		b.WriteString(">")
	case *function:
		fmt.Fprintf(b, "<function %s>", v.name)
	case *macroValue:
		fmt.Fprintf(b, "<Macro '%s'>", v.macro.name)
	default:
		b.WriteString("<object>")
	}
}

func listRepr(b *strings.Builder, l *List, depth int) {
	open, end := "[", "]"
	switch l.shape {
	case aTuple:
		open, end = "(", ")"
		if len(l.items) == 1 {
			end = ",)"
		}
	case aGenerator:
		b.WriteString("<generator object>")
		return
	case aView:
		open, end = "dict_view([", "])"
	}
	b.WriteString(open)
	for i, x := range l.items {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, x, depth+1)
	}
	b.WriteString(end)
}

func dictRepr(b *strings.Builder, d *Dict, depth int) {
	b.WriteByte('{')
	for i, k := range d.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, k, depth+1)
		b.WriteString(": ")
		writeRepr(b, d.values[i], depth+1)
	}
	b.WriteByte('}')
}

// floatRepr is the shortest text that gives the number, as Python writes it.
func floatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// quote writes a string as Python's repr does.
func quote(b *strings.Builder, s string) {
	q := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		q = '"'
	}
	b.WriteRune(q)
	for _, c := range s {
		switch {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == ' ' || c != utf8.RuneError && unicode.IsPrint(c) || c == utf8.RuneError:
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			fmt.Fprintf(b, `\U%08x`, c)
		}
	}
	b.WriteRune(q)
}

// isSpace tells what Python's str.isspace and strip take for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
