package jinja

import (
	"fmt"
	"slices"
)

// macroValue is a macro with the scope that it was made in.
type macroValue struct {
	macro *macro
	scope *scope
}

func (n *macro) exec(_ *run, s *scope, _ *output) error {
	s.set(n.name, &macroValue{n, s})
	return nil
}

func (n *callBlock) exec(r *run, s *scope, w *output) error {
	c := n.call.(*call)
	v, err := c.with(r, s, &macroValue{n.macro, s})
	if err != nil {
		return err
	}
	text, err := r.show(v)
	if err != nil {
		return err
	}
	return w.add(r, text)
}

// invoke calls a macro.
func (m *macroValue) invoke(r *run, args []any, named *Dict) (any, error) {
	back, err := r.enter()
	if err != nil {
		return nil, err
	}
	defer back()
	s := newScope(m.scope)
	if err := m.bind(r, s, args, named); err != nil {
		return nil, err
	}
	var w output
	if err := execute(r, s, &w, m.macro.body); err != nil {
		return nil, err
	}
	return w.String(), nil
}

// bind gives parameters their values.
func (m *macroValue) bind(r *run, s *scope, args []any, named *Dict) error {
	n := m.macro
	rest := NewDict()
	for i, k := range named.keys {
		name := k.(string)
		switch at := slices.Index(n.params, name); {
		case at >= 0 && at < len(args):
			return fmt.Errorf("macro %s got %s twice", n.name, name)
		case at >= 0 || name == "caller" && n.caller:
			s.set(name, named.values[i])
		case !n.kwargs:
			return fmt.Errorf("macro %s takes no argument %s", n.name, name)
		default:
			rest.Set(name, named.values[i])
		}
	}
	for i, name := range n.params {
		if i < len(args) {
			s.set(name, args[i])
			continue
		}
		if _, given := s.variables[name]; given {
			continue
		}
		var v any = &Undefined{what: fmt.Sprintf("the argument %s of macro %s", name, n.name)}
		if d := i - (len(n.params) - len(n.defaults)); d >= 0 {
			var err error
			if v, err = n.defaults[d].eval(r, s); err != nil {
				return err
			}
		}
		s.set(name, v)
	}
	more := args[min(len(args), len(n.params)):]
	if len(more) > 0 && !n.varargs {
		return fmt.Errorf("macro %s takes at most %d arguments", n.name, len(n.params))
	}
	if n.varargs {
		s.set("varargs", tuple(more...))
	}
	if n.kwargs {
		s.set("kwargs", rest)
	}
	if _, given := s.variables["caller"]; !given && n.caller {
		s.set("caller", &Undefined{what: "caller"})
	}
	return nil
}

func (m *macroValue) attribute(name string) (any, bool) {
	switch name {
	case "name":
		return m.macro.name, true
	case "arguments":
		t := tuple()
		for _, p := range m.macro.params {
			t.Append(p)
		}
		return t, true
	case "caller":
		return m.macro.caller, true
	case "catch_varargs":
		return m.macro.varargs, true
	case "catch_kwargs":
		return m.macro.kwargs, true
	}
	return nil, false
}

func (n *call) eval(r *run, s *scope) (any, error) { return n.with(r, s, nil) }

// with calls with a body as caller; nil: none.
func (n *call) with(r *run, s *scope, caller *macroValue) (any, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	f, err := n.of.eval(r, s)
	if err != nil {
		return nil, err
	}
	args, named, err := n.args.eval(r, s)
	if err != nil {
		return nil, err
	}
	if caller != nil {
		named.Set("caller", caller)
	}
	v, err := r.call(f, args, named)
	if fn, ok := f.(*function); ok && fn.name == "raise_exception" && err != nil && !n.plain() {
		// What the text is made of may be a part of the conversation.
		err = &raise{"the template refuses this conversation (its words may quote it and are not shown)"}
	}
	return v, atLine(err, n.line)
}

// plain tells whether the arguments are the template's own words.
func (n *call) plain() bool {
	if len(n.args.positional) != 1 {
		return false
	}
	_, ok := n.args.positional[0].(*constant)
	return ok
}

// call is Python's f(*args, **named).
func (r *run) call(f any, args []any, named *Dict) (any, error) {
	switch f := f.(type) {
	case *function:
		if f.call == nil {
			return nil, fmt.Errorf("%s cannot be called by a template", f.name)
		}
		return f.call(r, args, named)
	case *macroValue:
		return f.invoke(r, args, named)
	case *loopValue:
		if f.again == nil || len(args) != 1 {
			return nil, fmt.Errorf("the loop is not recursive")
		}
		return f.again(r, args[0])
	case *Undefined:
		return nil, f.fail()
	}
	return nil, fmt.Errorf("a value of type %s cannot be called", typeName(f))
}

// raise is what a template raises.
type raise struct{ text string }

func (e *raise) Error() string { return e.text }

func (a *arguments) eval(r *run, s *scope) ([]any, *Dict, error) {
	var args []any
	named := NewDict()
	for _, e := range a.positional {
		v, err := e.eval(r, s)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, v)
	}
	for i, e := range a.named {
		v, err := e.eval(r, s)
		if err != nil {
			return nil, nil, err
		}
		if _, twice := named.Get(a.names[i]); twice {
			return nil, nil, fmt.Errorf("the argument %s is given twice", a.names[i])
		}
		named.Set(a.names[i], v)
	}
	if a.list != nil {
		v, err := a.list.eval(r, s)
		if err != nil {
			return nil, nil, err
		}
		items, err := r.iterate(v)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, items...)
	}
	if a.dict != nil {
		v, err := a.dict.eval(r, s)
		if err != nil {
			return nil, nil, err
		}
		d, ok := v.(*Dict)
		if !ok {
			return nil, nil, fmt.Errorf("expected a mapping behind **")
		}
		for i, k := range d.keys {
			if _, ok := k.(string); !ok {
				return nil, nil, fmt.Errorf("a name of an argument must be a string")
			}
			named.Set(k, d.values[i])
		}
	}
	return args, named, nil
}
