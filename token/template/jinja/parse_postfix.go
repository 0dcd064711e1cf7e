package jinja

import (
	"errors"
	"fmt"
	"strconv"
)

// postfix parses attributes, items and calls behind an expression.
func (p *parser) postfix(e expression) (expression, error) {
	var err error
	for err == nil {
		switch {
		case p.op("."):
			e, err = p.attribute(e)
		case p.op("["):
			e, err = p.subscript(e)
		case p.op("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

// behind parses filters and tests behind an expression.
func (p *parser) behind(e expression) (expression, error) {
	var err error
	for err == nil {
		switch {
		case p.op("|"):
			e, err = p.filters(e, true)
		case p.word("is"):
			e, err = p.test(e)
		case p.op("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) attribute(e expression) (expression, error) {
	p.next()
	switch t := p.next(); t.kind {
	case tName:
		return &attribute{e, t.text}, nil
	case tInteger:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			return nil, p.fail("expected an index")
		}
		return &item{e, &constant{n}}, nil
	}
	return nil, p.fail("expected a name or a number behind a dot")
}

func (p *parser) subscript(e expression) (expression, error) {
	p.next()
	var list []expression
	for !p.op("]") {
		if len(list) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return nil, err
			}
		}
		s, err := p.subscribed(e)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	p.next()
	if len(list) == 1 {
		if s, ok := list[0].(*slice); ok && s.of == e {
			return s, nil
		}
		return &item{e, list[0]}, nil
	}
	for _, x := range list {
		if s, ok := x.(*slice); ok && s.of == e {
			return nil, p.fail("slices in several dimensions are not known")
		}
	}
	return &item{e, &tupleOf{list}}, nil
}

// subscribed parses what stands in brackets: a key, or a slice of e.
func (p *parser) subscribed(e expression) (expression, error) {
	s := &slice{of: e}
	if !p.op(":") {
		k, err := p.expression(true)
		if err != nil || !p.op(":") {
			return k, err
		}
		s.start = k
	}
	for _, part := range []*expression{&s.stop, &s.step} {
		if !p.skip(tOperator, ":") {
			break
		}
		if p.op(":") || p.op("]") || p.op(",") {
			continue
		}
		var err error
		if *part, err = p.expression(true); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *parser) call(e expression) (expression, error) {
	n := &call{of: e, line: p.line()}
	var err error
	n.args, err = p.arguments()
	return n, err
}

// arguments parses those of a call, with its parentheses.
func (p *parser) arguments() (arguments, error) {
	var a arguments
	if err := p.expect(tOperator, "("); err != nil {
		return a, err
	}
	for first := true; !p.op(")"); first = false {
		if !first {
			if err := p.expect(tOperator, ","); err != nil {
				return a, err
			}
			if p.op(")") {
				break
			}
		}
		if err := p.argument(&a); err != nil {
			return a, err
		}
	}
	p.next()
	return a, nil
}

func (p *parser) argument(a *arguments) error {
	var err error
	switch {
	case p.op("*") && a.list == nil && a.dict == nil:
		p.next()
		a.list, err = p.expression(true)
	case p.op("**") && a.dict == nil:
		p.next()
		a.dict, err = p.expression(true)
	case p.now().kind == tName && p.peek().kind == tOperator && p.peek().text == "=" && a.dict == nil:
		a.names = append(a.names, p.next().text)
		p.next()
		var e expression
		e, err = p.expression(true)
		a.named = append(a.named, e)
	case len(a.names) > 0 || a.list != nil || a.dict != nil:
		err = p.fail("a positional argument behind others")
	default:
		var e expression
		e, err = p.expression(true)
		a.positional = append(a.positional, e)
	}
	return err
}

// dotted takes a name that may have dots in it.
func (p *parser) dotted(what string) (string, error) {
	w, err := p.expectKind(tName, what)
	name := w.text
	for err == nil && p.skip(tOperator, ".") {
		w, err = p.expectKind(tName, what)
		name += "." + w.text
	}
	return name, err
}

// filters parses filters behind an expression; where bar is not set the first
// stands without its bar.
func (p *parser) filters(e expression, bar bool) (expression, error) {
	for p.op("|") || !bar {
		if bar {
			p.next()
		}
		bar = true
		n := &filter{of: e, line: p.line()}
		var err error
		if n.name, err = p.dotted("a filter's name"); err != nil {
			return nil, err
		}
		// One that is not known fails when it is reached, as in Jinja.
		if n.run = filterNamed(n.name); n.run == nil {
			n.run = func(*run, any, []any, *Dict) (any, error) { return nil, errors.New("it is not known") }
		}
		if p.op("(") {
			if n.args, err = p.arguments(); err != nil {
				return nil, err
			}
		}
		e = n
	}
	return e, nil
}

func (p *parser) test(e expression) (expression, error) {
	p.next()
	negated := p.skip(tName, "not")
	title, err := p.dotted("a test's name")
	if err != nil {
		return nil, err
	}
	n := &test{of: e, run: testNamed(title)}
	if n.run == nil {
		n.run = func(*run, any, []any) (bool, error) { return false, fmt.Errorf("the test %.40q is not known", title) }
	}
	switch t := p.now(); {
	case p.op("("):
		n.args, err = p.arguments()
	case p.word("else") || p.word("or") || p.word("and"):
	case p.word("is"):
		return nil, p.fail("tests cannot follow each other")
	case t.kind == tName || t.kind == tString || t.kind == tInteger || t.kind == tFloat || p.op("[") || p.op("{"):
		var a expression
		if a, err = p.primary(); err == nil {
			a, err = p.postfix(a)
		}
		n.args.positional = []expression{a}
	}
	if negated {
		return &unary{"not", n}, err
	}
	return n, err
}
