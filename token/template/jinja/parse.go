package jinja

import (
	"fmt"
	"slices"
)

// maxNesting bounds how deep tags and expressions of a template stand in each
// other.
const maxNesting = 200

type parser struct {
	src    string
	tokens []token
	i      int
	depth  int
	// names that are used in the macro being parsed
	used map[string]bool
	// loops counts those around; break and continue need one.
	loops int
}

func (p *parser) now() token { return p.tokens[p.i] }

func (p *parser) peek() token {
	if p.i+1 < len(p.tokens) {
		return p.tokens[p.i+1]
	}
	return p.tokens[p.i]
}

func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != tEOF {
		p.i++
	}
	return t
}

func (p *parser) line() int { return line(p.src, p.now().pos) }

func (p *parser) fail(format string, args ...any) error {
	return &Error{Line: p.line(), Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) is(k kind, text string) bool { t := p.now(); return t.kind == k && t.text == text }

func (p *parser) op(text string) bool { return p.is(tOperator, text) }

func (p *parser) word(text string) bool { return p.is(tName, text) }

// skip takes an operator or a word if it is next.
func (p *parser) skip(k kind, text string) bool {
	if p.is(k, text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(k kind, text string) error {
	if !p.skip(k, text) {
		return p.fail("expected %s, found %v", text, p.now())
	}
	return nil
}

func (p *parser) expectKind(k kind, what string) (token, error) {
	if p.now().kind != k {
		return token{}, p.fail("expected %s, found %v", what, p.now())
	}
	return p.next(), nil
}

// nest counts depth; what it returns takes it back.
func (p *parser) nest() (func(), error) {
	p.depth++
	if p.depth > maxNesting {
		return nil, p.fail("nested deeper than %d", maxNesting)
	}
	return func() { p.depth-- }, nil
}

// body parses up to a tag that begins with one of the words, which it leaves;
// no words: up to the end of the template.
func (p *parser) body(until ...string) ([]statement, error) {
	back, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer back()
	var list []statement
	for {
		t := p.now()
		switch t.kind {
		case tEOF:
			if len(until) > 0 {
				return nil, p.fail("expected %s, found the end of the template", until[len(until)-1])
			}
			return list, nil
		case tData:
			p.next()
			list = append(list, &text{t.text})
		case tVariableBegin:
			p.next()
			line := p.line()
			e, err := p.tuple(tupleRules{condition: true})
			if err != nil {
				return nil, err
			}
			if _, err := p.expectKind(tVariableEnd, "}}"); err != nil {
				return nil, err
			}
			list = append(list, &at{line, &print{[]expression{e}}})
		case tBlockBegin:
			p.next()
			if w := p.now(); w.kind == tName && slices.Contains(until, w.text) {
				return list, nil
			}
			s, err := p.statement()
			if err != nil {
				return nil, err
			}
			if _, err := p.expectKind(tBlockEnd, "%}"); err != nil {
				return nil, err
			}
			list = append(list, s)
		default:
			return nil, p.fail("unexpected %v", t)
		}
	}
}

// until parses a body up to the tag of a word, which it takes.
func (p *parser) until(end string) ([]statement, error) {
	if _, err := p.expectKind(tBlockEnd, "%}"); err != nil {
		return nil, err
	}
	body, err := p.body(end)
	p.next()
	return body, err
}

// statement parses a tag and what belongs to it, up to the last %}.
func (p *parser) statement() (statement, error) {
	w, err := p.expectKind(tName, "a tag's name")
	if err != nil {
		return nil, err
	}
	parse := map[string]func() (statement, error){
		"if": p.ifElse, "for": p.loop, "set": p.assign, "macro": p.macro, "call": p.callBlock, "filter": p.filterBlock,
		"with": p.with, "print": p.print, "generation": func() (statement, error) { return p.scoped("endgeneration") },
		"block": p.block, "break": func() (statement, error) { return p.jump(errBreak) },
		"continue": func() (statement, error) { return p.jump(errContinue) },
	}[w.text]
	if parse == nil {
		p.i--
		return nil, p.fail("the tag %.40q is not known", w.text)
	}
	at := &at{line: line(p.src, w.pos)}
	at.statement, err = parse()
	return at, err
}

func (p *parser) ifElse() (statement, error) {
	n := &ifElse{}
	for word := "if"; ; {
		var b branch
		var err error
		if word != "else" {
			if b.test, err = p.tuple(tupleRules{}); err != nil {
				return nil, err
			}
		}
		if _, err := p.expectKind(tBlockEnd, "%}"); err != nil {
			return nil, err
		}
		ends := []string{"elif", "else", "endif"}
		if word == "else" {
			ends = ends[2:]
		}
		if b.body, err = p.body(ends...); err != nil {
			return nil, err
		}
		n.branches = append(n.branches, b)
		if word = p.next().text; word == "endif" {
			return n, nil
		}
	}
}

func (p *parser) loop() (statement, error) {
	n := &loop{line: p.line()}
	var err error
	if n.target, err = p.target(false); err != nil {
		return nil, err
	}
	if n.target.name == "loop" {
		return nil, p.fail("loop cannot be assigned to by a loop")
	}
	if err := p.expect(tName, "in"); err != nil {
		return nil, err
	}
	if n.iter, err = p.tuple(tupleRules{end: "recursive"}); err != nil {
		return nil, err
	}
	if p.skip(tName, "if") {
		if n.test, err = p.expression(true); err != nil {
			return nil, err
		}
	}
	n.recursive = p.skip(tName, "recursive")
	if _, err := p.expectKind(tBlockEnd, "%}"); err != nil {
		return nil, err
	}
	p.loops++
	n.body, err = p.body("else", "endfor")
	p.loops--
	if err != nil {
		return nil, err
	}
	if p.next().text == "else" {
		n.other, err = p.until("endfor")
	}
	return n, err
}

func (p *parser) assign() (statement, error) {
	t, err := p.target(true)
	if err != nil {
		return nil, err
	}
	if p.skip(tOperator, "=") {
		v, err := p.tuple(tupleRules{condition: true})
		return &assign{t, v}, err
	}
	n := &assignBlock{target: t}
	if p.op("|") {
		f, err := p.filters(nil, true)
		if err != nil {
			return nil, err
		}
		n.filter = f.(*filter)
	}
	n.body, err = p.isolated("endset")
	return n, err
}

// isolated parses a body that is no part of a loop around it.
func (p *parser) isolated(end string) ([]statement, error) {
	loops := p.loops
	p.loops = 0
	defer func() { p.loops = loops }()
	return p.until(end)
}

func (p *parser) filterBlock() (statement, error) {
	f, err := p.filters(nil, false)
	if err != nil {
		return nil, err
	}
	n := &filterBlock{filter: f.(*filter)}
	n.body, err = p.isolated("endfilter")
	return n, err
}

func (p *parser) with() (statement, error) {
	n := &with{}
	for p.now().kind != tBlockEnd {
		if len(n.targets) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return nil, err
			}
		}
		t, err := p.target(false)
		if err != nil {
			return nil, err
		}
		if err := p.expect(tOperator, "="); err != nil {
			return nil, err
		}
		v, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		n.targets, n.values = append(n.targets, t), append(n.values, v)
	}
	var err error
	n.body, err = p.until("endwith")
	return n, err
}

func (p *parser) print() (statement, error) {
	n := &print{}
	for p.now().kind != tBlockEnd {
		if len(n.expressions) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return nil, err
			}
		}
		e, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		n.expressions = append(n.expressions, e)
	}
	return n, nil
}

