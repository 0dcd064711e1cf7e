package jinja

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// path is what attribute= of a filter names: names and indices with dots.
func (r *run) path(v, attribute any) (any, error) {
	s, ok := asText(attribute)
	if !ok {
		return r.item(v, attribute)
	}
	for part := range strings.SplitSeq(s, ".") {
		var key any = part
		if n, err := strconv.ParseInt(part, 10, 64); err == nil && n >= 0 && part[0] != '+' {
			key = n
		}
		var err error
		if v, err = r.item(v, key); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// sortKey returns what values are sorted by.
func (r *run) sortKey(p *params, attribute any) func(any) (any, error) {
	sensitive := truth(p.value("case_sensitive", false))
	return func(v any) (any, error) {
		if attribute != nil {
			var err error
			if v, err = r.path(v, attribute); err != nil {
				return nil, err
			}
		}
		if s, ok := asText(v); ok && !sensitive {
			if err := r.look(s); err != nil {
				return nil, err
			}
			return lower(s), nil
		}
		return v, nil
	}
}

// sorted sorts by keys, stably.
func (r *run) sorted(items []any, key func(any) (any, error), reverse bool) ([]any, error) {
	type pair struct{ key, value any }
	list := make([]pair, len(items))
	for i, x := range items {
		k, err := key(x)
		if err != nil {
			return nil, err
		}
		list[i] = pair{k, x}
	}
	var failed error
	slices.SortStableFunc(list, func(a, b pair) int {
		c, err := r.order("<", a.key, b.key, 0)
		if err != nil {
			failed = err
		}
		if reverse {
			return -c
		}
		return c
	})
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = p.value
	}
	return out, failed
}

func sortFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("sort", args, named, "reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	a := p.value("attribute", nil)
	if s, ok := asText(a); ok && strings.Contains(s, ",") {
		return nil, fmt.Errorf("several attributes are not known")
	}
	out, err := r.sorted(items, r.sortKey(p, a), truth(p.value("reverse", false)))
	return NewList(out...), err
}

func dictSortFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("dictsort", args, named, "case_sensitive", "by", "reverse")
	if err != nil {
		return nil, err
	}
	by, err := p.text("by", "key")
	if err != nil || by != "key" && by != "value" {
		return nil, fmt.Errorf("by must be key or value")
	}
	d, ok := v.(*Dict)
	if !ok {
		return nil, fmt.Errorf("expected a mapping, found %s", typeName(v))
	}
	pairs, err := r.view(d, "items")
	if err != nil {
		return nil, err
	}
	at := int64(0)
	if by == "value" {
		at = 1
	}
	out, err := r.sorted(pairs.(*List).items, r.sortKey(p, at), truth(p.value("reverse", false)))
	return NewList(out...), err
}

func uniqueFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("unique", args, named, "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	key := r.sortKey(p, p.value("attribute", nil))
	seen := NewDict()
	var out []any
	for _, x := range items {
		k, err := key(x)
		if err != nil {
			return nil, err
		}
		if _, there := seen.Get(k); there {
			continue
		}
		if !seen.Set(k, true) {
			return nil, fmt.Errorf("a value of type %s cannot be a key", typeName(k))
		}
		out = append(out, x)
	}
	return generator(out), nil
}

func groupFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("groupby", args, named, "attribute", "default", "case_sensitive")
	if err != nil {
		return nil, err
	}
	if err := p.need("attribute"); err != nil || p.has("default") {
		return nil, fmt.Errorf("expected an attribute, and no default")
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	a := p.values["attribute"]
	key := r.sortKey(p, a)
	items, err = r.sorted(items, key, false)
	if err != nil {
		return nil, err
	}
	groups := NewList()
	var last any
	for i, x := range items {
		k, err := key(x)
		if err != nil {
			return nil, err
		}
		same := false
		if i > 0 {
			if same, err = r.equal(last, k, 0); err != nil {
				return nil, err
			}
		}
		if !same {
			title, err := r.path(x, a)
			if err != nil {
				return nil, err
			}
			groups.Append(tuple(title, NewList()))
			last = k
		}
		group := groups.items[len(groups.items)-1].(*List)
		group.items[1].(*List).Append(x)
	}
	return groups, nil
}

func itemsFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	switch v := v.(type) {
	case *Undefined:
		return generator(nil), nil
	case *Dict:
		pairs, err := r.view(v, "items")
		if err != nil {
			return nil, err
		}
		return generator(pairs.(*List).items), nil
	}
	return nil, fmt.Errorf("expected a mapping, found %s", typeName(v))
}

func listFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	out, err := r.items(len(items))
	return NewList(append(out, items...)...), err
}

