package jinja

import (
	"errors"
	"fmt"
)

// maxRange is how long a range the sandbox makes.
const maxRange = 100_000

// globalFunctions are what a template can call without being given it.
func globalFunctions() map[string]any {
	return map[string]any{
		"range":     &function{name: "range", call: rangeFunction},
		"dict":      &function{name: "dict", call: dictFunction, attributes: map[string]any{"fromkeys": &function{name: "fromkeys", call: fromKeys}}},
		"namespace": &function{name: "namespace", call: namespaceFunction},
		"joiner":    &function{name: "joiner", call: joinerFunction},
		"cycler":    &function{name: "cycler", call: cyclerFunction},
		"raise_exception": &function{name: "raise_exception", call: func(r *run, args []any, named *Dict) (any, error) {
			p, err := take("raise_exception", args, named, "message")
			if err != nil {
				return nil, err
			}
			text, err := r.show(p.value("message", ""))
			if err != nil {
				return nil, err
			}
			return nil, &raise{fmt.Sprintf("the template refuses this conversation: %.200s", text)}
		}},
		"strftime_now": &function{name: "strftime_now", call: func(r *run, args []any, named *Dict) (any, error) {
			p, err := take("strftime_now", args, named, "format")
			if err != nil {
				return nil, err
			}
			layout, err := p.text("format", "")
			if err != nil {
				return nil, err
			}
			text, err := strftime(layout, r.now)
			if err != nil {
				return nil, err
			}
			return r.made(text)
		}},
	}
}

func rangeFunction(r *run, args []any, named *Dict) (any, error) {
	bounds := []int64{0, 0, 1}
	var n [3]int64
	if len(args) < 1 || len(args) > 3 || named.Len() > 0 {
		return nil, errors.New("range takes one to three arguments")
	}
	for i, a := range args {
		var ok bool
		if n[i], ok = integer(a); !ok {
			return nil, fmt.Errorf("range: expected whole numbers, found %s", typeName(a))
		}
	}
	switch len(args) {
	case 1:
		bounds[1] = n[0]
	case 3:
		bounds[2] = n[2]
		fallthrough
	case 2:
		bounds[0], bounds[1] = n[0], n[1]
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, errors.New("range: the step is 0")
	}
	const far = 1 << 40
	if max(from, to, step) > far || min(from, to, step) < -far || sliceLength(int(from), int(to), int(step)) > maxRange {
		return nil, fmt.Errorf("range: longer than %d", maxRange)
	}
	items, err := r.items(sliceLength(int(from), int(to), int(step)))
	if err != nil {
		return nil, err
	}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		items = append(items, i)
	}
	return &List{items: items}, nil
}

func dictFunction(r *run, args []any, named *Dict) (any, error) {
	d := NewDict()
	if len(args) > 1 {
		return nil, errors.New("dict takes one positional argument")
	}
	if len(args) == 1 {
		if m, ok := args[0].(*Dict); ok {
			d = m.Clone()
		} else if err := r.pairs(d, args[0]); err != nil {
			return nil, err
		}
	}
	for i, k := range named.keys {
		d.Set(k, named.values[i])
	}
	return d, r.step(d.Len())
}

// pairs sets the keys of a list of pairs.
func (r *run) pairs(d *Dict, v any) error {
	list, err := r.iterate(v)
	if err != nil {
		return err
	}
	for _, x := range list {
		pair, err := r.iterate(x)
		if err != nil {
			return err
		}
		if len(pair) != 2 || !d.Set(pair[0], pair[1]) {
			return errors.New("dict: expected pairs of a key and a value")
		}
	}
	return nil
}

func fromKeys(r *run, args []any, _ *Dict) (any, error) {
	p, err := take("fromkeys", args, nil, "keys", "value")
	if err != nil {
		return nil, err
	}
	keys, err := r.iterate(p.value("keys", nil))
	if err != nil {
		return nil, err
	}
	d := NewDict()
	for _, k := range keys {
		if !d.Set(k, p.value("value", nil)) {
			return nil, errors.New("fromkeys: a value that cannot be a key")
		}
	}
	return d, nil
}

func namespaceFunction(r *run, args []any, named *Dict) (any, error) {
	v, err := dictFunction(r, args, named)
	if err != nil {
		return nil, err
	}
	d := v.(*Dict)
	for _, k := range d.keys {
		if s, ok := k.(string); ok && s != "" && s[0] == '_' {
			return nil, errors.New("an attribute of a namespace must not begin with _")
		}
	}
	return &namespace{d}, nil
}

func joinerFunction(_ *run, args []any, named *Dict) (any, error) {
	p, err := take("joiner", args, named, "sep")
	if err != nil {
		return nil, err
	}
	used := false
	return &function{name: "joiner", call: func(*run, []any, *Dict) (any, error) {
		if !used {
			used = true
			return "", nil
		}
		return p.value("sep", ", "), nil
	}}, nil
}

func cyclerFunction(_ *run, args []any, _ *Dict) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("cycler: at least one item has to be provided")
	}
	at := 0
	f := &function{name: "cycler", attributes: map[string]any{"current": args[0]}}
	move := func(to int) {
		at = to % len(args)
		f.attributes["current"] = args[at]
	}
	f.attributes["next"] = &function{name: "next", call: func(*run, []any, *Dict) (any, error) {
		v := args[at]
		move(at + 1)
		return v, nil
	}}
	f.attributes["reset"] = &function{name: "reset", call: func(*run, []any, *Dict) (any, error) {
		move(0)
		return nil, nil
	}}
	return f, nil
}
