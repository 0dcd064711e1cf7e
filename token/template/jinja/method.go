package jinja

import (
	"fmt"
)

// method returns what Python finds as v.name for texts and containers.
func method(v any, name string) (any, bool) {
	switch v := v.(type) {
	case string:
		return textMethod(v, name)
	case safe:
		return textMethod(string(v), name)
	case *Dict:
		return dictMethod(v, name)
	case *List:
		return listMethod(v, name)
	}
	return nil, false
}

// forbidden is what there is but a template may not use.
func forbidden(name string) (any, bool) {
	return &Undefined{what: fmt.Sprintf("the method %s, which changes a value,", name), unsafe: true}, true
}

func dictMethod(d *Dict, name string) (any, bool) {
	var call func(r *run, args []any, named *Dict) (any, error)
	switch name {
	case "clear", "pop", "popitem", "setdefault", "update":
		return forbidden(name)
	case "fromkeys":
		return &function{name: name, call: fromKeys}, true
	case "get":
		call = func(_ *run, args []any, named *Dict) (any, error) {
			p, err := take(name, args, nil, "key", "default")
			if err != nil || named.Len() > 0 {
				return nil, fmt.Errorf("get takes one or two positional arguments")
			}
			if err := p.need("key"); err != nil {
				return nil, err
			}
			if _, ok := hash(p.values["key"]); !ok {
				return nil, fmt.Errorf("get: a value of type %s cannot be a key", typeName(p.values["key"]))
			}
			if x, ok := d.Get(p.values["key"]); ok {
				return x, nil
			}
			return p.value("default", nil), nil
		}
	case "keys", "values", "items":
		call = func(r *run, args []any, _ *Dict) (any, error) {
			if len(args) > 0 {
				return nil, fmt.Errorf("%s takes no arguments", name)
			}
			return r.view(d, name)
		}
	case "copy":
		call = func(r *run, _ []any, _ *Dict) (any, error) { return d.Clone(), r.step(d.Len()) }
	default:
		return nil, false
	}
	return &function{name: name, call: call}, true
}

// view is keys(), values() or items() of a mapping.
func (r *run) view(d *Dict, name string) (any, error) {
	items, err := r.items(d.Len())
	if err != nil {
		return nil, err
	}
	for i, k := range d.keys {
		switch name {
		case "keys":
			items = append(items, k)
		case "values":
			items = append(items, d.values[i])
		default:
			items = append(items, tuple(k, d.values[i]))
		}
	}
	return &List{items: items, shape: aView}, nil
}

func listMethod(l *List, name string) (any, bool) {
	if l.shape > aTuple {
		return nil, false
	}
	var call func(r *run, args []any, named *Dict) (any, error)
	switch name {
	case "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort":
		if l.shape == aTuple {
			return nil, false
		}
		return forbidden(name)
	case "copy":
		call = func(r *run, _ []any, _ *Dict) (any, error) {
			return NewList(append([]any(nil), l.items...)...), r.step(l.Len())
		}
	case "count", "index":
		call = func(r *run, args []any, _ *Dict) (any, error) {
			if len(args) != 1 {
				return nil, fmt.Errorf("%s takes one argument here", name)
			}
			n := int64(0)
			for i, x := range l.items {
				same, err := r.equal(x, args[0], 0)
				if err != nil {
					return nil, err
				}
				if same && name == "index" {
					return int64(i), nil
				}
				if same {
					n++
				}
			}
			if name == "index" {
				return nil, fmt.Errorf("index: the value is not in the list")
			}
			return n, nil
		}
	default:
		return nil, false
	}
	return &function{name: name, call: call}, true
}
