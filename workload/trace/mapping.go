package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/valyala/fastjson"
)

// Mapping says which fields of JSON lines are what, for logs of a form of
// their own.
type Mapping struct {
	name   string
	fields map[string]string // of our words: dotted paths
	units  map[string]int
	where  []condition
	block  int64
}

// Name is the file that the mapping was read from.
func (m *Mapping) Name() string { return m.name }

// condition holds where a field has one of the values.
type condition struct {
	path   string
	values []string
}

// mappedName is the format of content that is read by a mapping.
const mappedName = "mapped"

// mappingWords are the facts that a mapping may name a field for.
func mappingWords() []string {
	return []string{"at", "id", "class", "tenant", "session", "parent", "turn", "model", "input_tokens", "output_tokens", "max_tokens", "reasoning_tokens",
		"cached_tokens", "images", "audios", "videos", "tools", "status", "failed", "first_token", "duration", "prompt", "messages", "body", "hash_ids"}
}

// maxMapping bounds a mapping file.
const maxMapping = 64 << 10

// ParseMapping reads a mapping file: YAML with the keys fields, units, where
// and block_tokens. An error names file, line and column.
func ParseMapping(name string, text []byte) (*Mapping, error) {
	m := &mappingFile{Mapping: &Mapping{name: name, fields: map[string]string{}, units: map[string]int{}}}
	if len(text) > maxMapping {
		return nil, fmt.Errorf("%s: expected a mapping of at most %d KiB", name, maxMapping>>10)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, m.syntax(err)
	}
	var top ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if top != nil {
			return nil, m.at(d.Body, "expected one document, found a second")
		}
		top = d.Body
	}
	if top == nil {
		return nil, fmt.Errorf("%s: expected a mapping, found an empty file", name)
	}
	if err := m.top(top); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc([]string{"at", "input_tokens", "prompt", "messages", "body"}, func(w string) bool { return m.fields[w] != "" }) {
		return nil, m.at(top, "expected fields to name at least one of at, input_tokens, prompt, messages, body")
	}
	if m.fields["hash_ids"] != "" && m.block == 0 {
		return nil, m.at(top, "expected block_tokens, since fields names hash_ids")
	}
	return m.Mapping, nil
}

// mappingFile is a mapping under way.
type mappingFile struct{ *Mapping }

func (m *mappingFile) syntax(err error) error {
	if y, ok := errors.AsType[yaml.Error](err); ok {
		text, _, _ := strings.Cut(y.GetMessage(), "\n")
		if t := y.GetToken(); t != nil && t.Position != nil {
			return fmt.Errorf("%s:%d:%d: not valid YAML: %s", m.name, t.Position.Line, t.Position.Column, text)
		}
	}
	return fmt.Errorf("%s: not valid YAML", m.name)
}

func (m *mappingFile) at(n ast.Node, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if t := n.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%s:%d:%d: %s", m.name, t.Position.Line, t.Position.Column, what)
	}
	return fmt.Errorf("%s: %s", m.name, what)
}

// pairs returns the entries of a mapping node, each key once.
func (m *mappingFile) pairs(n ast.Node, what string) ([]*ast.MappingValueNode, error) {
	var list []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	default:
		return nil, m.at(n, "expected %s", what)
	}
	seen := map[string]bool{}
	for _, p := range list {
		key := p.Key.String()
		if seen[key] {
			return nil, m.at(p.Key, "%s is given twice", key)
		}
		seen[key] = true
	}
	return list, nil
}

// scalar returns the text of a plain value.
func (m *mappingFile) scalar(n ast.Node, what string) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return strings.TrimSpace(n.GetToken().Value), nil
	}
	return "", m.at(n, "expected %s", what)
}

