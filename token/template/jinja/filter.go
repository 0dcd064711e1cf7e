package jinja

import (
	"fmt"
	"math"
	"strings"
)

type filterFunc = func(r *run, v any, args []any, named *Dict) (any, error)

// filterNamed returns a filter, or nil.
func filterNamed(name string) filterFunc {
	switch name {
	case "abs":
		return absFilter
	case "attr":
		return attrFilter
	case "batch":
		return batchFilter
	case "capitalize":
		return textFilter(capitalize)
	case "center":
		return centerFilter
	case "count", "length":
		return lengthFilter
	case "d", "default":
		return defaultFilter
	case "dictsort":
		return dictSortFilter
	case "e", "escape":
		return escapeFilter
	case "first", "last":
		return endFilter(name == "last")
	case "float":
		return floatFilter
	case "format":
		return formatFilter
	case "groupby":
		return groupFilter
	case "indent":
		return indentFilter
	case "int":
		return intFilter
	case "items":
		return itemsFilter
	case "join":
		return joinFilter
	case "list":
		return listFilter
	case "lower":
		return textFilter(lower)
	case "map":
		return mapFilter
	case "max", "min":
		return extremeFilter(name == "max")
	case "reject", "select":
		return selectFilter(name == "select", false)
	case "rejectattr", "selectattr":
		return selectFilter(name == "selectattr", true)
	case "replace":
		return replaceFilter
	case "reverse":
		return reverseFilter
	case "round":
		return roundFilter
	case "safe":
		return safeFilter
	case "sort":
		return sortFilter
	case "string":
		return stringFilter
	case "sum":
		return sumFilter
	case "title":
		return textFilter(jinjaTitle)
	case "tojson":
		return toJSONFilter
	case "trim":
		return trimFilter
	case "unique":
		return uniqueFilter
	case "upper":
		return textFilter(upper)
	case "urlencode":
		return urlFilter
	case "wordcount":
		return wordCountFilter
	}
	return nil
}

// textFilter makes a filter of what is done to a value's text.
func textFilter(f func(string) string) filterFunc {
	return func(r *run, v any, args []any, named *Dict) (any, error) {
		if len(args)+named.Len() > 0 {
			return nil, fmt.Errorf("no arguments are taken")
		}
		s, err := r.show(v)
		if err != nil {
			return nil, err
		}
		return r.made(f(s))
	}
}

// jinjaTitle begins each word with a capital, as Jinja's filter does: words
// begin behind white space, hyphens and brackets.
func jinjaTitle(s string) string {
	var b strings.Builder
	start := 0
	word := func(end int) {
		if start < end {
			w := s[start:end]
			n := len(string([]rune(w)[:1]))
			b.WriteString(upper(w[:n]) + lower(w[n:]))
		}
	}
	for i, c := range s {
		if isSpace(c) || strings.ContainsRune("-({[<", c) {
			word(i)
			b.WriteRune(c)
			start = i + len(string(c))
		}
	}
	word(len(s))
	return b.String()
}

func absFilter(_ *run, v any, _ []any, _ *Dict) (any, error) {
	if n, ok := integer(v); ok {
		return max(n, -n), nil
	}
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	return nil, fmt.Errorf("expected a number, found %s", typeName(v))
}

func attrFilter(_ *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("attr", args, named, "name")
	if err != nil {
		return nil, err
	}
	name, err := p.text("name", "")
	if err != nil {
		return nil, err
	}
	if a, ok := attributeOf(v, name); ok {
		return a, nil
	}
	return missing(name), nil
}

func centerFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("center", args, named, "width")
	if err != nil {
		return nil, err
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	return pad(-1)(r, s, []any{p.value("width", int64(80))}, NewDict())
}

func lengthFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	if s, ok := asText(v); ok {
		return int64(runes(s)), r.look(s)
	}
	switch v := v.(type) {
	case *Undefined:
		return int64(0), nil
	case *List:
		if v.shape != aGenerator {
			return int64(len(v.items)), nil
		}
	case *Dict:
		return int64(v.Len()), nil
	case *loopValue:
		return int64(len(v.items)), nil
	}
	return nil, fmt.Errorf("a value of type %s has no length", typeName(v))
}

