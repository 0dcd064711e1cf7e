package jinja

import (
	"errors"
	"fmt"
	"slices"
)

// mutator returns a method that changes a list or a mapping, where such may be
// used ([Options].Mutable); nil: it is none of those known.
func mutator(v any, name string) *function {
	var call func(r *run, args []any, named *Dict) (any, error)
	switch v := v.(type) {
	case *List:
		if v.shape == aList {
			call = listMutators[name].bind(v)
		}
	case *Dict:
		call = dictMutators[name].bind(v)
	}
	if call == nil {
		return nil
	}
	return &function{name: name, call: call}
}

type listMutator func(r *run, l *List, args []any) (any, error)

func (m listMutator) bind(l *List) func(*run, []any, *Dict) (any, error) {
	if m == nil {
		return nil
	}
	return func(r *run, args []any, _ *Dict) (any, error) {
		if len(l.items) >= maxItems {
			return nil, errTooMuch
		}
		if err := errors.Join(r.step(1), r.grow(16)); err != nil {
			return nil, errTooMuch
		}
		return m(r, l, args)
	}
}

var errArguments = errors.New("a wrong number of arguments")

var listMutators = map[string]listMutator{
	"append": func(_ *run, l *List, args []any) (any, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		l.items = append(l.items, args[0])
		return nil, nil
	},
	"extend": func(r *run, l *List, args []any) (any, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		more, err := r.iterate(args[0])
		if err != nil || len(l.items)+len(more) > maxItems {
			return nil, errTooMuch
		}
		l.items = append(l.items, more...)
		return nil, r.grow(16 * len(more))
	},
	"insert": func(r *run, l *List, args []any) (any, error) {
		if len(args) != 2 {
			return nil, errArguments
		}
		i, ok := integer(args[0])
		if !ok {
			return nil, fmt.Errorf("insert: expected an index, found %s", typeName(args[0]))
		}
		at, _, _ := indices([3]any{i, nil, nil}, len(l.items))
		l.items = slices.Insert(l.items, at, args[1])
		return nil, r.step(len(l.items))
	},
	"pop": func(r *run, l *List, args []any) (any, error) {
		at := int64(len(l.items)) - 1
		if len(args) > 0 {
			i, ok := integer(args[0])
			if !ok {
				return nil, errArguments
			}
			if at = i; i < 0 {
				at += int64(len(l.items))
			}
		}
		if at < 0 || at >= int64(len(l.items)) {
			return nil, errors.New("pop: there is no such item")
		}
		x := l.items[at]
		l.items = slices.Delete(slices.Clone(l.items), int(at), int(at)+1)
		return x, errors.Join(r.step(len(l.items)), r.grow(16*len(l.items)))
	},
}

type dictMutator func(r *run, d *Dict, args []any) (any, error)

func (m dictMutator) bind(d *Dict) func(*run, []any, *Dict) (any, error) {
	if m == nil {
		return nil
	}
	return func(r *run, args []any, _ *Dict) (any, error) {
		if err := errors.Join(r.step(1+d.Len()), r.grow(64)); err != nil {
			return nil, errTooMuch
		}
		return m(r, d, args)
	}
}

var dictMutators = map[string]dictMutator{
	"update": func(r *run, d *Dict, args []any) (any, error) {
		if len(args) != 1 {
			return nil, errArguments
		}
		more, ok := args[0].(*Dict)
		if !ok {
			return nil, fmt.Errorf("update: expected a mapping, found %s", typeName(args[0]))
		}
		for i, k := range more.keys {
			d.Set(k, more.values[i])
		}
		return nil, r.grow(64 * more.Len())
	},
	"pop": func(_ *run, d *Dict, args []any) (any, error) {
		if len(args) < 1 || len(args) > 2 {
			return nil, errArguments
		}
		v, ok := d.Get(args[0])
		switch {
		case !ok && len(args) == 2:
			return args[1], nil
		case !ok:
			return nil, errors.New("pop: there is no such key")
		}
		rest := NewDict()
		gone, _ := hash(args[0])
		for i, k := range d.keys {
			if h, _ := hash(k); h != gone {
				rest.Set(k, d.values[i])
			}
		}
		*d = *rest
		return v, nil
	},
	"setdefault": func(_ *run, d *Dict, args []any) (any, error) {
		if len(args) < 1 || len(args) > 2 {
			return nil, errArguments
		}
		if v, ok := d.Get(args[0]); ok {
			return v, nil
		}
		v := append(args, nil)[1]
		if !d.Set(args[0], v) {
			return nil, errors.New("setdefault: a value that cannot be a key")
		}
		return v, nil
	},
}
