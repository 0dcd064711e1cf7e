package jinja

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	body []statement
	src  string
}

// Error is what is wrong in a template or went wrong in rendering it.
type Error struct {
	Line int // of the template, from 1
	Msg  string
	// Raised says that the template itself refused what it was given.
	Raised bool
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Limits bound one rendering; 0 in a field is its default.
type Limits struct {
	// Steps are evaluated tags and expressions, looked-at items of lists and
	// 32 bytes of looked-at text each (default 20 million).
	Steps int64
	// Bytes is the length of all texts that the rendering makes, those
	// in between included (default 256 MiB).
	Bytes int64
}

const (
	defaultSteps = 20_000_000
	defaultBytes = 256 << 20
	// maxText bounds one text.
	maxText = 64 << 20
	// maxItems bounds one list.
	maxItems = 4 << 20
	// maxCalls bounds how deep macros and recursive loops call each other.
	maxCalls = 100
	// maxSource bounds a template.
	maxSource = 4 << 20
)

var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
	errTooMuch  = errors.New("the template takes more steps, depth or memory than a chat can need")
)

// Parse parses a template.
func Parse(src string) (*Template, error) {
	if len(src) > maxSource {
		return nil, &Error{Line: 1, Msg: fmt.Sprintf("longer than %d MiB", maxSource>>20)}
	}
	src = newlines(src)
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, tokens: tokens}
	body, err := p.body()
	if err != nil {
		return nil, err
	}
	return &Template{body: body, src: src}, nil
}

// Options of a rendering.
type Options struct {
	Limits Limits
	// Now is what strftime_now writes; zero: the present.
	Now time.Time
	// Mutable allows methods that change lists and mappings, variables given
	// included, as llama.cpp does; transformers does not.
	Mutable bool
}

// Render gives a template's text for variables: JSON values as [FromJSON] makes
// them, or nil, bool, int64, float64 and string.
func (t *Template) Render(variables map[string]any, o Options) (string, error) {
	r := &run{steps: o.Limits.Steps, bytes: o.Limits.Bytes, now: o.Now, mutable: o.Mutable}
	if r.steps == 0 {
		r.steps = defaultSteps
	}
	if r.bytes == 0 {
		r.bytes = defaultBytes
	}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	globals := newScope(nil)
	for name, f := range globalFunctions() {
		globals.set(name, f)
	}
	for name, v := range variables {
		globals.set(name, v)
	}
	var w output
	if err := execute(r, newScope(globals), &w, t.body); err != nil {
		return "", err
	}
	return w.String(), nil
}

// output is where text goes.
type output struct{ strings.Builder }

func (w *output) add(r *run, s string) error {
	if w.Len()+len(s) > maxText {
		return errTooMuch
	}
	w.WriteString(s)
	return r.grow(len(s))
}

// run is one rendering's state.
type run struct {
	steps, bytes int64 // left
	calls        int
	now          time.Time
	mutable      bool
}

// step counts n steps.
func (r *run) step(n int) error {
	if r.steps -= int64(n); r.steps < 0 {
		return errTooMuch
	}
	return nil
}

// grow counts n bytes that are made.
func (r *run) grow(n int) error {
	if r.bytes -= int64(n); r.bytes < 0 || n > maxText {
		return errTooMuch
	}
	return nil
}

// look counts text that is looked at.
func (r *run) look(s string) error { return r.step(1 + len(s)/32) }

// made counts a text that a filter or method made.
func (r *run) made(s string) (any, error) { return s, r.grow(len(s)) }

// enter counts a call's depth; what it returns takes it back.
func (r *run) enter() (func(), error) {
	if r.calls++; r.calls > maxCalls {
		return nil, errTooMuch
	}
	return func() { r.calls-- }, nil
}

// scope holds variables; what is not in it is looked up around it.
type scope struct {
	variables map[string]any
	outer     *scope
}

func newScope(outer *scope) *scope { return &scope{outer: outer} }

func (s *scope) set(name string, v any) {
	if s.variables == nil {
		s.variables = map[string]any{}
	}
	s.variables[name] = v
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.variables[name]; ok {
			return v, true
		}
	}
	return nil, false
}
