package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// FromJSON reads a JSON value as Python's json does: keys keep their order,
// whole numbers stay whole.
func FromJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := fromJSON(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more behind the JSON value")
	}
	return v, nil
}

func fromJSON(d *json.Decoder, depth int) (any, error) {
	if depth > maxValueNesting {
		return nil, fmt.Errorf("JSON nested deeper than %d", maxValueNesting)
	}
	t, err := d.Token()
	if err != nil {
		// Never the decoder's words: they can quote what was read.
		return nil, fmt.Errorf("no JSON at byte %d", d.InputOffset())
	}
	switch t := t.(type) {
	case json.Number:
		return number(t.String()), nil
	case json.Delim:
		if t == '[' {
			return listFromJSON(d, depth)
		}
		return dictFromJSON(d, depth)
	}
	return t, nil
}

func number(s string) any {
	if !strings.ContainsAny(s, ".eE") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if len(s) < 400 {
			if n, ok := new(big.Int).SetString(s, 10); ok {
				return n
			}
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range: infinite, as in Python
	return f
}

func listFromJSON(d *json.Decoder, depth int) (any, error) {
	l := NewList()
	for d.More() {
		v, err := fromJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		l.Append(v)
	}
	_, err := d.Token()
	return l, err
}

func dictFromJSON(d *json.Decoder, depth int) (any, error) {
	m := NewDict()
	for d.More() {
		k, err := fromJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		v, err := fromJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		m.Set(k, v)
	}
	_, err := d.Token()
	return m, err
}

// jsonStyle is how json.dumps writes.
type jsonStyle struct {
	item, key string // separators
	indent    string
	lines     bool // indent is given, perhaps empty
	ascii     bool
	sorted    bool
}

// writeJSON is Python's json.dumps; it fails where that raises.
func writeJSON(b *strings.Builder, v any, s jsonStyle, depth int) error {
	if depth > maxValueNesting || b.Len() > maxText {
		return errTooMuch
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64, *big.Int:
		b.WriteString(repr(v))
	case float64:
		b.WriteString(jsonFloat(v))
	case string:
		jsonString(b, v, s.ascii)
	case safe:
		jsonString(b, string(v), s.ascii)
	case *List:
		if v.shape > aTuple {
			return fmt.Errorf("tojson: a %s cannot be written as JSON", typeName(v))
		}
		return jsonList(b, v, s, depth)
	case *Dict:
		return jsonDict(b, v, s, depth)
	default:
		return fmt.Errorf("tojson: a value of type %s cannot be written as JSON", typeName(v))
	}
	return nil
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatRepr(f)
}

func (s jsonStyle) line(b *strings.Builder, depth int) {
	if s.lines {
		b.WriteByte('\n')
		for range depth {
			b.WriteString(s.indent)
		}
	}
}

func jsonList(b *strings.Builder, l *List, s jsonStyle, depth int) error {
	if len(l.items) == 0 {
		b.WriteString("[]")
		return nil
	}
	b.WriteByte('[')
	for i, x := range l.items {
		if i > 0 {
			b.WriteString(s.item)
		}
		s.line(b, depth+1)
		if err := writeJSON(b, x, s, depth+1); err != nil {
			return err
		}
	}
	s.line(b, depth)
	b.WriteByte(']')
	return nil
}

func jsonDict(b *strings.Builder, d *Dict, s jsonStyle, depth int) error {
	if len(d.keys) == 0 {
		b.WriteString("{}")
		return nil
	}
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if s.sorted {
		if err := sortBy(order, func(i int) any { return d.keys[i] }); err != nil {
			return err
		}
	}
	b.WriteByte('{')
	for n, i := range order {
		if n > 0 {
			b.WriteString(s.item)
		}
		s.line(b, depth+1)
		key, err := jsonKey(d.keys[i])
		if err != nil {
			return err
		}
		jsonString(b, key, s.ascii)
		b.WriteString(s.key)
		if err := writeJSON(b, d.values[i], s, depth+1); err != nil {
			return err
		}
	}
	s.line(b, depth)
	b.WriteByte('}')
	return nil
}

func jsonKey(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case safe:
		return string(k), nil
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(k), nil
	case int64, *big.Int:
		return repr(k), nil
	case float64:
		return jsonFloat(k), nil
	}
	return "", fmt.Errorf("tojson: a key of type %s cannot be written as JSON", typeName(k))
}

func jsonString(b *strings.Builder, s string, ascii bool) {
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\f':
			b.WriteString(`\f`)
		case c == '\b':
			b.WriteString(`\b`)
		case c < ' ' || ascii && c > '~' && c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		case ascii && c >= 0x10000:
			c -= 0x10000
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
