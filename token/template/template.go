package template

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/token/template/jinja"
)

// Template is a model's chat template with what it is rendered with. It is
// safe for concurrent use.
type Template struct {
	name    string
	sources map[string]*source // by name; of one alone it is defaultName
	special map[string]any     // bos_token, eos_token, ...
	// Dialect is how the server treats a request before it renders it.
	Dialect Dialect
	// AddBOS says that the server puts the begin-of-text token in front of a
	// text that does not begin with it.
	AddBOS bool
	// Parts says whether the server takes the template for one that knows
	// contents in parts; nil: it is found out as the server does.
	Parts *bool
	// Now is what strftime_now writes; nil: the present.
	Now func() time.Time
}

// source is one template, and what its text tells about the contents it takes.
type source struct {
	jinja *jinja.Template
	parts bool // it goes through the parts of contents: vLLM's way to tell
	shows bool // it writes the text of a content in parts: llama.cpp's
}

// takesParts tells whether a server takes the template for one that knows
// contents in parts.
func (s *source) takesParts(d Dialect) bool {
	if d == LlamaCPP {
		return s.shows
	}
	return s.parts
}

// showsParts tries a template with a content in parts.
func showsParts(t *jinja.Template) bool {
	const needle = "needle-in-a-part"
	messages, err := jinja.FromJSON([]byte(`[{"role":"user","content":[{"type":"text","text":"` + needle + `"}]}]`))
	if err != nil {
		return false
	}
	text, err := t.Render(map[string]any{"messages": messages, "add_generation_prompt": true, "bos_token": "", "eos_token": ""},
		jinja.Options{Limits: jinja.Limits{Steps: 1 << 17, Bytes: 4 << 20}, Mutable: true})
	// What prints the list as it is does not know it.
	return err == nil && strings.Contains(text, needle) && !strings.Contains(text, needle+"'") && !strings.Contains(text, needle+`"`)
}

// The names of templates of a model that has several.
const (
	defaultName = "default"
	toolName    = "tool_use"
)

// New returns the template of a source text. name says in records where it is
// from; special are the special tokens that it may name (bos_token, eos_token,
// ...). What is wrong in the source is an error with its line.
func New(name, src string, special map[string]string) (*Template, error) {
	return newTemplate(name, map[string]string{defaultName: src}, special)
}

func newTemplate(name string, sources map[string]string, special map[string]string) (*Template, error) {
	t := &Template{sources: map[string]*source{}, special: map[string]any{}}
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(sources)) {
		text := sources[key]
		parsed, err := jinja.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("chat template %s: %w", name, err)
		}
		t.sources[key] = &source{jinja: parsed, parts: parsed.GoesThrough("content"), shows: showsParts(parsed)}
		_, _ = sum.Write([]byte(text)) // never fails
	}
	if len(t.sources) == 0 {
		return nil, fmt.Errorf("chat template %s: there is none in it", name)
	}
	for k, v := range special {
		t.special[k] = v
	}
	t.name = name + " sha256:" + hex.EncodeToString(sum.Sum(nil)[:6])
	return t, nil
}

// ErrGoesOn says that the answer is to go on from the chat's last message, for
// which servers have ways of their own that are not known here.
var ErrGoesOn = errors.New("the answer goes on from the last message")

// Name says which template it is, for records and reports.
func (t *Template) Name() string { return t.name }

// pick chooses the template as transformers does: tool_use for a chat with
// tools where there is one.
func (t *Template) pick(tools bool) (*source, error) {
	if s := t.sources[toolName]; s != nil && tools {
		return s, nil
	}
	if s := t.sources[defaultName]; s != nil {
		return s, nil
	}
	if len(t.sources) == 1 {
		for _, s := range t.sources {
			return s, nil
		}
	}
	return nil, errors.New("it has several templates and none that is called default")
}

// Render returns the text that a chat becomes. Errors never show its content.
func (t *Template) Render(c *Chat) (string, error) {
	s, err := t.pick(c.tools != nil)
	if err != nil {
		return "", fmt.Errorf("chat template %s: %w", t.name, err)
	}
	if !t.Dialect.known(c) {
		return "", fmt.Errorf("chat template %s: %w", t.name, ErrGoesOn)
	}
	o := jinja.Options{Now: time.Now(), Mutable: t.Dialect == LlamaCPP}
	if t.Now != nil {
		o.Now = t.Now()
	}
	parts := s.takesParts(t.Dialect)
	if t.Parts != nil {
		parts = *t.Parts
	}
	all := maps.Clone(t.special)
	maps.Copy(all, t.Dialect.variables(c, parts, o.Now))
	text, err := s.jinja.Render(all, o)
	if err != nil {
		return "", fmt.Errorf("chat template %s: %w", t.name, err)
	}
	return text, nil
}

// Count returns the tokens of a chat's whole prompt: what a server with this
// template and tokenizer says as usage.prompt_tokens.
func (t *Template) Count(tok token.Tokenizer, c *Chat) (int, error) {
	text, err := t.Render(c)
	if err != nil {
		return 0, err
	}
	n, err := tok.Count(text)
	if bos, _ := t.special["bos_token"].(string); err == nil && t.AddBOS && (bos == "" || !strings.HasPrefix(text, bos)) {
		n++
	}
	return n, err
}
