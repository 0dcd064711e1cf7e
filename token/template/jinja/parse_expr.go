package jinja

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// expression parses an expression, with or without a condition behind it.
func (p *parser) expression(condition bool) (expression, error) {
	back, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer back()
	if !condition {
		return p.or()
	}
	e, err := p.or()
	for err == nil && p.skip(tName, "if") {
		c := &conditional{then: e}
		if c.test, err = p.or(); err != nil {
			return nil, err
		}
		if p.skip(tName, "else") {
			if c.other, err = p.expression(true); err != nil {
				return nil, err
			}
		}
		e = c
	}
	return e, err
}

func (p *parser) or() (expression, error) {
	left, err := p.and()
	for err == nil && p.skip(tName, "or") {
		n := &logical{or: true, left: left}
		n.right, err = p.and()
		left = n
	}
	return left, err
}

func (p *parser) and() (expression, error) {
	left, err := p.not()
	for err == nil && p.skip(tName, "and") {
		n := &logical{left: left}
		n.right, err = p.not()
		left = n
	}
	return left, err
}

func (p *parser) not() (expression, error) {
	if !p.skip(tName, "not") {
		return p.compare()
	}
	back, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer back()
	e, err := p.not()
	return &unary{"not", e}, err
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) compare() (expression, error) {
	first, err := p.sum()
	n := &compare{first: first}
	for err == nil {
		t := p.now()
		switch {
		case t.kind == tOperator && slices.Contains(comparisons, t.text):
			p.next()
			n.ops = append(n.ops, t.text)
		case p.word("in"):
			p.next()
			n.ops = append(n.ops, "in")
		case p.word("not") && p.peek().kind == tName && p.peek().text == "in":
			p.next()
			p.next()
			n.ops = append(n.ops, "not in")
		case len(n.ops) == 0:
			return first, nil
		default:
			return n, nil
		}
		var e expression
		e, err = p.sum()
		n.rest = append(n.rest, e)
	}
	return nil, err
}

// infix parses operands with operators between them, from left to right.
func (p *parser) infix(operand func() (expression, error), ops ...string) (expression, error) {
	left, err := operand()
	for err == nil && p.now().kind == tOperator && slices.Contains(ops, p.now().text) {
		n := &binary{left: left, line: p.line(), op: p.next().text}
		n.right, err = operand()
		left = n
	}
	return left, err
}

func (p *parser) sum() (expression, error) { return p.infix(p.concat, "+", "-") }

func (p *parser) concat() (expression, error) {
	e, err := p.product()
	if err != nil || !p.op("~") {
		return e, err
	}
	n := &concat{parts: []expression{e}}
	for p.skip(tOperator, "~") {
		e, err := p.product()
		if err != nil {
			return nil, err
		}
		n.parts = append(n.parts, e)
	}
	return n, nil
}

func (p *parser) product() (expression, error) { return p.infix(p.power, "*", "/", "//", "%") }

func (p *parser) power() (expression, error) {
	return p.infix(func() (expression, error) { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) (expression, error) {
	back, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer back()
	var e expression
	if p.op("-") || p.op("+") {
		n := &unary{op: p.next().text}
		n.of, err = p.unary(false)
		e = n
	} else {
		e, err = p.primary()
	}
	if err == nil {
		e, err = p.postfix(e)
	}
	if err == nil && filters {
		e, err = p.behind(e)
	}
	return e, err
}

func (p *parser) primary() (expression, error) {
	t := p.now()
	switch t.kind {
	case tName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constant{true}, nil
		case "false", "False":
			return &constant{false}, nil
		case "none", "None":
			return &constant{nil}, nil
		}
		p.use(t.text)
		return &name{t.text}, nil
	case tString:
		return p.str()
	case tInteger:
		p.next()
		n, ok := new(big.Int).SetString(strings.ReplaceAll(t.text, "_", ""), 0)
		if strings.Trim(t.text, "0_") == "" {
			n, ok = new(big.Int), true
		}
		switch {
		case !ok || len(t.text) > 400:
			return nil, p.fail("the number %.40s is not known", t.text)
		case !n.IsInt64():
			return &constant{n}, nil
		}
		return &constant{n.Int64()}, nil
	case tFloat:
		p.next()
		f, _ := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64) // of range: infinite, as in Python
		return &constant{f}, nil
	}
	switch {
	case p.skip(tOperator, "("):
		e, err := p.tuple(tupleRules{condition: true, parentheses: true})
		if err == nil {
			err = p.expect(tOperator, ")")
		}
		return e, err
	case p.skip(tOperator, "["):
		items, err := p.items("]")
		return &listOf{items}, err
	case p.skip(tOperator, "{"):
		return p.dict()
	}
	return nil, p.fail("unexpected %v", t)
}

// str takes strings that stand side by side.
func (p *parser) str() (expression, error) {
	var b strings.Builder
	for p.now().kind == tString {
		t := p.now()
		s, ok := unquote(t.text[1 : len(t.text)-1])
		if !ok {
			return nil, p.fail("a string with an escape that is not known")
		}
		b.WriteString(s)
		p.next()
	}
	return &constant{b.String()}, nil
}

// items parses expressions up to a bracket, which it takes.
func (p *parser) items(end string) ([]expression, error) {
	var list []expression
	for !p.op(end) {
		if len(list) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return nil, err
			}
			if p.op(end) {
				break
			}
		}
		e, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	p.next()
	return list, nil
}

func (p *parser) dict() (expression, error) {
	n := &dictOf{}
	for !p.op("}") {
		if len(n.keys) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return nil, err
			}
			if p.op("}") {
				break
			}
		}
		k, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		if err := p.expect(tOperator, ":"); err != nil {
			return nil, err
		}
		v, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		n.keys, n.values = append(n.keys, k), append(n.values, v)
	}
	p.next()
	return n, nil
}

// tupleRules say what may stand in a tuple and how it ends.
type tupleRules struct {
	condition   bool   // expressions may have conditions
	parentheses bool   // it stands in parentheses, so that it may be empty
	end         string // a further word that ends it
}

// tuple parses an expression, or several with commas between them.
func (p *parser) tuple(r tupleRules) (expression, error) {
	var items []expression
	comma := false
	for {
		if len(items) > 0 {
			if !p.skip(tOperator, ",") {
				break
			}
			comma = true
		}
		if t := p.now(); t.kind == tVariableEnd || t.kind == tBlockEnd || p.op(")") || r.end != "" && p.word(r.end) {
			break
		}
		e, err := p.expression(r.condition)
		if err != nil {
			return nil, err
		}
		items = append(items, e)
	}
	switch {
	case len(items) == 1 && !comma:
		return items[0], nil
	case len(items) == 0 && !r.parentheses:
		return nil, p.fail("expected an expression, found %v", p.now())
	}
	return &tupleOf{items}, nil
}
