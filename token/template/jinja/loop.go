package jinja

import "errors"

// loopValue is the variable loop.
type loopValue struct {
	items []any
	index int // from 0
	depth int // from 0
	last  any // what changed was asked with
	asked bool
	again func(r *run, items any) (any, error) // nil: not recursive
}

func (n *loop) exec(r *run, s *scope, w *output) error {
	v, err := n.iter.eval(r, s)
	if err != nil {
		return err
	}
	return n.over(r, s, w, v, 0)
}

// over goes through the items of a value.
func (n *loop) over(r *run, s *scope, w *output, v any, depth int) error {
	items, err := n.items(r, s, v)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return execute(r, newScope(s), w, n.other)
	}
	l := &loopValue{items: items, depth: depth}
	if n.recursive {
		l.again = func(r *run, items any) (any, error) {
			back, err := r.enter()
			if err != nil {
				return nil, err
			}
			defer back()
			var inner output
			if err := n.over(r, s, &inner, items, depth+1); err != nil {
				return nil, err
			}
			return inner.String(), nil
		}
	}
	for i, x := range items {
		l.index = i
		inner := newScope(s)
		inner.set("loop", l)
		if err := n.target.assign(r, inner, x); err != nil {
			return err
		}
		err := execute(r, inner, w, n.body)
		if errors.Is(err, errBreak) {
			break
		}
		if err != nil && !errors.Is(err, errContinue) {
			return err
		}
	}
	return nil
}

// items are those that pass the loop's own test.
func (n *loop) items(r *run, s *scope, v any) ([]any, error) {
	all, err := r.iterate(v)
	if err != nil || n.test == nil {
		return all, err
	}
	var items []any
	for _, x := range all {
		inner := newScope(s)
		if err := n.target.assign(r, inner, x); err != nil {
			return nil, err
		}
		ok, err := n.test.eval(r, inner)
		if err != nil {
			return nil, err
		}
		if truth(ok) {
			items = append(items, x)
		}
	}
	return items, nil
}

func (l *loopValue) attribute(name string) (any, bool) {
	i, n := int64(l.index), int64(len(l.items))
	switch name {
	case "index":
		return i + 1, true
	case "index0":
		return i, true
	case "revindex":
		return n - i, true
	case "revindex0":
		return n - i - 1, true
	case "first":
		return i == 0, true
	case "last":
		return i == n-1, true
	case "length":
		return n, true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if i == 0 {
			return &Undefined{what: "there is no previous item"}, true
		}
		return l.items[i-1], true
	case "nextitem":
		if i == n-1 {
			return &Undefined{what: "there is no next item"}, true
		}
		return l.items[i+1], true
	case "cycle":
		return &function{name: name, call: l.cycle}, true
	case "changed":
		return &function{name: name, call: l.changed}, true
	}
	return nil, false
}

func (l *loopValue) cycle(_ *run, args []any, _ *Dict) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("cycle: no items for cycling given")
	}
	return args[l.index%len(args)], nil
}

func (l *loopValue) changed(r *run, args []any, _ *Dict) (any, error) {
	now := tuple(args...)
	same := false
	if l.asked {
		var err error
		if same, err = r.equal(l.last, now, 0); err != nil {
			return nil, err
		}
	}
	l.last, l.asked = now, true
	return !same, nil
}
