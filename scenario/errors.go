package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos says where a setting was given: a place in a file, or a flag.
type Pos struct {
	File      string
	Line, Col int
	Flag      string // with its dashes; empty for a place in a file
}

// String returns file:line:column or the flag.
func (p Pos) String() string {
	if p.Flag != "" {
		return p.Flag
	}
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Error is one thing wrong with a scenario: where, and what was expected.
type Error struct {
	Pos Pos
	Msg string
}

// Error returns the place and the message in one line.
func (e *Error) Error() string {
	if p := e.Pos.String(); p != "" {
		return p + ": " + e.Msg
	}
	return e.Msg
}

// Errors are all the things wrong with a scenario, in order of place.
type Errors []*Error

// Error returns one line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// maxErrors bounds how many things are told at once.
const maxErrors = 10

// sorted returns the errors in order of place, at most maxErrors of them, or
// nil.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	e = slices.CompactFunc(e, func(a, b *Error) bool { return *a == *b })
	return e[:min(len(e), maxErrors)]
}