func (p *parser) scoped(end string) (statement, error) {
	body, err := p.isolated(end)
	return &scoped{body}, err
}

func (p *parser) block() (statement, error) {
	w, err := p.expectKind(tName, "a block's name")
	if err != nil {
		return nil, err
	}
	if p.now().kind != tBlockEnd {
		return nil, p.fail("a block with options is not known")
	}
	n, err := p.scoped("endblock")
	p.skip(tName, w.text)
	return n, err
}

func (p *parser) jump(err error) (statement, error) {
	if p.loops == 0 {
		return nil, p.fail("%v outside a loop", err)
	}
	return &jump{err}, nil
}

// reserved are the words that cannot be assigned to.
var reserved = []string{"true", "false", "none", "True", "False", "None"}

// target parses what is assigned to, up to what is no part of it.
func (p *parser) target(namespace bool) (target, error) {
	var parts []target
	for {
		t, err := p.oneTarget(namespace)
		if err != nil {
			return t, err
		}
		parts = append(parts, t)
		if !p.skip(tOperator, ",") {
			if len(parts) == 1 {
				return parts[0], nil
			}
			break
		}
		if p.word("in") || p.op("=") || p.op(")") {
			break
		}
	}
	return target{parts: parts}, nil
}

func (p *parser) oneTarget(namespace bool) (target, error) {
	if p.skip(tOperator, "(") {
		back, err := p.nest()
		if err != nil {
			return target{}, err
		}
		defer back()
		t, err := p.target(namespace)
		if err == nil {
			err = p.expect(tOperator, ")")
		}
		return t, err
	}
	w, err := p.expectKind(tName, "a name to assign to")
	if err != nil {
		return target{}, err
	}
	t := target{name: w.text}
	if namespace && p.skip(tOperator, ".") {
		a, err := p.expectKind(tName, "an attribute's name")
		t.attribute = a.text
		p.use(t.name)
		return t, err
	}
	if slices.Contains(reserved, w.text) {
		return t, p.fail("%s cannot be assigned to", w.text)
	}
	return t, nil
}

func (p *parser) use(name string) {
	if p.used != nil {
		p.used[name] = true
	}
}
