package jinja

import "fmt"

// params takes a call's arguments apart by the names of its parameters: those
// that are not given are absent.
type params struct {
	what   string
	names  []string
	values map[string]any
}

// take fails where there are more arguments than names, or other ones.
func take(what string, args []any, named *Dict, names ...string) (*params, error) {
	p := &params{what: what, names: names, values: map[string]any{}}
	if len(args) > len(names) {
		return nil, fmt.Errorf("%s takes at most %d arguments", what, len(names))
	}
	for i, v := range args {
		p.values[names[i]] = v
	}
	if named == nil {
		return p, nil
	}
next:
	for i, k := range named.keys {
		for _, n := range names {
			if n == k {
				if _, twice := p.values[n]; twice {
					return nil, fmt.Errorf("%s got %s twice", what, n)
				}
				p.values[n] = named.values[i]
				continue next
			}
		}
		return nil, fmt.Errorf("%s takes no argument %.40v", what, k)
	}
	return p, nil
}

func (p *params) has(name string) bool { _, ok := p.values[name]; return ok }

// value returns an argument, or a default where it is absent.
func (p *params) value(name string, or any) any {
	if v, ok := p.values[name]; ok {
		return v
	}
	return or
}

// text returns a string.
func (p *params) text(name, or string) (string, error) {
	v, ok := p.values[name]
	if !ok {
		return or, nil
	}
	s, ok := asText(v)
	if !ok {
		return "", fmt.Errorf("%s: expected a string, found %s", p.what, typeName(v))
	}
	return s, nil
}

// whole returns a whole number; none counts as absent.
func (p *params) whole(name string, or int64) (int64, error) {
	v, ok := p.values[name]
	if !ok || v == nil {
		return or, nil
	}
	n, ok := integer(v)
	if !ok {
		return 0, fmt.Errorf("%s: expected a whole number, found %s", p.what, typeName(v))
	}
	return n, nil
}

// need fails where one of the arguments is absent.
func (p *params) need(names ...string) error {
	for _, n := range names {
		if !p.has(n) {
			return fmt.Errorf("%s: the argument %s is missing", p.what, n)
		}
	}
	return nil
}
