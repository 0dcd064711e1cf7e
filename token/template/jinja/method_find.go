package jinja

import (
	"fmt"
	"strings"
)

func affix(has func(s, part string) bool) textFunc {
	return func(_ *run, s string, args []any, _ *Dict) (any, error) {
		p, err := take("startswith", args, nil, "part", "start", "end")
		if err != nil {
			return nil, err
		}
		if err := p.need("part"); err != nil {
			return nil, err
		}
		if s, _, err = p.window(s); err != nil {
			return nil, err
		}
		parts := []any{p.values["part"]}
		if l, ok := parts[0].(*List); ok && l.shape == aTuple {
			parts = l.items
		}
		for _, x := range parts {
			part, ok := asText(x)
			if !ok {
				return nil, fmt.Errorf("expected a string or a tuple of them, found %s", typeName(x))
			}
			if has(s, part) {
				return true, nil
			}
		}
		return false, nil
	}
}

// window is s[start:end] by characters, and the characters before it.
func (p *params) window(s string) (string, int, error) {
	if !p.has("start") && !p.has("end") {
		return s, 0, nil
	}
	from, err := p.whole("start", 0)
	if err != nil {
		return "", 0, err
	}
	to, err := p.whole("end", int64(len(s)))
	if err != nil {
		return "", 0, err
	}
	chars := []rune(s)
	a, b, _ := indices([3]any{from, to, nil}, len(chars))
	return string(chars[a:max(a, b)]), a, nil
}

func remove(trim func(s, part string) string) textFunc {
	return func(_ *run, s string, args []any, _ *Dict) (any, error) {
		p, err := take("removeprefix", args, nil, "part")
		if err != nil {
			return nil, err
		}
		part, err := p.text("part", "")
		return trim(s, part), err
	}
}

func find(index func(s, part string) int, must bool) textFunc {
	return func(_ *run, s string, args []any, _ *Dict) (any, error) {
		p, err := take("find", args, nil, "part", "start", "end")
		if err != nil {
			return nil, err
		}
		part, err := p.text("part", "")
		if err != nil {
			return nil, err
		}
		s, before, err := p.window(s)
		if err != nil {
			return nil, err
		}
		i := index(s, part)
		switch {
		case i >= 0:
			return int64(before + runes(s[:i])), nil
		case must:
			return nil, fmt.Errorf("index: the part was not found")
		}
		return int64(-1), nil
	}
}

func countMethod(_ *run, s string, args []any, _ *Dict) (any, error) {
	p, err := take("count", args, nil, "part", "start", "end")
	if err != nil {
		return nil, err
	}
	part, err := p.text("part", "")
	if err != nil {
		return nil, err
	}
	s, _, err = p.window(s)
	return int64(strings.Count(s, part)), err
}

func partition(index func(s, part string) int) textFunc {
	return func(_ *run, s string, args []any, _ *Dict) (any, error) {
		p, err := take("partition", args, nil, "part")
		if err != nil {
			return nil, err
		}
		part, err := p.text("part", "")
		if err != nil || part == "" {
			return nil, fmt.Errorf("partition: expected a string that is not empty")
		}
		i := index(s, part)
		if i < 0 {
			return tuple(s, "", ""), nil
		}
		return tuple(s[:i], part, s[i+len(part):]), nil
	}
}

func rpartition(r *run, s string, args []any, named *Dict) (any, error) {
	v, err := partition(strings.LastIndex)(r, s, args, named)
	if err != nil {
		return nil, err
	}
	if t := v.(*List); t.items[1] == "" {
		return tuple("", "", s), nil
	}
	return v, nil
}

func splitMethod(right bool) textFunc {
	return func(r *run, s string, args []any, named *Dict) (any, error) {
		p, err := take("split", args, named, "sep", "maxsplit")
		if err != nil {
			return nil, err
		}
		most, err := p.whole("maxsplit", -1)
		if err != nil {
			return nil, err
		}
		if most < 0 {
			most = int64(len(s))
		}
		var parts []string
		if sep := p.value("sep", nil); sep == nil {
			parts = splitSpace(s, int(most), right)
		} else {
			text, err := p.text("sep", "")
			if err != nil || text == "" {
				return nil, fmt.Errorf("split: expected a separator that is not empty")
			}
			parts = splitAt(s, text, int(most), right)
		}
		return r.texts(parts)
	}
}

func (r *run) texts(parts []string) (any, error) {
	items, err := r.items(len(parts))
	if err != nil {
		return nil, err
	}
	for _, s := range parts {
		items = append(items, s)
	}
	return NewList(items...), nil
}

func splitAt(s, sep string, most int, right bool) []string {
	if !right {
		return strings.SplitN(s, sep, most+1)
	}
	var parts []string
	for ; most > 0; most-- {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(sep):])
		s = s[:i]
	}
	parts = append(parts, s)
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// splitSpace splits at runs of white space; those at the ends make no part.
func splitSpace(s string, most int, right bool) []string {
	var parts []string
	if right {
		for s = strings.TrimRightFunc(s, isSpace); s != ""; s = strings.TrimRightFunc(s, isSpace) {
			i := strings.LastIndexFunc(s, isSpace)
			if i < 0 || len(parts) == most {
				parts = append(parts, s)
				break
			}
			word := strings.TrimLeftFunc(s[i:], isSpace)
			parts = append(parts, word)
			s = s[:len(s)-len(word)]
		}
		for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
			parts[i], parts[j] = parts[j], parts[i]
		}
		return parts
	}
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || len(parts) == most {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s = s[i:]
	}
	return parts
}

// splitLines splits at what Python takes for line ends.
func splitLines(r *run, s string, args []any, named *Dict) (any, error) {
	p, err := take("splitlines", args, named, "keepends")
	if err != nil {
		return nil, err
	}
	keep := truth(p.value("keepends", false))
	var parts []string
	for s != "" {
		i := strings.IndexFunc(s, func(c rune) bool {
			return '\n' <= c && c <= '\r' || 0x1c <= c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
		})
		if i < 0 {
			parts = append(parts, s)
			break
		}
		end := i + len(string([]rune(s[i:min(len(s), i+3)])[0]))
		if strings.HasPrefix(s[i:], "\r\n") {
			end = i + 2
		}
		if keep {
			parts = append(parts, s[:end])
		} else {
			parts = append(parts, s[:i])
		}
		s = s[end:]
	}
	return r.texts(parts)
}
