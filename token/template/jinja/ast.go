package jinja

// expression has a value in a scope.
type expression interface {
	eval(r *run, s *scope) (any, error)
}

// statement writes text or changes a scope.
type statement interface {
	exec(r *run, s *scope, w *output) error
}

type (
	constant  struct{ value any }
	name      struct{ name string }
	listOf    struct{ items []expression }
	tupleOf   struct{ items []expression }
	dictOf    struct{ keys, values []expression }
	attribute struct {
		of   expression
		name string
	}
	item  struct{ of, key expression }
	slice struct {
		of                expression
		start, stop, step expression // nil: left out
	}
	call struct {
		of   expression
		args arguments
		line int
	}
	filter struct {
		of   expression // nil: the body of a block
		name string
		run  filterFunc
		args arguments
		line int
	}
	test struct {
		of   expression
		run  testFunc
		args arguments
	}
	unary struct {
		op string
		of expression
	}
	binary struct {
		op          string
		left, right expression
		line        int
	}
	concat  struct{ parts []expression }
	compare struct {
		first expression
		ops   []string
		rest  []expression
	}
	logical struct {
		or          bool
		left, right expression
	}
	conditional struct{ then, test, other expression } // other nil: undefined
)

// arguments of a call.
type arguments struct {
	positional []expression
	names      []string
	named      []expression
	list, dict expression // *list and **dict; nil: none
}

// target is what a value is assigned to: a name, an attribute of a namespace,
// or several.
type target struct {
	name      string
	attribute string // of the namespace called name
	parts     []target
}

type (
	text   struct{ text string }
	print  struct{ expressions []expression }
	ifElse struct{ branches []branch }
	branch struct {
		test expression // nil: else
		body []statement
	}
	loop struct {
		target      target
		iter, test  expression // test nil: none
		body, other []statement
		recursive   bool
		line        int
	}
	assign struct {
		target target
		value  expression
	}
	assignBlock struct {
		target target
		filter *filter // nil: none
		body   []statement
	}
	macro struct {
		name     string
		params   []string
		defaults []expression // of the last params
		body     []statement
		// whether the body names what holds further arguments
		varargs, kwargs, caller bool
	}
	callBlock struct {
		call  expression
		macro *macro // the body as caller
	}
	filterBlock struct {
		filter *filter
		body   []statement
	}
	with struct {
		targets []target
		values  []expression
		body    []statement
	}
	scoped struct{ body []statement } // {% generation %}, {% block %}
	jump   struct{ err error }        // break, continue
	at     struct {                   // a statement with its line
		line int
		statement
	}
)
