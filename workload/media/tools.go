package media

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// Tools are definitions of functions that a model may call.
type Tools struct {
	ID    uint64
	Count int64
	// Tokens is the length of each definition as JSON text; 0: as it comes,
	// about a hundred.
	Tokens int64
}

const (
	// MaxTools bounds the definitions of a request, and
	MaxTools = 1024
	// MaxToolTokens the length of one.
	MaxToolTokens = 100_000
)

// tool is a definition as OpenAI's API has it. Its fields are in an order of
// their own, so that a text that is padded ends with what is padded.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string `json:"name"`
	Parameters  schema `json:"parameters"`
	Description string `json:"description"`
}

type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Items      *schema            `json:"items,omitempty"`
	Enum       []string           `json:"enum,omitempty"`
	About      string             `json:"description,omitempty"`
}

// JSON returns the list of definitions and its length in tokens, where count
// says how long a text is. Where a length is asked for, each definition has
// exactly that; it fails where a definition cannot be as short.
func (t *Tools) JSON(count func(string) (int64, error)) ([]byte, int64, error) {
	if t.Count < 0 || t.Count > MaxTools || t.Tokens < 0 || t.Tokens > MaxToolTokens {
		return nil, 0, fmt.Errorf("expected up to %d tools of up to %d tokens", MaxTools, MaxToolTokens)
	}
	list := make([]json.RawMessage, 0, t.Count)
	names := map[string]bool{}
	words := corpus.Words()
	for i := range t.Count {
		m := &maker{stat.Random(t.ID, "tool", uint64(i)), words}
		f := m.function()
		for names[f.Name] {
			f.Name = fmt.Sprintf("%s_%d", f.Name, i)
		}
		names[f.Name] = true
		text, err := t.fit(f, m, count)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, text)
	}
	out, err := json.Marshal(list)
	if err != nil {
		return nil, 0, err
	}
	n, err := count(string(out))
	return out, n, err
}

// function invents a function of one to four parameters.
func (m *maker) function() *function {
	verbs := []string{"get", "list", "create", "update", "delete", "search", "send", "book", "convert", "summarise", "schedule", "validate"}
	f := &function{Name: verbs[m.IntN(len(verbs))] + "_" + m.word(), Parameters: schema{Type: "object", Properties: map[string]*schema{}}}
	for range 1 + m.IntN(4) {
		f.parameter(m)
	}
	f.Description = "Use this " + m.sentence(6+m.IntN(10)) + "."
	return f
}

// parameter adds one more parameter.
func (f *function) parameter(m *maker) {
	name := m.word()
	for f.Parameters.Properties[name] != nil {
		name += "_" + m.word()
	}
	p := &schema{Type: []string{"string", "integer", "number", "boolean"}[m.IntN(4)], About: "The " + m.sentence(3+m.IntN(5)) + "."}
	switch m.IntN(5) {
	case 0:
		p.Type, p.Enum = "string", []string{m.word(), m.word() + "_" + m.word(), m.word() + "s"}
	case 1:
		p.Items, p.Type = &schema{Type: "string"}, "array"
	}
	f.Parameters.Properties[name] = p
	if m.IntN(2) == 0 {
		f.Parameters.Required = append(f.Parameters.Required, name)
	}
}

// drop takes a parameter away, unless it is the only one.
func (f *function) drop() bool {
	if len(f.Parameters.Properties) < 2 {
		return false
	}
	name := slices.Max(slices.Collect(maps.Keys(f.Parameters.Properties)))
	delete(f.Parameters.Properties, name)
	f.Parameters.Required = slices.DeleteFunc(f.Parameters.Required, func(s string) bool { return s == name })
	return true
}

// fit gives a definition the asked length: parameters as long as there is much
// room, then words of its description.
func (t *Tools) fit(f *function, m *maker, count func(string) (int64, error)) ([]byte, error) {
	size := func() ([]byte, int64, error) {
		b, err := json.Marshal(tool{"function", *f})
		if err != nil {
			return nil, 0, err
		}
		n, err := count(string(b))
		return b, n, err
	}
	text, n, err := size()
	for ; err == nil && t.Tokens-n > 60; text, n, err = size() {
		for range max(1, (t.Tokens-n)/80) {
			f.parameter(m)
		}
	}
	for ; err == nil && 0 < t.Tokens && t.Tokens < n && f.drop(); text, n, err = size() {
	}
	for try := 0; err == nil && t.Tokens > 0 && n != t.Tokens; try++ {
		words := strings.Fields(strings.TrimSuffix(f.Description, "."))
		switch {
		case n < t.Tokens:
			for range t.Tokens - n {
				words = append(words, m.word())
			}
		case try > 40 || len(words) == 1:
			return nil, fmt.Errorf("a tool's definition of %d tokens cannot be made: one takes %d", t.Tokens, n)
		default:
			words = words[:max(1, len(words)-int(n-t.Tokens))]
		}
		f.Description = strings.Join(words, " ") + "."
		text, n, err = size()
	}
	return text, err
}

// maker invents things out of a generator and plain words.
type maker struct {
	*rand.Rand
	words []string
}

func (m *maker) word() string { return m.words[m.IntN(len(m.words))] }

func (m *maker) sentence(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = m.word()
	}
	return strings.Join(words, " ")
}
