package jinja

import (
	"fmt"
	"strings"
)

// fail says what using an undefined value came to.
func (u *Undefined) fail() error {
	if u.unsafe {
		return fmt.Errorf("%s cannot be used by a template", u.what)
	}
	return fmt.Errorf("%s is undefined", u.what)
}

func (n *constant) eval(*run, *scope) (any, error) { return n.value, nil }

func (n *name) eval(r *run, s *scope) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	if v, ok := s.get(n.name); ok {
		return v, nil
	}
	return &Undefined{what: fmt.Sprintf("%.60q", n.name)}, nil
}

func evaluate(r *run, s *scope, list []expression) ([]any, error) {
	if err := r.step(len(list)); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, e := range list {
		var err error
		if out[i], err = e.eval(r, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (n *listOf) eval(r *run, s *scope) (any, error) {
	items, err := evaluate(r, s, n.items)
	return NewList(items...), err
}

func (n *tupleOf) eval(r *run, s *scope) (any, error) {
	items, err := evaluate(r, s, n.items)
	return tuple(items...), err
}

func (n *dictOf) eval(r *run, s *scope) (any, error) {
	d := NewDict()
	for i, k := range n.keys {
		key, err := k.eval(r, s)
		if err != nil {
			return nil, err
		}
		v, err := n.values[i].eval(r, s)
		if err != nil {
			return nil, err
		}
		if !d.Set(key, v) {
			return nil, fmt.Errorf("a value of type %s cannot be a key", typeName(key))
		}
	}
	return d, r.step(len(n.keys))
}

func (n *logical) eval(r *run, s *scope) (any, error) {
	v, err := n.left.eval(r, s)
	if err != nil || truth(v) == n.or {
		return v, err
	}
	return n.right.eval(r, s)
}

func (n *conditional) eval(r *run, s *scope) (any, error) {
	v, err := n.test.eval(r, s)
	if err != nil {
		return nil, err
	}
	switch {
	case truth(v):
		return n.then.eval(r, s)
	case n.other == nil:
		return &Undefined{what: "a condition without else"}, nil
	}
	return n.other.eval(r, s)
}

func (n *concat) eval(r *run, s *scope) (any, error) {
	var b strings.Builder
	for _, e := range n.parts {
		v, err := e.eval(r, s)
		if err != nil {
			return nil, err
		}
		text, err := r.show(v)
		if err != nil {
			return nil, err
		}
		if err := r.grow(len(text)); err != nil || b.Len()+len(text) > maxText {
			return nil, errTooMuch
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (n *unary) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	if n.op == "not" {
		return !truth(v), nil
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	sign := int64(1)
	if n.op == "-" {
		sign = -1
	}
	if i, ok := integer(v); ok {
		return sign * i, nil
	}
	if f, ok := v.(float64); ok {
		return float64(sign) * f, nil
	}
	return nil, fmt.Errorf("bad operand for unary %s: %s", n.op, typeName(v))
}

func (n *compare) eval(r *run, s *scope) (any, error) {
	left, err := n.first.eval(r, s)
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := n.rest[i].eval(r, s)
		if err != nil {
			return nil, err
		}
		ok, err := r.compare(op, left, right)
		if err != nil || !ok {
			return false, err
		}
		left = right
	}
	return true, nil
}

func (n *test) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	args, _, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	ok, err := n.run(r, v, args)
	return ok, err
}

func (n *filter) eval(r *run, s *scope) (any, error) {
	v, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	return n.filtered(r, s, v)
}

// apply filters the text of a block, by the filters in front of this one first.
func (n *filter) apply(r *run, s *scope, v any) (any, error) {
	if before, ok := n.of.(*filter); ok {
		var err error
		if v, err = before.apply(r, s, v); err != nil {
			return nil, err
		}
	}
	return n.filtered(r, s, v)
}

func (n *filter) filtered(r *run, s *scope, v any) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	args, named, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	out, err := n.run(r, v, args, named)
	if err != nil {
		err = fmt.Errorf("filter %s: %w", n.name, err)
	}
	return out, atLine(err, n.line)
}

func (n *binary) eval(r *run, s *scope) (any, error) {
	a, err := n.left.eval(r, s)
	if err != nil {
		return nil, err
	}
	b, err := n.right.eval(r, s)
	if err != nil {
		return nil, err
	}
	v, err := r.binary(n.op, a, b)
	return v, atLine(err, n.line)
}
