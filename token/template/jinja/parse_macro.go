package jinja

func (p *parser) macro() (statement, error) {
	w, err := p.expectKind(tName, "the macro's name")
	if err != nil {
		return nil, err
	}
	n := &macro{name: w.text}
	return n, p.macroRest(n, true, "endmacro")
}

func (p *parser) callBlock() (statement, error) {
	n := &callBlock{macro: &macro{name: "caller"}}
	used := p.used
	p.used = map[string]bool{}
	if p.op("(") {
		if err := p.signature(n.macro); err != nil {
			return nil, err
		}
	}
	inner := p.used
	p.used = used
	e, err := p.expression(true)
	if err != nil {
		return nil, err
	}
	if _, ok := e.(*call); !ok {
		return nil, p.fail("expected a call")
	}
	n.call = e
	p.used = inner
	err = p.macroBody(n.macro, "endcall")
	p.merge(used)
	return n, err
}

// macroRest parses a macro from its parameters on.
func (p *parser) macroRest(n *macro, parameters bool, end string) error {
	used := p.used
	p.used = map[string]bool{}
	if parameters {
		if err := p.signature(n); err != nil {
			return err
		}
	}
	err := p.macroBody(n, end)
	p.merge(used)
	return err
}

func (p *parser) macroBody(n *macro, end string) error {
	var err error
	n.body, err = p.isolated(end)
	n.varargs, n.kwargs, n.caller = p.used["varargs"], p.used["kwargs"], p.used["caller"]
	return err
}

// merge adds what an inner macro uses to what the outer one does, and goes on
// with the latter.
func (p *parser) merge(outer map[string]bool) {
	if outer != nil {
		for k := range p.used {
			outer[k] = true
		}
	}
	p.used = outer
}

// signature parses a macro's parameters.
func (p *parser) signature(n *macro) error {
	if err := p.expect(tOperator, "("); err != nil {
		return err
	}
	for !p.op(")") {
		if len(n.params) > 0 {
			if err := p.expect(tOperator, ","); err != nil {
				return err
			}
		}
		w, err := p.expectKind(tName, "a parameter's name")
		if err != nil {
			return err
		}
		n.params = append(n.params, w.text)
		switch {
		case p.skip(tOperator, "="):
			d, err := p.expression(true)
			if err != nil {
				return err
			}
			n.defaults = append(n.defaults, d)
		case len(n.defaults) > 0:
			return p.fail("a parameter without default behind one with it")
		}
	}
	p.next()
	return nil
}
