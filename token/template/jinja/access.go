package jinja

import "fmt"

func (n *attribute) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	return r.attribute(v, n.name)
}

func (n *item) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	key, err := n.key.eval(r, s)
	if err != nil {
		return nil, err
	}
	return r.item(v, key)
}

// attribute is v.name: an attribute in Python's sense, and where there is none
// the item of that name.
func (r *run) attribute(v any, name string) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if r.mutable {
		if m := mutator(v, name); m != nil {
			return m, nil
		}
	}
	if a, ok := attributeOf(v, name); ok {
		return a, nil
	}
	if d, ok := v.(*Dict); ok {
		if x, ok := d.Get(name); ok {
			return x, nil
		}
	}
	return missing(name), nil
}

// item is v[key]: an item, and where there is none the attribute of that name.
func (r *run) item(v, key any) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *Undefined:
		return nil, v.fail()
	case *Dict:
		if x, ok := v.Get(key); ok {
			return x, nil
		}
	case *List:
		if i, ok := integer(key); ok && v.shape <= aTuple {
			if i < 0 {
				i += int64(len(v.items))
			}
			if 0 <= i && i < int64(len(v.items)) {
				return v.items[i], nil
			}
			return missing("that index"), nil
		}
	case string, safe:
		if i, ok := integer(key); ok {
			s, _ := asText(v)
			return r.character(s, i)
		}
	}
	name, ok := asText(key)
	if !ok {
		return missing("that key"), nil
	}
	if a, ok := attributeOf(v, name); ok {
		return a, nil
	}
	return missing(name), nil
}

func missing(name string) *Undefined { return &Undefined{what: fmt.Sprintf("%.60q", name)} }

func (r *run) character(s string, i int64) (any, error) {
	if err := r.look(s); err != nil {
		return nil, err
	}
	if i < 0 {
		i += int64(runes(s))
	}
	if i >= 0 {
		for _, c := range s {
			if i == 0 {
				return string(c), nil
			}
			i--
		}
	}
	return missing("that index"), nil
}

// attributeOf is Python's getattr for the attributes that templates may use.
func attributeOf(v any, name string) (any, bool) {
	switch v := v.(type) {
	case *loopValue:
		return v.attribute(name)
	case *macroValue:
		return v.attribute(name)
	case *namespace:
		return v.attributes.Get(name)
	case *function:
		x, ok := v.attributes[name]
		return x, ok
	}
	return method(v, name)
}

func (n *slice) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	var bounds [3]any
	for i, e := range []expression{n.start, n.stop, n.step} {
		if e == nil {
			continue
		}
		if bounds[i], err = e.eval(r, s); err != nil {
			return nil, err
		}
	}
	return r.slice(v, bounds)
}

// slice is Python's v[start:stop:step].
func (r *run) slice(v any, bounds [3]any) (any, error) {
	var items []any
	isText := false
	switch v := v.(type) {
	case *Undefined:
		return nil, v.fail()
	case *List:
		if v.shape > aTuple {
			return nil, fmt.Errorf("a %s has no slices", typeName(v))
		}
		items = v.items
	case string, safe:
		isText = true
	default:
		return nil, fmt.Errorf("a value of type %s has no slices", typeName(v))
	}
	for i, b := range bounds {
		if b == nil {
			continue
		}
		n, ok := integer(b)
		if !ok {
			return nil, fmt.Errorf("expected whole numbers in a slice, found %s", typeName(b))
		}
		if i == 2 && n == 0 {
			return nil, fmt.Errorf("the step of a slice is 0")
		}
	}
	if isText {
		s, _ := asText(v)
		return r.sliceText(s, bounds)
	}
	from, to, step := indices(bounds, len(items))
	out, err := r.items(sliceLength(from, to, step))
	if err != nil {
		return nil, err
	}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out = append(out, items[i])
	}
	return &List{items: out, shape: v.(*List).shape}, nil
}

func (r *run) sliceText(s string, bounds [3]any) (any, error) {
	if err := r.look(s); err != nil {
		return nil, err
	}
	chars := []rune(s)
	from, to, step := indices(bounds, len(chars))
	if step == 1 {
		return r.made(string(chars[min(from, max(to, from)):max(to, from)]))
	}
	var out []rune
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out = append(out, chars[i])
	}
	return r.made(string(out))
}

func sliceLength(from, to, step int) int {
	if step > 0 {
		return max(0, (to-from+step-1)/step)
	}
	return max(0, (to-from+step+1)/step)
}

// indices is Python's slice.indices(n).
func indices(bounds [3]any, n int) (from, to, step int) {
	step = 1
	if s, ok := integer(bounds[2]); ok && bounds[2] != nil {
		step = int(max(min(s, 1<<40), -1<<40))
	}
	low, high := 0, n
	if step < 0 {
		low, high = -1, n-1
	}
	at := func(b any, missing int) int {
		i, ok := integer(b)
		if !ok {
			return missing
		}
		if i < 0 {
			i += int64(n)
		}
		return int(max(min(i, int64(high)), int64(low)))
	}
	if step > 0 {
		return at(bounds[0], low), at(bounds[1], high), step
	}
	return at(bounds[0], high), at(bounds[1], low), step
}
