package jinja

import (
	"errors"
	"fmt"
	"html"
	"math"
	"math/bits"
	"strings"
)

// binary is Python's a op b.
func (r *run) binary(op string, a, b any) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	for _, v := range []any{a, b} {
		if u, ok := v.(*Undefined); ok {
			return nil, u.fail()
		}
	}
	switch op {
	case "+":
		if v, ok, err := r.join(a, b); ok {
			return v, err
		}
	case "*":
		if v, ok, err := r.repeat(a, b); ok {
			return v, err
		}
	case "%":
		if s, ok := asText(a); ok {
			return r.printf(s, b)
		}
	}
	x, ok1 := integer(a)
	y, ok2 := integer(b)
	if ok1 && ok2 && op != "/" {
		return integers(op, x, y)
	}
	f, ok1 := float(a)
	g, ok2 := float(b)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%s does not go with %s and %s", op, typeName(a), typeName(b))
	}
	return floats(op, f, g)
}

// join adds texts and sequences; ok tells whether they are such.
func (r *run) join(a, b any) (v any, ok bool, err error) {
	x, ok1 := asText(a)
	y, ok2 := asText(b)
	if ok1 && ok2 {
		_, safeA := a.(safe)
		_, safeB := b.(safe)
		switch {
		case safeA && !safeB:
			v = safe(x + escape(y))
		case safeB && !safeA:
			v = safe(escape(x) + y)
		case safeA:
			v = safe(x + y)
		default:
			v = x + y
		}
		s, _ := asText(v)
		return v, true, r.grow(len(s))
	}
	l, ok1 := a.(*List)
	m, ok2 := b.(*List)
	if !ok1 || !ok2 || l.shape != m.shape || l.shape > aTuple {
		return nil, false, nil
	}
	items, err := r.items(len(l.items) + len(m.items))
	if err != nil {
		return nil, true, err
	}
	return &List{items: append(append(items, l.items...), m.items...), shape: l.shape}, true, nil
}

// items makes room for n items.
func (r *run) items(n int) ([]any, error) {
	if n > maxItems {
		return nil, errTooMuch
	}
	if err := errors.Join(r.step(n), r.grow(16*n)); err != nil {
		return nil, errTooMuch
	}
	return make([]any, 0, n), nil
}

// repeat is a text or sequence times a number; ok tells whether they are such.
func (r *run) repeat(a, b any) (v any, ok bool, err error) {
	n, ok := integer(b)
	if !ok {
		a, b = b, a
		if n, ok = integer(b); !ok {
			return nil, false, nil
		}
	}
	n = max(n, 0)
	switch a := a.(type) {
	case string:
		if hi, lo := bits.Mul64(uint64(n), uint64(len(a))); hi > 0 || lo > maxText {
			return nil, true, errTooMuch
		}
		s := strings.Repeat(a, int(n))
		return s, true, r.grow(len(s))
	case *List:
		if a.shape > aTuple {
			return nil, false, nil
		}
		if n > maxItems {
			return nil, true, errTooMuch
		}
		items, err := r.items(len(a.items) * int(n))
		if err != nil {
			return nil, true, err
		}
		for range n {
			items = append(items, a.items...)
		}
		return &List{items: items, shape: a.shape}, true, nil
	}
	return nil, false, nil
}

var errZero = errors.New("division by zero")

// integers computes with whole numbers, which Python rounds down.
func integers(op string, x, y int64) (any, error) {
	over := errors.New("a whole number beyond 64 bits")
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return s, nil
		}
		return nil, over
	case "-":
		if d := x - y; (d < x) == (y > 0) {
			return d, nil
		}
		return nil, over
	case "*":
		p := x * y
		if x != 0 && (p/x != y || x == -1 && y == math.MinInt64) {
			return nil, over
		}
		return p, nil
	case "//", "%":
		if y == 0 {
			return nil, errZero
		}
		q, m := x/y, x%y
		if m != 0 && (m < 0) != (y < 0) {
			q, m = q-1, m+y
		}
		if op == "%" {
			return m, nil
		}
		return q, nil
	}
	return power(x, y, over) // **
}

func power(x, y int64, over error) (any, error) {
	if y < 0 {
		if x == 0 {
			return nil, errZero
		}
		return math.Pow(float64(x), float64(y)), nil
	}
	if y > 64 && x != 0 && x != 1 && x != -1 {
		return nil, over
	}
	if x == -1 {
		y %= 2
	}
	p := int64(1)
	for range min(y, 64) {
		next, err := integers("*", p, x)
		if err != nil {
			return nil, err
		}
		p = next.(int64)
	}
	return p, nil
}

func floats(op string, f, g float64) (any, error) {
	switch op {
	case "+":
		return f + g, nil
	case "-":
		return f - g, nil
	case "*":
		return f * g, nil
	case "**":
		return math.Pow(f, g), nil
	}
	if g == 0 {
		return nil, errZero
	}
	switch op {
	case "/":
		return f / g, nil
	case "//":
		return math.Floor(f / g), nil
	}
	m := math.Mod(f, g)
	if m != 0 && (m < 0) != (g < 0) {
		m += g
	}
	return m, nil
}

// escape is markupsafe's.
func escape(s string) string { return html.EscapeString(s) }

// equal is Python's a == b.
func (r *run) equal(a, b any, depth int) (bool, error) {
	if err := r.step(1); err != nil {
		return false, err
	}
	if depth > maxValueNesting {
		return false, errTooMuch
	}
	if x, ok := asText(a); ok {
		y, ok := asText(b)
		return ok && x == y, r.look(x)
	}
	switch a := a.(type) {
	case nil:
		return b == nil, nil
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case *List:
		m, ok := b.(*List)
		if !ok || a.shape != m.shape || len(a.items) != len(m.items) {
			return false, nil
		}
		if a.shape == aGenerator {
			return a == m, nil
		}
		return r.equalLists(a, m, depth)
	case *Dict:
		m, ok := b.(*Dict)
		if !ok || len(a.keys) != len(m.keys) {
			return false, nil
		}
		for i, k := range a.keys {
			v, there := m.Get(k)
			if !there {
				return false, nil
			}
			if same, err := r.equal(a.values[i], v, depth+1); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	}
	x, ok1 := integer(a)
	y, ok2 := integer(b)
	if ok1 && ok2 {
		return x == y, nil
	}
	f, ok1 := float(a)
	g, ok2 := float(b)
	if ok1 || ok2 {
		return ok1 && ok2 && f == g, nil
	}
	return a == b, nil // pointers
}

func (r *run) equalLists(a, b *List, depth int) (bool, error) {
	for i, x := range a.items {
		if same, err := r.equal(x, b.items[i], depth+1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}