func reverseFilter(r *run, v any, _ []any, _ *Dict) (any, error) {
	if s, ok := asText(v); ok {
		chars := []rune(s)
		slices.Reverse(chars)
		return r.made(string(chars))
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	out, err := r.items(len(items))
	out = append(out, items...)
	slices.Reverse(out)
	return generator(out), err
}

func endFilter(last bool) filterFunc {
	return func(r *run, v any, _ []any, _ *Dict) (any, error) {
		if l, ok := v.(*List); ok && l.shape == aGenerator && last {
			return nil, fmt.Errorf("a generator cannot be reversed")
		}
		if s, ok := asText(v); ok && s != "" {
			if last {
				return r.character(s, -1)
			}
			return r.character(s, 0)
		}
		items, err := r.iterate(v)
		switch {
		case err != nil:
			return nil, err
		case len(items) == 0:
			return &Undefined{what: "the first or last of nothing"}, nil
		case last:
			return items[len(items)-1], nil
		}
		return items[0], nil
	}
}

func joinFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("join", args, named, "d", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	between, err := r.show(p.value("d", ""))
	if err != nil {
		return nil, err
	}
	texts := NewList()
	for _, x := range items {
		if a := p.value("attribute", nil); a != nil {
			if x, err = r.path(x, a); err != nil {
				return nil, err
			}
		}
		s, err := r.show(x)
		if err != nil {
			return nil, err
		}
		texts.Append(s)
	}
	s, err := joinMethod(r, between, []any{texts}, nil)
	if err != nil {
		return nil, err
	}
	return r.made(s.(string))
}

func batchFilter(r *run, v any, args []any, named *Dict) (any, error) {
	p, err := take("batch", args, named, "linecount", "fill_with")
	if err != nil {
		return nil, err
	}
	n, err := p.whole("linecount", 0)
	if err != nil || n < 1 || n > maxItems {
		return nil, fmt.Errorf("expected a number of items in bounds")
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	var out []any
	for part := range slices.Chunk(items, int(n)) {
		row := NewList(slices.Clone(part)...)
		if fill := p.value("fill_with", nil); fill != nil {
			for len(row.items) < int(n) {
				row.Append(fill)
			}
		}
		out = append(out, row)
	}
	return generator(out), nil
}

func mapFilter(r *run, v any, args []any, named *Dict) (any, error) {
	if !truth(v) { // whatever it is
		return generator(nil), nil
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	var f func(any) (any, error)
	if len(args) > 0 {
		name, _ := asText(args[0])
		run := filterNamed(name)
		if run == nil {
			return nil, fmt.Errorf("the filter %.40q is not known", name)
		}
		f = func(x any) (any, error) { return run(r, x, args[1:], named) }
	} else {
		p, err := take("map", nil, named, "attribute", "default")
		if err == nil {
			err = p.need("attribute")
		}
		if err != nil {
			return nil, err
		}
		f = func(x any) (any, error) {
			x, err := r.path(x, p.values["attribute"])
			if _, undefined := x.(*Undefined); undefined && p.has("default") {
				return p.values["default"], err
			}
			return x, err
		}
	}
	out := make([]any, 0, len(items))
	for _, x := range items {
		y, err := f(x)
		if err != nil {
			return nil, err
		}
		out = append(out, y)
	}
	return generator(out), r.step(len(items))
}

// selectFilter keeps what passes a test, or what does not; of an attribute of
// each item or of the item.
func selectFilter(keep, ofAttribute bool) filterFunc {
	return func(r *run, v any, args []any, named *Dict) (any, error) {
		if !truth(v) { // whatever it is
			return generator(nil), nil
		}
		items, err := r.iterate(v)
		if err != nil {
			return nil, err
		}
		var attribute any
		if ofAttribute {
			if len(args) == 0 {
				return nil, fmt.Errorf("the attribute is missing")
			}
			attribute, args = args[0], args[1:]
		}
		check := func(_ *run, v any, _ []any) (bool, error) { return truth(v), nil }
		if len(args) > 0 {
			name, _ := asText(args[0])
			if check = testNamed(name); check == nil {
				return nil, fmt.Errorf("the test %.40q is not known", name)
			}
			args = args[1:]
		}
		var out []any
		for _, x := range items {
			y := x
			if ofAttribute {
				if y, err = r.path(x, attribute); err != nil {
					return nil, err
				}
			}
			ok, err := check(r, y, args)
			if err != nil {
				return nil, err
			}
			if ok == keep {
				out = append(out, x)
			}
		}
		return generator(out), r.step(len(items))
	}
}
