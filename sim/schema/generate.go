package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// Limits of a value: its nesting, and the elements of arrays and objects in all.
const (
	maxDepth    = 32
	maxElements = 4096
)

// node is a schema; true and {} allow everything.
type node struct {
	Type       any              `json:"type"`
	Enum       []any            `json:"enum"`
	Const      *json.RawMessage `json:"const"`
	Properties properties       `json:"properties"`
	Required   []string         `json:"required"`
	Items      *node            `json:"items"`
	Prefix     []*node          `json:"prefixItems"`
	MinItems   int              `json:"minItems"`
	MaxItems   *int             `json:"maxItems"`
	Unique     bool             `json:"uniqueItems"`
	MinLength  int              `json:"minLength"`
	MaxLength  *int             `json:"maxLength"`
	Format     string           `json:"format"`
	Pattern    string           `json:"pattern"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	Above      *float64         `json:"exclusiveMinimum"`
	Below      *float64         `json:"exclusiveMaximum"`
	MultipleOf *float64         `json:"multipleOf"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
	AllOf      []*node          `json:"allOf"`
	Ref        string           `json:"$ref"`
}

// UnmarshalJSON takes the boolean schemas too.
func (n *node) UnmarshalJSON(b []byte) error {
	if s := string(bytes.TrimSpace(b)); s == "true" || s == "false" {
		return nil
	}
	type plain node
	return json.Unmarshal(b, (*plain)(n))
}

// properties keep the order in which they stand.
type properties struct {
	names []string
	nodes map[string]*node
}

// UnmarshalJSON reads an object in order.
func (p *properties) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.nodes); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
		if s, ok := name.(string); ok && !slices.Contains(p.names, s) {
			p.names = append(p.names, s)
		}
	}
	return nil
}

type generator struct {
	root     []byte
	seed     uint64
	drawn    uint64
	elements int
}

// Generate returns a value, without white space, that follows a schema. It is
// always the same one for the same schema and seed.
func Generate(raw []byte, seed uint64) ([]byte, error) {
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("the schema is not one: %w", err)
	}
	g := &generator{root: raw, seed: seed}
	return g.value(nil, &n, "value", 0)
}

func (g *generator) draw(n uint64) uint64 {
	g.drawn++
	return core.Mix(g.seed, g.drawn) % max(n, 1)
}

// value appends a value of n; name is the property that holds it.
func (g *generator) value(b []byte, n *node, name string, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the schema nests more than %d levels deep", maxDepth)
	}
	if g.elements++; g.elements > maxElements {
		return nil, fmt.Errorf("the schema asks for more than %d values", maxElements)
	}
	n, err := g.resolve(n, depth)
	if err != nil {
		return nil, err
	}
	switch {
	case n.Const != nil:
		return append(b, *n.Const...), nil
	case len(n.Enum) > 0:
		v, err := json.Marshal(n.Enum[g.draw(uint64(len(n.Enum)))])
		return append(b, v...), err
	}
	switch kind := g.kind(n, depth); kind {
	case "object":
		return g.object(b, n, depth)
	case "array":
		return g.array(b, n, name, depth)
	case "string":
		s, err := g.text(n, name)
		if err != nil {
			return nil, err
		}
		q, err := json.Marshal(s)
		return append(b, q...), err
	case "integer", "number":
		return g.number(b, n, kind == "integer")
	case "boolean":
		return strconv.AppendBool(b, g.draw(2) == 0), nil
	case "null":
		return append(b, "null"...), nil
	default:
		return nil, fmt.Errorf("unknown type %q", kind)
	}
}

// resolve follows references and picks alternatives.
func (g *generator) resolve(n *node, depth int) (*node, error) {
	for range maxDepth {
		switch {
		case n.Ref != "":
			to, err := g.lookup(n.Ref)
			if err != nil {
				return nil, err
			}
			n = to
		case len(n.AnyOf) > 0:
			n = g.pick(n.AnyOf, depth)
		case len(n.OneOf) > 0:
			n = g.pick(n.OneOf, depth)
		case len(n.AllOf) > 0:
			to, err := g.merge(n, depth)
			if err != nil {
				return nil, err
			}
			n = to
		default:
			return n, nil
		}
		if n == nil {
			return &node{}, nil
		}
	}
	return nil, fmt.Errorf("references of the schema go round in circles")
}

// pick takes an alternative: deep down the last one, which in a recursive
// schema is by habit the one that ends.
func (g *generator) pick(list []*node, depth int) *node {
	if depth > 3 {
		for _, n := range list {
			if n != nil && n.Type == "null" {
				return n
			}
		}
		return list[len(list)-1]
	}
	return list[g.draw(uint64(len(list)))]
}

// merge joins allOf's objects.
func (g *generator) merge(n *node, depth int) (*node, error) {
	out := *n
	out.AllOf = nil
	out.Properties = properties{names: slices.Clone(n.Properties.names), nodes: map[string]*node{}}
	maps.Copy(out.Properties.nodes, n.Properties.nodes)
	for _, part := range n.AllOf {
		if part == nil {
			continue
		}
		p, err := g.resolve(part, depth)
		if err != nil {
			return nil, err
		}
		if out.Type == nil {
			out.Type = p.Type
		}
		for _, name := range p.Properties.names {
			if _, ok := out.Properties.nodes[name]; !ok {
				out.Properties.names = append(out.Properties.names, name)
			}
			out.Properties.nodes[name] = p.Properties.nodes[name]
		}
		out.Required = append(out.Required, p.Required...)
	}
	return &out, nil
}

