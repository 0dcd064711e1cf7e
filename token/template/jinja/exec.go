package jinja

import (
	"errors"
	"fmt"
)

func execute(r *run, s *scope, w *output, body []statement) error {
	for _, st := range body {
		if err := st.exec(r, s, w); err != nil {
			return err
		}
	}
	return nil
}

// exec adds the line to what goes wrong.
func (n *at) exec(r *run, s *scope, w *output) error {
	if err := r.step(1); err != nil {
		return &Error{Line: n.line, Msg: err.Error()}
	}
	err := n.statement.exec(r, s, w)
	return atLine(err, n.line)
}

// atLine gives an error a line, unless it has one or is none.
func atLine(err error, line int) error {
	if err == nil || err == errBreak || err == errContinue {
		return err
	}
	var raised *raise
	if errors.As(err, &raised) {
		return &Error{Line: line, Msg: raised.Error(), Raised: true}
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{Line: line, Msg: err.Error()}
}

func (n *text) exec(r *run, _ *scope, w *output) error { return w.add(r, n.text) }

func (n *print) exec(r *run, s *scope, w *output) error {
	for _, e := range n.expressions {
		v, err := e.eval(r, s)
		if err != nil {
			return err
		}
		text, err := r.show(v)
		if err != nil {
			return err
		}
		if err := w.add(r, text); err != nil {
			return err
		}
	}
	return nil
}

func (n *ifElse) exec(r *run, s *scope, w *output) error {
	for _, b := range n.branches {
		if b.test != nil {
			v, err := b.test.eval(r, s)
			if err != nil {
				return err
			}
			if !truth(v) {
				continue
			}
		}
		return execute(r, s, w, b.body)
	}
	return nil
}

func (n *jump) exec(*run, *scope, *output) error { return n.err }

// render gives the text of a body in a scope of its own.
func render(r *run, s *scope, body []statement) (string, error) {
	var w output
	err := execute(r, newScope(s), &w, body)
	return w.String(), err
}

func (n *scoped) exec(r *run, s *scope, w *output) error { return execute(r, newScope(s), w, n.body) }

func (n *assign) exec(r *run, s *scope, _ *output) error {
	v, err := n.value.eval(r, s)
	if err != nil {
		return err
	}
	return n.target.assign(r, s, v)
}

func (n *assignBlock) exec(r *run, s *scope, _ *output) error {
	text, err := render(r, s, n.body)
	if err != nil {
		return err
	}
	var v any = text
	if n.filter != nil {
		if v, err = n.filter.apply(r, s, text); err != nil {
			return err
		}
	}
	return n.target.assign(r, s, v)
}

func (n *filterBlock) exec(r *run, s *scope, w *output) error {
	text, err := render(r, s, n.body)
	if err != nil {
		return err
	}
	v, err := n.filter.apply(r, s, text)
	if err != nil {
		return err
	}
	if text, err = r.show(v); err != nil {
		return err
	}
	return w.add(r, text)
}

func (n *with) exec(r *run, s *scope, w *output) error {
	inner := newScope(s)
	for i, t := range n.targets {
		v, err := n.values[i].eval(r, s)
		if err != nil {
			return err
		}
		if err := t.assign(r, inner, v); err != nil {
			return err
		}
	}
	return execute(r, inner, w, n.body)
}

func (t *target) assign(r *run, s *scope, v any) error {
	switch {
	case t.parts != nil:
		return t.unpack(r, s, v)
	case t.attribute != "":
		n, _ := s.get(t.name)
		ns, ok := n.(*namespace)
		if !ok {
			return fmt.Errorf("%s is no namespace, so that %s cannot be set", t.name, t.attribute)
		}
		if t.attribute[0] == '_' {
			return fmt.Errorf("an attribute of a namespace must not begin with _")
		}
		ns.attributes.Set(t.attribute, v)
	default:
		s.set(t.name, v)
	}
	return nil
}

func (t *target) unpack(r *run, s *scope, v any) error {
	items, err := r.iterate(v)
	if err != nil {
		return err
	}
	if len(items) != len(t.parts) {
		return fmt.Errorf("expected %d values to unpack, found %d", len(t.parts), len(items))
	}
	for i := range t.parts {
		if err := t.parts[i].assign(r, s, items[i]); err != nil {
			return err
		}
	}
	return nil
}

// iterate gives what Python's iter(v) goes through.
func (r *run) iterate(v any) ([]any, error) {
	var items []any
	switch v := v.(type) {
	case *List:
		items = v.items
		if v.shape == aGenerator {
			v.items = nil // it can be gone through once
		}
	case *Dict:
		items = v.keys
	case string:
		return r.characters(v)
	case safe:
		return r.characters(string(v))
	case *Undefined:
		return nil, nil
	default:
		return nil, fmt.Errorf("a value of type %s cannot be gone through", typeName(v))
	}
	return items, r.step(len(items))
}

func (r *run) characters(s string) ([]any, error) {
	items, err := r.items(runes(s))
	if err != nil {
		return nil, err
	}
	for _, c := range s {
		items = append(items, string(c))
	}
	return items, nil
}
