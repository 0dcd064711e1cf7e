package jinja

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

func floatFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("float", args, named, "default")
	if err != nil {
		return nil, err
	}
	if f, ok := float(v); ok {
		return f, nil
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if s, ok := asText(v); ok {
		if err := r.look(s); err != nil {
			return nil, err
		}
		if f, ok := parseFloat(s); ok {
			return f, nil
		}
	}
	return p.value("default", 0.0), nil
}

// parseFloat is Python's float(s).
func parseFloat(s string) (float64, bool) {
	s = strings.TrimFunc(s, isSpace)
	if strings.ContainsAny(s, "xXpP") || strings.Contains(s, "__") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func intFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("int", args, named, "default", "base")
	if err != nil {
		return nil, err
	}
	base, err := p.whole("base", 10)
	if err != nil {
		return nil, err
	}
	if n, ok := integer(v); ok {
		return n, nil
	}
	switch v := v.(type) {
	case *Undefined:
		return nil, v.fail()
	case *big.Int:
		return v, nil
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v), nil
		}
		return nil, fmt.Errorf("a whole number beyond 64 bits")
	}
	s, ok := asText(v)
	if !ok {
		return p.value("default", int64(0)), nil
	}
	if err := r.look(s); err != nil {
		return nil, err
	}
	s = strings.TrimFunc(s, isSpace)
	digits := strings.ReplaceAll(s, "_", "")
	if prefix := map[int64]string{2: "0b", 8: "0o", 16: "0x"}[base]; prefix != "" {
		digits = strings.TrimPrefix(strings.ToLower(digits), prefix)
	}
	if base != 0 && (base < 2 || base > 36) {
		return nil, fmt.Errorf("expected a base from 2 to 36")
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(digits, "+"), int(base), 64); err == nil && !strings.HasPrefix(digits, "+-") {
		return n, nil
	}
	if f, ok := parseFloat(s); ok && math.Abs(f) < 1<<62 {
		return int64(f), nil
	}
	return p.value("default", int64(0)), nil
}

func roundFilter(_ *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("round", args, named, "precision", "method")
	if err != nil {
		return nil, err
	}
	n, err := p.whole("precision", 0)
	if err != nil || n < -300 || n > 300 {
		return nil, fmt.Errorf("expected a precision in bounds")
	}
	how, err := p.text("method", "common")
	if err != nil {
		return nil, err
	}
	f, ok := float(v)
	if !ok {
		return nil, fmt.Errorf("expected a number, found %s", typeName(v))
	}
	scale := math.Pow(10, float64(n))
	switch how {
	case "ceil":
		return math.Ceil(f*scale) / scale, nil
	case "floor":
		return math.Floor(f*scale) / scale, nil
	case "common":
	default:
		return nil, fmt.Errorf("method must be common, ceil or floor")
	}
	if i, ok := integer(v); ok && n >= 0 {
		return i, nil // Python's round of a whole number is one
	}
	if n < 0 {
		return math.RoundToEven(f*scale) / scale, nil
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(n), 64), 64)
	return rounded, err
}

func sumFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("sum", args, named, "attribute", "start")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	total := p.value("start", int64(0))
	for _, x := range items {
		if a := p.value("attribute", nil); a != nil {
			if x, err = r.path(x, a); err != nil {
				return nil, err
			}
		}
		if total, err = r.binary("+", total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func extremeFilter(largest bool) filterFunc {
	return func(r *run, v any, args []any, named *Dict) (any, error) {
		p, err := take("max", args, named, "case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return &Undefined{what: "the largest or smallest of nothing"}, nil
		}
		key := r.sortKey(p, p.value("attribute", nil))
		best := items[0]
		for _, x := range items[1:] {
			a, err := key(x)
			if err != nil {
				return nil, err
			}
			b, err := key(best)
			if err != nil {
				return nil, err
			}
			c, err := r.order("<", a, b, 0)
			if err != nil {
				return nil, err
			}
			if c == 1 && largest || c == -1 && !largest {
				best = x
			}
		}
		return best, nil
	}
}