// lookup finds what #/… points to.
func (g *generator) lookup(ref string) (*node, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("$ref %q leads out of the schema", ref)
	}
	at := json.RawMessage(g.root)
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var o map[string]json.RawMessage
		if json.Unmarshal(at, &o) != nil || o[step] == nil {
			return nil, fmt.Errorf("$ref %q leads nowhere", ref)
		}
		at = o[step]
	}
	var n node
	err := json.Unmarshal(at, &n)
	return &n, err
}

// kind is the type that the value gets.
func (g *generator) kind(n *node, depth int) string {
	switch t := n.Type.(type) {
	case string:
		return t
	case []any:
		if len(t) == 0 {
			break
		}
		at := g.draw(uint64(len(t)))
		if depth > 3 && slices.Contains(t, any("null")) {
			return "null"
		}
		s, _ := t[at].(string)
		return s
	}
	switch {
	case n.Properties.nodes != nil || n.Required != nil:
		return "object"
	case n.Items != nil || n.Prefix != nil:
		return "array"
	case n.Minimum != nil || n.Maximum != nil || n.Above != nil || n.Below != nil || n.MultipleOf != nil:
		return "number"
	}
	return "string"
}

func (g *generator) object(b []byte, n *node, depth int) ([]byte, error) {
	names := slices.Clone(n.Properties.names)
	for _, r := range n.Required {
		if !slices.Contains(names, r) {
			names = append(names, r)
		}
	}
	if depth > 3 { // optional ones may recurse
		names = slices.DeleteFunc(names, func(s string) bool { return !slices.Contains(n.Required, s) })
	}
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		q, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(append(b, q...), ':')
		p := n.Properties.nodes[name]
		if p == nil {
			p = &node{}
		}
		if b, err = g.value(b, p, name, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (g *generator) array(b []byte, n *node, name string, depth int) ([]byte, error) {
	count := max(n.MinItems, 2)
	if depth > 3 {
		count = n.MinItems
	}
	count = max(count, len(n.Prefix))
	if n.MaxItems != nil {
		count = min(count, *n.MaxItems)
	}
	item := n.Items
	if item == nil {
		item = &node{}
	}
	b = append(b, '[')
	var seen []string
	for i := range count {
		of := item
		if i < len(n.Prefix) && n.Prefix[i] != nil {
			of = n.Prefix[i]
		}
		one, err := g.distinct(of, name, depth, n.Unique, seen)
		if err != nil {
			return nil, err
		}
		if one == nil {
			if i >= n.MinItems {
				break
			}
			return nil, fmt.Errorf("%s: no %d different values were found", name, n.MinItems)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b, seen = append(b, one...), append(seen, string(one))
	}
	return append(b, ']'), nil
}

// distinct returns a value that is none of seen where it has to be; nil when
// many tries gave none.
func (g *generator) distinct(n *node, name string, depth int, unique bool, seen []string) ([]byte, error) {
	for range 50 {
		one, err := g.value(nil, n, name, depth+1)
		if err != nil || !unique || !slices.Contains(seen, string(one)) {
			return one, err
		}
	}
	return nil, nil
}

// number draws within the bounds, which default to 0 and 100.
func (g *generator) number(b []byte, n *node, whole bool) ([]byte, error) {
	step := 0.01
	if whole {
		step = 1
	}
	if n.MultipleOf != nil && *n.MultipleOf > 0 {
		step = *n.MultipleOf
	}
	low, high := math.Inf(-1), math.Inf(1)
	for _, p := range []*float64{n.Minimum, n.Above} {
		if p != nil {
			low = max(low, *p)
		}
	}
	for _, p := range []*float64{n.Maximum, n.Below} {
		if p != nil {
			high = min(high, *p)
		}
	}
	switch {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		low, high = 0, 100
	case math.IsInf(low, 0):
		low = high - 100*step
	case math.IsInf(high, 0):
		high = low + 100*step
	}
	first, last := math.Ceil(low/step), math.Floor(high/step)
	if n.Above != nil && first*step <= *n.Above {
		first++
	}
	if n.Below != nil && last*step >= *n.Below {
		last--
	}
	if first > last {
		if whole || n.MultipleOf != nil || low >= high {
			return nil, fmt.Errorf("no number lies between %v and %v", low, high)
		}
		return strconv.AppendFloat(b, (low+high)/2, 'g', -1, 64), nil
	}
	k := first + float64(g.draw(uint64(min(last-first+1, 1<<40))))
	if whole && math.Abs(k*step) < 1<<53 {
		return strconv.AppendInt(b, int64(k*step), 10), nil
	}
	// Through a decimal, so that 0.01 steps do not show binary fractions.
	v, err := strconv.ParseFloat(strconv.FormatFloat(k*step, 'g', 12, 64), 64)
	if err != nil {
		return nil, err
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64), nil
}
