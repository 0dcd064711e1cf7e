package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// compare is Python's a op b for comparisons.
func (r *run) compare(op string, a, b any) (bool, error) {
	switch op {
	case "==":
		return r.equal(a, b, 0)
	case "!=":
		same, err := r.equal(a, b, 0)
		return !same, err
	case "in":
		return r.contains(b, a)
	case "not in":
		in, err := r.contains(b, a)
		return !in, err
	}
	c, err := r.order(op, a, b, 0)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0 && c != unordered, nil
	}
	return c >= 0 && c != unordered, nil
}

// unordered is what comparing with NaN comes to.
const unordered = 2

// order compares values that have an order.
func (r *run) order(op string, a, b any, depth int) (int, error) {
	if err := r.step(1); err != nil {
		return 0, err
	}
	if depth > maxValueNesting {
		return 0, errTooMuch
	}
	for _, v := range []any{a, b} {
		if u, ok := v.(*Undefined); ok {
			return 0, u.fail()
		}
	}
	x, ok1 := asText(a)
	y, ok2 := asText(b)
	if ok1 && ok2 {
		return strings.Compare(x, y), r.look(x) // UTF-8 sorts as code points do
	}
	i, ok1 := integer(a)
	j, ok2 := integer(b)
	if ok1 && ok2 {
		return compareNumbers(i, j), nil
	}
	f, ok1 := float(a)
	g, ok2 := float(b)
	if ok1 && ok2 {
		return compareNumbers(f, g), nil
	}
	l, ok1 := a.(*List)
	m, ok2 := b.(*List)
	if ok1 && ok2 && l.shape == m.shape && l.shape <= aTuple {
		for k := range min(len(l.items), len(m.items)) {
			same, err := r.equal(l.items[k], m.items[k], depth+1)
			if err != nil {
				return 0, err
			}
			if !same {
				return r.order(op, l.items[k], m.items[k], depth+1)
			}
		}
		return compareNumbers(int64(len(l.items)), int64(len(m.items))), nil
	}
	return 0, fmt.Errorf("%s does not go with %s and %s", op, typeName(a), typeName(b))
}

func compareNumbers[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return unordered
}

// contains is Python's x in v.
func (r *run) contains(v, x any) (bool, error) {
	switch v := v.(type) {
	case string:
		return r.containsText(v, x)
	case safe:
		return r.containsText(string(v), x)
	case *Dict:
		if _, ok := hash(x); !ok {
			return false, fmt.Errorf("a value of type %s cannot be a key", typeName(x))
		}
		_, ok := v.Get(x)
		return ok, nil
	case *List:
		for _, item := range v.items {
			if same, err := r.equal(item, x, 0); err != nil || same {
				return same, err
			}
		}
		return false, nil
	case *Undefined:
		return false, nil
	}
	return false, fmt.Errorf("in does not go with %s", typeName(v))
}

func (r *run) containsText(s string, x any) (bool, error) {
	part, ok := asText(x)
	if !ok {
		return false, fmt.Errorf("only a string can be in a string, not %s", typeName(x))
	}
	return strings.Contains(s, part), r.look(s)
}

// sortBy sorts by keys that have an order.
func sortBy[T any](list []T, key func(T) any) error {
	var failed error
	r := &run{steps: 1 << 40, bytes: 1 << 40}
	slices.SortStableFunc(list, func(a, b T) int {
		c, err := r.order("<", key(a), key(b), 0)
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	return failed
}