func (m *mappingFile) top(n ast.Node) error {
	pairs, err := m.pairs(n, "a mapping with the keys fields, units, where, block_tokens")
	if err != nil {
		return err
	}
	for _, p := range pairs {
		switch key := p.Key.String(); key {
		case "fields":
			err = m.readFields(p.Value)
		case "units":
			err = m.readUnits(p.Value)
		case "where":
			err = m.readWhere(p.Value)
		case "block_tokens":
			var s string
			if s, err = m.scalar(p.Value, "a number of tokens"); err == nil {
				n, exact, ok := decimal([]byte(s), 0)
				if !ok || !exact || n < 1 || n > MaxTokens {
					err = m.at(p.Value, "expected a number of tokens from 1 on")
				}
				m.block = n
			}
		default:
			err = m.at(p.Key, "unknown key %.40q: expected fields, units, where or block_tokens", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *mappingFile) readFields(n ast.Node) error {
	pairs, err := m.pairs(n, "a mapping of words to dotted paths, such as input_tokens: usage.prompt_tokens")
	if err != nil {
		return err
	}
	for _, p := range pairs {
		word := p.Key.String()
		if !slices.Contains(mappingWords(), word) {
			return m.at(p.Key, "unknown word %.40q: expected one of %s", word, strings.Join(mappingWords(), ", "))
		}
		path, err := m.scalar(p.Value, "a dotted path such as usage.prompt_tokens")
		if err != nil {
			return err
		}
		if path == "" {
			return m.at(p.Value, "expected a dotted path such as usage.prompt_tokens, found nothing")
		}
		m.fields[word] = path
	}
	content := 0
	for _, w := range []string{"prompt", "messages", "body"} {
		if m.fields[w] != "" {
			content++
		}
	}
	if content > 1 {
		return m.at(n, "expected only one of prompt, messages, body")
	}
	return nil
}

func (m *mappingFile) readUnits(n ast.Node) error {
	pairs, err := m.pairs(n, "a mapping of at, first_token or duration to s, ms, us or ns")
	if err != nil {
		return err
	}
	for _, p := range pairs {
		word := p.Key.String()
		if word != "at" && word != "first_token" && word != "duration" {
			return m.at(p.Key, "expected at, first_token or duration, found %.40q", word)
		}
		unit, err := m.scalar(p.Value, "s, ms, us or ns")
		if err != nil {
			return err
		}
		exp, ok := map[string]int{"s": seconds, "ms": millis, "us": micros, "ns": nanos}[unit]
		if !ok {
			return m.at(p.Value, "expected s, ms, us or ns, found %.40q", unit)
		}
		m.units[word] = exp
	}
	return nil
}

func (m *mappingFile) readWhere(n ast.Node) error {
	pairs, err := m.pairs(n, "a mapping of dotted paths to a value or a list of values")
	if err != nil {
		return err
	}
	for _, p := range pairs {
		path, err := m.scalar(p.Key, "a dotted path")
		if err != nil {
			return err
		}
		c := condition{path: path}
		values := []ast.Node{p.Value}
		if list, ok := p.Value.(*ast.SequenceNode); ok {
			values = list.Values
		}
		for _, v := range values {
			s, err := m.scalar(v, "a value or a list of values")
			if err != nil {
				return err
			}
			c.values = append(c.values, s)
		}
		if len(c.values) == 0 {
			return m.at(p.Value, "expected at least one value")
		}
		m.where = append(m.where, c)
	}
	return nil
}

// format is the format that a mapping makes.
func (m *Mapping) format() *format {
	return &format{name: mappedName, shape: objects, counted: m.fields["turn"] == "", ends: true, open: func(*Options) decoder {
		return &mapped{m: m}
	}}
}

// unit of a fact that is a time: seconds where the mapping does not say.
func (m *Mapping) unit(word string) int {
	if exp, ok := m.units[word]; ok {
		return exp
	}
	return seconds
}

// mapped reads objects by a mapping.
type mapped struct {
	p      objectParser
	m      *Mapping
	looked bool
	unseen []string // words whose fields no line has had
	met    []met    // of each condition
}

// met is what was seen of a condition.
type met struct{ there, holds bool }

func (d *mapped) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if !d.wanted(o) {
		out.ignored++
		return
	}
	if !d.looked || len(d.unseen) > 0 {
		d.look(o)
	}
	r := out.row()
	path := func(word string) string { return d.m.fields[word] }
	o.at(r, d.m.unit("at"), path("at"))
	r.ID, r.Class, r.Tenant = o.text(path("id")), o.text(path("class")), o.text(path("tenant"))
	r.Session, r.Parent, r.Model = o.text(path("session")), o.text(path("parent")), o.text(path("model"))
	r.Turn = o.whole(0, 1e9, path("turn"))
	r.Input, r.Output = o.tokens(path("input_tokens")), o.tokens(path("output_tokens"))
	r.Cached = o.tokens(path("cached_tokens"))
	o.reasoned(r, path("reasoning_tokens"))
	r.Tools = o.count(path("tools"))
	r.Failed, r.Told = o.truth(path("failed")), o.get(path("failed")) != nil
	o.status(r, path("status"))
	r.FirstToken, r.Duration = o.span(d.m.unit("first_token"), path("first_token")), o.span(d.m.unit("duration"), path("duration"))
	o.blocks(r, path("hash_ids"), d.m.block)
	r.Limit = o.limit(path("max_tokens"))
	d.content(o, r)                      // whose own limit goes before it
	if r.Images+r.Audios+r.Videos == 0 { // else its content has them
		r.Images, r.Audios, r.Videos = o.count(path("images")), o.count(path("audios")), o.count(path("videos"))
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// wanted tells whether all conditions hold, and notes which have.
func (d *mapped) wanted(o object) bool {
	if d.met == nil {
		d.met = make([]met, len(d.m.where))
	}
	all := true
	for i, c := range d.m.where {
		holds := o.is(c)
		if !d.met[i].holds {
			d.met[i] = met{d.met[i].there || o.get(c.path) != nil, holds}
		}
		all = all && holds
	}
	return all
}

func (d *mapped) content(o object, r *Row) {
	if p := d.m.fields["prompt"]; p != "" && o.get(p) != nil {
		r.Turns = []Turn{{Messages: []Message{{Role: "user", Text: o.text(p)}}}}
	}
	if p := d.m.fields["messages"]; p != "" {
		if v := o.get(p); v != nil {
			o.messages(r, v)
		}
	}
	if p := d.m.fields["body"]; p != "" {
		if v := o.get(p); v != nil {
			o.body(r, v)
		}
	}
	if !r.Timed && r.Input == 0 && len(r.Turns) == 0 && r.Body == nil {
		o.fail("has none of the fields that the mapping names for at, input_tokens, prompt, messages, body")
	}
}

// is tells whether a condition holds.
func (o object) is(c condition) bool {
	v := o.get(c.path)
	if v == nil {
		return slices.Contains(c.values, "null")
	}
	if t := v.Type(); t == fastjson.TypeTrue || t == fastjson.TypeFalse {
		return slices.Contains(c.values, v.String())
	}
	if t := v.Type(); t != fastjson.TypeString && t != fastjson.TypeNumber {
		return false
	}
	return slices.Contains(c.values, string(o.raw(v)))
}
