package jinja

// GoesThrough tells whether the template has a loop over an attribute of that
// name, of whatever value, or over a variable that was set to one: by this
// servers tell templates that take a message's content in parts.
func (t *Template) GoesThrough(name string) bool {
	f := finder{name: name, aliases: map[string]bool{}}
	f.body(t.body)
	return f.found
}

type finder struct {
	name    string
	aliases map[string]bool
	found   bool
}

func (f *finder) body(list []statement) {
	for _, s := range list {
		f.statement(s)
	}
}

func (f *finder) statement(s statement) {
	switch s := s.(type) {
	case *at:
		f.statement(s.statement)
	case *ifElse:
		for _, b := range s.branches {
			f.body(b.body)
		}
	case *loop:
		f.found = f.found || f.is(s.iter)
		f.body(s.body)
		f.body(s.other)
	case *assign:
		if s.target.name != "" && s.target.attribute == "" && f.is(s.value) {
			f.aliases[s.target.name] = true
		}
	case *assignBlock:
		f.body(s.body)
	case *macro:
		f.body(s.body)
	case *callBlock:
		f.body(s.macro.body)
	case *filterBlock:
		f.body(s.body)
	case *with:
		f.body(s.body)
	case *scoped:
		f.body(s.body)
	}
}

// is tells whether an expression is the attribute, perhaps filtered or cut.
func (f *finder) is(e expression) bool {
	switch e := e.(type) {
	case *attribute:
		return e.name == f.name
	case *item:
		key, ok := e.key.(*constant)
		return ok && key.value == f.name
	case *name:
		return f.aliases[e.name]
	case *filter:
		return e.of != nil && f.is(e.of)
	case *slice:
		return f.is(e.of)
	}
	return false
}
