package traffic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxFile bounds a model's file, maxDepth how deep it nests, maxIndent how
	// far a line of it may be indented, dashes of lists included.
	maxFile   = 32 << 20
	maxDepth  = 16
	maxIndent = 64
	// maxErrors bounds how many things are told at once.
	maxErrors = 10
)

// Error is one thing wrong with a model's file: where, and what was expected.
type Error struct {
	File         string
	Line, Column int // from 1; 0: of the whole file
	Message      string
}

// Error returns file:line:column and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors are all the things wrong with a model's file, in order of place, at
// most ten of them.
type Errors []*Error

// Error returns one line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Read reads a model's file strictly: a key that is not known, a value of
// another kind and a figure that cannot be are errors. Those are [Errors] and
// name file, line, column and what was expected. name stands for the file in
// them.
func Read(name string, r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &decoder{file: name, places: map[string]place{}}
	root, bad := d.parse(data)
	if bad != nil {
		return nil, Errors{bad}
	}
	m := d.model(root)
	if len(d.errs) == 0 {
		for _, f := range m.faults() {
			d.fail(d.placeOf(f.path), "%s", f.message)
		}
	}
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, d.errs[:min(len(d.errs), maxErrors)]
	}
	return m, nil
}

// place is where something stands in the file.
type place struct{ line, column int }

// decoder turns a file's nodes into a model and collects what is wrong.
type decoder struct {
	file   string
	errs   Errors
	places map[string]place // of values by path, such as clients[0].rate[3]
}

func (d *decoder) fail(p place, format string, args ...any) {
	d.errs = append(d.errs, &Error{d.file, p.line, p.column, fmt.Sprintf(format, args...)})
}

// placeOf returns the place of a path's value, or of what it is part of.
func (d *decoder) placeOf(path string) place {
	for {
		if p, ok := d.places[path]; ok || path == "" {
			return p
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}

// parse returns the mapping at the top of the file.
func (d *decoder) parse(data []byte) (ast.Node, *Error) {
	if len(data) > maxFile {
		return nil, &Error{File: d.file, Message: fmt.Sprintf("expected a traffic model of at most %d MiB, got a larger one", maxFile>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // a byte order mark
	if line := tooDeep(data); line > 0 {
		return nil, &Error{d.file, line, 1, fmt.Sprintf("expected at most %d levels of nesting", maxDepth)}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, d.syntax(err)
	}
	var docs []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			docs = append(docs, doc.Body)
		}
	}
	switch {
	case len(docs) == 0:
		return nil, &Error{File: d.file, Message: "expected a traffic model that begins with schema: " + Schema + ", got an empty file"}
	case len(docs) > 1:
		p := at(docs[1])
		return nil, &Error{d.file, p.line, p.column, "expected one document, got a second"}
	}
	return docs[0], nil
}

// tooDeep returns the first line that nests deeper than any model does, so that
// the parser's recursion stays bounded; 0: none.
func tooDeep(data []byte) int {
	depth, number := 0, 0
	for line := range bytes.Lines(data) {
		number++
		if len(line)-len(bytes.TrimLeft(line, " -?:\t")) > maxIndent {
			return number
		}
		for _, b := range line {
			switch b {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			if depth > maxDepth {
				return number
			}
		}
	}
	return 0
}

func (d *decoder) syntax(err error) *Error {
	e := &Error{File: d.file, Message: err.Error()}
	if y, ok := errors.AsType[yaml.Error](err); ok {
		e.Message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	e.Message, _, _ = strings.Cut(e.Message, "\n")
	e.Message = "not valid YAML: " + e.Message
	return e
}

func at(n ast.Node) place {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{}
}
