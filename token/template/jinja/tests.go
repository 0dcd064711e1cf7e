package jinja

import (
	"fmt"
	"math/big"
)

type testFunc = func(r *run, v any, args []any) (bool, error)

// testNamed returns a test, or nil.
func testNamed(name string) testFunc {
	if op, ok := map[string]string{"eq": "==", "equalto": "==", "ne": "!=", "lt": "<", "lessthan": "<", "le": "<=", "gt": ">",
		"greaterthan": ">", "ge": ">=", "in": "in", "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}[name]; ok {
		return func(r *run, v any, args []any) (bool, error) {
			if len(args) != 1 {
				return false, fmt.Errorf("the test %s takes one argument", name)
			}
			return r.compare(op, v, args[0])
		}
	}
	if f := typeTest(name); f != nil {
		return func(_ *run, v any, args []any) (bool, error) {
			if len(args) > 0 {
				return false, fmt.Errorf("the test %s takes no argument", name)
			}
			return f(v), nil
		}
	}
	switch name {
	case "divisibleby":
		return func(r *run, v any, args []any) (bool, error) { return remainder(r, v, args, 0) }
	case "even", "odd":
		return func(r *run, v any, _ []any) (bool, error) {
			return remainder(r, v, []any{int64(2)}, map[string]int64{"even": 0, "odd": 1}[name])
		}
	case "filter", "test":
		return func(_ *run, v any, _ []any) (bool, error) {
			s, _ := asText(v)
			return name == "filter" && filterNamed(s) != nil || name == "test" && testNamed(s) != nil, nil
		}
	case "lower", "upper":
		return func(r *run, v any, _ []any) (bool, error) {
			s, err := r.show(v)
			if err != nil {
				return false, err
			}
			is, err := textMethods["is"+name](r, s, nil, NewDict())
			return is == true, err
		}
	case "sameas":
		return sameAs
	}
	return nil
}

func remainder(r *run, v any, args []any, want int64) (bool, error) {
	if len(args) != 1 {
		return false, fmt.Errorf("the test divisibleby takes one argument")
	}
	m, err := r.binary("%", v, args[0])
	if err != nil {
		return false, err
	}
	return r.equal(m, want, 0)
}

func sameAs(_ *run, v any, args []any) (bool, error) {
	if len(args) != 1 {
		return false, fmt.Errorf("the test sameas takes one argument")
	}
	if typeName(v) != typeName(args[0]) {
		return false, nil
	}
	return v == args[0], nil // all values are comparable: containers are pointers
}

// typeTest returns a test that only looks at what a value is, or nil.
func typeTest(name string) func(any) bool {
	switch name {
	case "defined":
		return func(v any) bool { _, u := v.(*Undefined); return !u }
	case "undefined":
		return func(v any) bool { _, u := v.(*Undefined); return u }
	case "none":
		return func(v any) bool { return v == nil }
	case "boolean":
		return func(v any) bool { _, ok := v.(bool); return ok }
	case "true":
		return func(v any) bool { return v == true }
	case "false":
		return func(v any) bool { return v == false }
	case "integer":
		return isInteger
	case "float":
		return func(v any) bool { _, ok := v.(float64); return ok }
	case "number":
		return func(v any) bool { _, ok := float(v); return ok }
	case "string":
		return func(v any) bool { _, ok := asText(v); return ok }
	case "escaped":
		return func(v any) bool { _, ok := v.(safe); return ok }
	case "mapping":
		return isMapping
	case "callable":
		return func(v any) bool {
			switch v.(type) {
			case *function, *macroValue, *loopValue, *Undefined:
				return true
			}
			return false
		}
	case "iterable":
		return func(v any) bool { return isContainer(v, true) }
	case "sequence":
		return func(v any) bool { return isContainer(v, false) }
	}
	return nil
}

func isInteger(v any) bool {
	switch v.(type) {
	case int64, *big.Int:
		return true
	}
	return false
}

// isContainer tells whether a value can be gone through, and with views and
// generators left out whether it has a length and items.
func isContainer(v any, all bool) bool {
	switch v := v.(type) {
	case string, safe, *Dict, *Undefined:
		return true
	case *List:
		return all || v.shape <= aTuple
	case *loopValue:
		return all
	}
	return false
}