func defaultFilter(_ *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("default", args, named, "default_value", "boolean")
	if err != nil {
		return nil, err
	}
	if _, undefined := v.(*Undefined); undefined || truth(p.value("boolean", false)) && !truth(v) {
		return p.value("default_value", ""), nil
	}
	return v, nil
}

func escapeFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	if s, ok := v.(safe); ok {
		return s, nil
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	s = escape(s)
	return safe(s), r.grow(len(s))
}

func safeFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	s, err := r.show(v)
	return safe(s), err
}

func stringFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	if s, ok := v.(safe); ok {
		return s, nil
	}
	return r.show(v)
}

func trimFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("trim", args, named, "chars")
	if err != nil {
		return nil, err
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	out, err := strip(s, p.value("chars", nil), true, true)
	if _, ok := v.(safe); ok && err == nil {
		return safe(out.(string)), nil
	}
	return out, err
}

func replaceFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("replace", args, named, "old", "new", "count")
	if err != nil {
		return nil, err
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"old", "new"} { // Jinja takes their str()
		if x, ok := p.values[name]; ok {
			if p.values[name], err = r.show(x); err != nil {
				return nil, err
			}
		}
	}
	if err := r.look(s); err != nil {
		return nil, err
	}
	out, err := r.replace(s, p)
	if err != nil {
		return nil, err
	}
	return r.made(out.(string))
}

func indentFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("indent", args, named, "width", "first", "blank")
	if err != nil {
		return nil, err
	}
	by := "    "
	switch w := p.value("width", int64(4)).(type) {
	case string:
		by = w
	case int64:
		if w > 1<<16 {
			return nil, errTooMuch
		}
		by = strings.Repeat(" ", int(max(w, 0)))
	default:
		return nil, fmt.Errorf("expected a width or a text, found %s", typeName(w))
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n")
	if len(lines)*len(by)+len(s) > maxText {
		return nil, errTooMuch
	}
	for i, line := range lines {
		if i > 0 && (line != "" || truth(p.value("blank", false))) || i == 0 && truth(p.value("first", false)) {
			lines[i] = by + line
		}
	}
	return r.made(strings.Join(lines, "\n"))
}

func wordCountFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	s, err := r.show(v)
	n := strings.FieldsFunc(s, func(c rune) bool { return !isWord(c) })
	return int64(len(n)), err
}

func urlFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	if isMapping(v) || strings.HasPrefix(typeName(v), "list") {
		return nil, fmt.Errorf("expected a text, found %s", typeName(v))
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c|0x20 && c|0x20 <= 'z' || decimal(c) || strings.IndexByte("_.-~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return r.made(b.String())
}

func toJSONFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("tojson", args, named, "ensure_ascii", "indent", "separators", "sort_keys")
	if err != nil {
		return nil, err
	}
	s := jsonStyle{item: ", ", key: ": ", ascii: truth(p.value("ensure_ascii", false)), sorted: truth(p.value("sort_keys", false))}
	switch w := p.value("indent", nil).(type) {
	case nil:
	case string:
		s.indent, s.lines, s.item = w, true, ","
	default:
		n, ok := integer(w)
		if !ok || n > 1<<16 {
			return nil, fmt.Errorf("expected a number as indent, found %s", typeName(w))
		}
		s.indent, s.lines, s.item = strings.Repeat(" ", int(max(n, 0))), true, ","
	}
	if l, ok := p.value("separators", nil).(*List); ok {
		if len(l.items) != 2 {
			return nil, fmt.Errorf("expected two separators")
		}
		a, ok1 := asText(l.items[0])
		b, ok2 := asText(l.items[1])
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("expected separators to be strings")
		}
		s.item, s.key = a, b
	}
	var b strings.Builder
	if err := writeJSON(&b, v, s, 0); err != nil {
		return nil, err
	}
	if b.Len() > maxText {
		return nil, errTooMuch
	}
	return r.made(b.String())
}
