package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxFile bounds a scenario file, maxDepth how deep it nests.
const (
	maxFile  = 1 << 20
	maxDepth = 64
)

// parseYAML reads a file into a value: one document that is a mapping.
func parseYAML(name string, data []byte) (value, error) {
	if len(data) > maxFile {
		return value{}, &Error{Pos{File: name}, fmt.Sprintf("expected a scenario of at most %d KiB, got a larger one", maxFile>>10)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // a byte order mark
	if tooDeep(data) {
		return value{}, &Error{Pos{File: name}, fmt.Sprintf("expected at most %d levels of nesting", maxDepth)}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return value{}, syntaxError(name, err)
	}
	var docs []*ast.DocumentNode
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d)
		}
	}
	switch {
	case len(docs) == 0:
		return value{}, &Error{Pos{File: name}, "expected a scenario, got an empty file"}
	case len(docs) > 1:
		p := place(name, docs[1].Body)
		return value{}, &Error{p, "expected one document, got a second"}
	}
	c := converter{file: name}
	v, err := c.value(docs[0].Body, 0)
	if err != nil {
		return value{}, err
	}
	if v.kind != mapValue {
		return value{}, v.errorf("expected a mapping with the keys %s; got %s", strings.Join(topKeys, ", "), v.got())
	}
	return v, nil
}

// tooDeep tells whether flow collections nest so deep that the parser's
// recursion could hurt. Block nesting is bounded by the file's size.
func tooDeep(data []byte) bool {
	depth := 0
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
}

func syntaxError(name string, err error) error {
	pos := Pos{File: name}
	msg := err.Error()
	if y, ok := errors.AsType[yaml.Error](err); ok {
		msg = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			pos.Line, pos.Col = t.Position.Line, t.Position.Column
		}
	}
	msg, _, _ = strings.Cut(msg, "\n")
	return &Error{pos, "not valid YAML: " + msg}
}

func place(file string, n ast.Node) Pos {
	p := Pos{File: file}
	if t := n.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Col = t.Position.Line, t.Position.Column
	}
	return p
}

type converter struct{ file string }

func (c converter) value(n ast.Node, depth int) (value, error) {
	v := value{pos: place(c.file, n)}
	if depth > maxDepth {
		return v, v.errorf("expected at most %d levels of nesting", maxDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return c.mapping(n.Values, v, depth)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, v, depth)
	case *ast.SequenceNode:
		v.kind = listValue
		for _, x := range n.Values {
			item, err := c.value(x, depth+1)
			if err != nil {
				return v, err
			}
			if m, ok := x.(*ast.MappingNode); ok && n.IsFlowStyle && !m.IsFlowStyle {
				item = item.rejoined()
			}
			v.items = append(v.items, item)
		}
		return v, nil
	case *ast.NullNode:
		v.kind = nullValue
	case *ast.BoolNode:
		v.kind, v.text = boolValue, fmt.Sprint(n.Value)
	case *ast.IntegerNode:
		v.kind, v.text = intValue, written(n.GetToken())
	case *ast.FloatNode:
		v.kind, v.text = floatValue, written(n.GetToken())
	case *ast.InfinityNode, *ast.NanNode:
		v.kind, v.text = floatValue, written(n.GetToken())
	case *ast.StringNode:
		v.kind, v.text = textValue, n.Value
		v.quoted = n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
	case *ast.LiteralNode:
		v.kind, v.text = textValue, n.Value.Value
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return v, v.errorf("anchors, aliases and merge keys are not supported: write the value out")
	case *ast.TagNode:
		return v, v.errorf("tags such as %s are not supported", clip(written(n.GetToken())))
	default:
		return v, v.errorf("expected a value, got YAML's %s", n.Type())
	}
	return v, nil
}

// rejoined makes text of what the parser took for a pair in a flow list: a
// plain text such as http://host:80, whose colon has no space after it.
func (v value) rejoined() value {
	if v.kind != mapValue || len(v.entries) != 1 {
		return v
	}
	e := v.entries[0]
	rest := e.value.rejoined()
	scalar := rest.kind == textValue || rest.kind == intValue || rest.kind == floatValue || rest.kind == boolValue
	if !scalar || rest.quoted || rest.pos.Line != e.pos.Line || rest.pos.Col != e.pos.Col+utf8.RuneCountInString(e.key)+1 {
		return v
	}
	return value{kind: textValue, text: e.key + ":" + rest.text, pos: e.pos}
}

func (c converter) mapping(values []*ast.MappingValueNode, v value, depth int) (value, error) {
	v.kind = mapValue
	for i, m := range values {
		key, err := c.key(m.Key)
		if err != nil {
			return v, err
		}
		if i == 0 {
			v.pos = key.pos
		}
		if key.value, err = c.value(m.Value, depth+1); err != nil {
			return v, err
		}
		v.entries = append(v.entries, key)
	}
	return v, nil
}

func (c converter) key(n ast.MapKeyNode) (entry, error) {
	e := entry{pos: place(c.file, n)}
	s, ok := n.(ast.ScalarNode)
	if !ok || s.IsMergeKey() {
		return e, &Error{e.pos, "expected a plain key; anchors, aliases and merge keys are not supported"}
	}
	e.key = fmt.Sprint(s.GetValue())
	if t, ok := n.(*ast.StringNode); ok {
		e.key = t.Value
	}
	return e, nil
}

func written(t *token.Token) string { return strings.TrimSpace(t.Value) }
