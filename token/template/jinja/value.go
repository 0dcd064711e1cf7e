package jinja

import (
	"math"
	"math/big"
)

// The values of a template are nil (none), bool, int64, *big.Int (integers
// beyond int64, which only print), float64, string, safe, *Undefined, *List,
// *Dict, and of this package's own: namespaces, macros, functions, loops.

// Undefined is the value of what is not there.
type Undefined struct {
	what string // how the template calls it
	// unsafe says that it is there, but not for a template to use.
	unsafe bool
}

// safe is text that the filters safe and escape made; adding to it escapes.
type safe string

// shape tells Python's sequences apart.
type shape uint8

const (
	aList shape = iota
	aTuple
	aGenerator // has no length
	aView      // of a mapping: has no index
)

// List is a list, or what else holds values in order.
type List struct {
	items []any
	shape shape
}

// NewList returns a list of values.
func NewList(items ...any) *List { return &List{items: items} }

func tuple(items ...any) *List { return &List{items: items, shape: aTuple} }

func generator(items []any) *List { return &List{items: items, shape: aGenerator} }

// Len returns the number of items.
func (l *List) Len() int { return len(l.items) }

// At returns item i.
func (l *List) At(i int) any { return l.items[i] }

// Append adds an item.
func (l *List) Append(v any) { l.items = append(l.items, v) }

// Dict is a mapping in the order in which keys were set.
type Dict struct {
	keys   []any
	values []any
	index  map[any]int
}

// NewDict returns an empty mapping.
func NewDict() *Dict { return &Dict{index: map[any]int{}} }

// hash gives what equal keys have in common, and whether v can be a key.
func hash(v any) (any, bool) {
	switch v := v.(type) {
	case nil, string, int64:
		return v, true
	case safe:
		return string(v), true
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
			return int64(v), true
		}
		return v, true
	case *big.Int:
		return "\x00int " + v.String(), true
	case *List:
		if v.shape != aTuple {
			return nil, false
		}
		return hashTuple(v)
	}
	return v, !isMapping(v)
}

func isMapping(v any) bool { _, ok := v.(*Dict); return ok }

func hashTuple(l *List) (any, bool) {
	key := "\x00tuple"
	for _, x := range l.items {
		switch x.(type) {
		case nil, bool, int64, float64, string:
			key += "\x00" + repr(x)
		default:
			return nil, false
		}
	}
	return key, true
}

// Set sets a key; it reports whether the key can be one.
func (d *Dict) Set(key, value any) bool {
	h, ok := hash(key)
	if !ok {
		return false
	}
	if i, there := d.index[h]; there {
		d.values[i] = value
		return true
	}
	d.index[h] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
	return true
}

// Get returns a key's value.
func (d *Dict) Get(key any) (any, bool) {
	h, ok := hash(key)
	if !ok {
		return nil, false
	}
	i, ok := d.index[h]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// Len returns the number of keys.
func (d *Dict) Len() int { return len(d.keys) }

// Key returns key i and its value, in order.
func (d *Dict) Key(i int) (key, value any) { return d.keys[i], d.values[i] }

// Clone returns a mapping of its own with the same values.
func (d *Dict) Clone() *Dict {
	c := NewDict()
	for i, k := range d.keys {
		c.Set(k, d.values[i])
	}
	return c
}

// namespace is what namespace() makes: attributes that can be set.
type namespace struct{ attributes *Dict }

// function is something that can be called.
type function struct {
	name string
	call func(r *run, args []any, named *Dict) (any, error)
	// recall, where set, is called instead and knows the line of the call.
	attributes map[string]any
}

// truth is Python's bool(v).
func truth(v any) bool {
	switch v := v.(type) {
	case nil, *Undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case safe:
		return v != ""
	case *List:
		return v.shape == aGenerator || len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// typeName is Python's name of a value's type, for errors.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string, safe:
		return "str"
	case *Undefined:
		return "Undefined"
	case *List:
		return [...]string{"list", "tuple", "generator", "view"}[v.shape]
	case *Dict:
		return "dict"
	case *namespace:
		return "Namespace"
	}
	return "function"
}

// text returns a value that is a string.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case safe:
		return string(v), true
	}
	return "", false
}

// integer returns what Python takes for an index.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return v, true
	}
	return 0, false
}

// float returns a number as a float.
func float(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	if b, ok := v.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(b).Float64()
		return f, true
	}
	n, ok := integer(v)
	return float64(n), ok
}
