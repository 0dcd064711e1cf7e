package jinja

import (
	"fmt"
	"strconv"
	"strings"
)

// printf is Python's s % v.
func (r *run) printf(s string, v any) (any, error) {
	args := []any{v}
	if l, ok := v.(*List); ok && l.shape == aTuple {
		args = l.items
	}
	var b strings.Builder
	used := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		end := i + 1 + strings.IndexAny(s[i+1:], "%srdifFeEgGxXoc")
		if end <= i {
			return nil, fmt.Errorf("an incomplete field in a format")
		}
		if s[end] == '%' {
			b.WriteByte('%')
			i = end
			continue
		}
		if used == len(args) {
			return nil, fmt.Errorf("not enough values for the format")
		}
		text, err := r.field(s[i+1:end], s[end], args[used])
		if err != nil {
			return nil, err
		}
		if b.Len()+len(text) > maxText {
			return nil, errTooMuch
		}
		b.WriteString(text)
		used++
		i = end
	}
	if used < len(args) && !isMapping(v) {
		return nil, fmt.Errorf("not all values were used by the format")
	}
	return r.made(b.String())
}

// field writes one value: flags are what stands between % and the letter.
func (r *run) field(flags string, verb byte, v any) (string, error) {
	if strings.Trim(flags, "0123456789-+ #.") != "" || len(flags) > 12 {
		return "", fmt.Errorf("the field %%%.20s%c is not known", flags, verb)
	}
	for part := range strings.SplitSeq(strings.TrimLeft(flags, "0-+ #"), ".") {
		if n, err := strconv.Atoi(part); part != "" && (err != nil || n > 1<<16) {
			return "", errTooMuch
		}
	}
	if u, ok := v.(*Undefined); ok && verb != 's' && verb != 'r' {
		return "", u.fail()
	}
	switch verb {
	case 's':
		s, err := r.show(v)
		return fmt.Sprintf("%"+flags+"s", s), err
	case 'r':
		return fmt.Sprintf("%"+flags+"s", repr(v)), nil
	case 'c':
		if s, ok := asText(v); ok {
			return s, nil
		}
		n, ok := integer(v)
		if !ok {
			return "", fmt.Errorf("expected a character")
		}
		return string(rune(n)), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		f, ok := float(v)
		if !ok {
			return "", fmt.Errorf("expected a number, found %s", typeName(v))
		}
		return fmt.Sprintf("%"+flags+string(verb), f), nil
	}
	n, ok := integer(v)
	if f, isFloat := v.(float64); isFloat && verb != 'x' && verb != 'X' && verb != 'o' {
		n, ok = int64(f), true
	}
	if !ok {
		return "", fmt.Errorf("expected a whole number, found %s", typeName(v))
	}
	if verb == 'i' {
		verb = 'd'
	}
	return fmt.Sprintf("%"+flags+string(verb), n), nil
}

// formatFilter is Jinja's filter format, which is printf.
func formatFilter(r *run, v any, args []any, named *Dict) (any, error) {
	if named.Len() > 0 {
		return nil, fmt.Errorf("named values are not known")
	}
	s, err := r.show(v)
	if err != nil {
		return nil, err
	}
	return r.printf(s, tuple(args...))
}

// format is str.format with fields that are empty, numbers or names, without
// a format of their own.
func format(r *run, s string, args []any, named *Dict) (any, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case (c == '{' || c == '}') && i+1 < len(s) && s[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '}':
			return nil, fmt.Errorf("a single } in a format")
		case c == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("a single { in a format")
			}
			v, err := formatValue(s[i+1:i+end], &next, args, named)
			if err != nil {
				return nil, err
			}
			text, err := r.show(v)
			if err != nil {
				return nil, err
			}
			b.WriteString(text)
			i += end
		default:
			b.WriteByte(c)
		}
		if b.Len() > maxText {
			return nil, errTooMuch
		}
	}
	return b.String(), nil
}

func formatValue(field string, next *int, args []any, named *Dict) (any, error) {
	n := *next
	switch i, err := strconv.Atoi(field); {
	case field == "":
		*next++
	case err == nil:
		n = i
	default:
		if v, ok := named.Get(field); ok {
			return v, nil
		}
		return nil, fmt.Errorf("the field {%.20s} is not known", field)
	}
	if n < 0 || n >= len(args) {
		return nil, fmt.Errorf("not enough values for the format")
	}
	return args[n], nil
}
