package traffic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/tokamak-bench/tokamak/stat"
)

// fields are the values of a mapping by key.
type fields map[string]ast.Node

// mapping reads a mapping that has the keys known and no others.
func (d *decoder) mapping(n ast.Node, path, what string, known ...string) fields {
	d.places[path] = at(n)
	var list []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	default:
		d.fail(at(n), "expected %s: a mapping with the keys %s; got %s", what, strings.Join(known, ", "), form(n))
		return nil
	}
	f := fields{}
	for i, m := range list {
		key, ok := m.Key.(*ast.StringNode)
		p := at(m.Key)
		if i == 0 {
			d.places[path] = p
		}
		switch {
		case !ok:
			d.fail(p, "expected a plain key of %s: %s", what, strings.Join(known, ", "))
		case !slices.Contains(known, key.Value):
			d.fail(p, "unknown key %q in %s; it has %s", clip(key.Value), what, strings.Join(known, ", "))
		case f[key.Value] != nil:
			d.fail(p, "%s is given twice", key.Value)
		case m.Value == nil || m.Value.Type() == ast.NullType:
			d.fail(p, "%s has no value", key.Value)
		default:
			f[key.Value] = m.Value
			d.places[join(path, key.Value)] = at(m.Value)
		}
	}
	return f
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// list calls each for the items of a list.
func (d *decoder) list(n ast.Node, path, what string, each func(item ast.Node, path string)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(at(n), "expected a list of %s, got %s", what, got(n))
		return
	}
	for i, item := range s.Values {
		p := path + "[" + strconv.Itoa(i) + "]"
		if item == nil {
			d.fail(at(n), "expected a list of %s; item %d has no value", what, i+1)
			continue
		}
		d.places[p] = at(item)
		each(item, p)
	}
}

// scalar returns what a value's text is, as written, and whether it was quoted.
func scalar(n ast.Node) (text string, quoted, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return strings.TrimSpace(n.GetToken().Value), false, true
	case *ast.LiteralNode:
		return n.Value.Value, true, true
	}
	return "", false, false
}

// got describes a value for an error.
func got(n ast.Node) string {
	text, _, ok := scalar(n)
	switch {
	case ok && n.Type() == ast.StringType:
		return strconv.Quote(clip(text))
	case ok:
		return clip(text)
	}
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType:
		return "an anchor, alias or merge key: write the value out"
	}
	return "YAML's " + n.Type().String()
}

// form describes a value without its text: where a mapping is expected, any
// other file may stand, with texts that nobody must see.
func form(n ast.Node) string {
	if text, _, ok := scalar(n); ok {
		return fmt.Sprintf("text of %d bytes", len(text))
	}
	return got(n)
}

// clip bounds what of a file's text an error repeats.
func clip(s string) string {
	const limit = 60
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

func (d *decoder) text(f fields, key, what string) string {
	n, ok := f[key]
	if !ok {
		return ""
	}
	s, _, ok := scalar(n)
	if !ok || n.Type() != ast.StringType && n.Type() != ast.LiteralType {
		d.fail(at(n), "expected %s, got %s", what, got(n))
	}
	return s
}

// value reads a finite number.
func (d *decoder) value(n ast.Node, what string) float64 {
	s, quoted, ok := scalar(n)
	x, err := strconv.ParseFloat(s, 64)
	if !ok || quoted || err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(s, "_xXpP") {
		d.fail(at(n), "expected %s, got %s", what, got(n))
		return 0
	}
	return x
}

func (d *decoder) number(f fields, key, what string) float64 {
	if n, ok := f[key]; ok {
		return d.value(n, what)
	}
	return 0
}

// numbers reads a number, or a list of such.
func (d *decoder) numbers(n ast.Node, path, what string) []float64 {
	if _, ok := n.(*ast.SequenceNode); !ok {
		return []float64{d.value(n, what+", or a list of such, one a window")}
	}
	var list []float64
	d.list(n, path, what, func(item ast.Node, _ string) { list = append(list, d.value(item, what)) })
	return list
}

func (d *decoder) whole(f fields, key, what string) int64 {
	n, ok := f[key]
	if !ok {
		return 0
	}
	s, quoted, ok := scalar(n)
	x, err := strconv.ParseInt(s, 10, 64)
	if !ok || quoted || err != nil {
		d.fail(at(n), "expected %s, got %s", what, got(n))
	}
	return x
}

func (d *decoder) duration(f fields, key string) time.Duration {
	n, ok := f[key]
	if !ok {
		return 0
	}
	s, _, _ := scalar(n)
	x, err := time.ParseDuration(s)
	if err != nil {
		d.fail(at(n), "expected a duration with its unit, such as 60s or 24h, got %s", got(n))
	}
	return x
}

func (d *decoder) moment(f fields, key string) time.Time {
	n, ok := f[key]
	if !ok {
		return time.Time{}
	}
	s, _, _ := scalar(n)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		d.fail(at(n), "expected a time such as 2023-11-16T18:15:46Z, got %s", got(n))
	}
	return t
}

// distribution reads a distribution of plain numbers, or with seconds of
// durations.
func (d *decoder) distribution(f fields, key string, seconds bool) stat.Distribution {
	n, ok := f[key]
	if !ok {
		return nil
	}
	return d.distributionOf(n, seconds)
}

func (d *decoder) distributionOf(n ast.Node, seconds bool) stat.Distribution {
	s, quoted, ok := scalar(n)
	if !ok {
		d.fail(at(n), "expected a distribution, got %s; there are %s (in a list one a line, or in quotes)", got(n), stat.Forms)
		return nil
	}
	parse := stat.ParseInline
	if seconds {
		parse = stat.ParseInlineDurations
	}
	x, err := parse(s)
	if err != nil {
		p, message := at(n), err.Error()
		if e, ok := errors.AsType[*stat.SyntaxError](err); ok {
			message = e.Message
			if p.column += e.Column - 1; quoted {
				p.column++
			}
		}
		d.fail(p, "%s", message)
	}
	return x
}

// oneOf reads a word.
func oneOf[T ~string](d *decoder, f fields, key string, otherwise T, words ...T) T {
	n, ok := f[key]
	if !ok {
		return otherwise
	}
	s, _, _ := scalar(n)
	if !slices.Contains(words, T(s)) {
		d.fail(at(n), "expected one of %s, got %s", strings.Trim(fmt.Sprint(words), "[]"), got(n))
	}
	return T(s)
}
