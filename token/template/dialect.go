package template

import (
	"time"

	"github.com/tokamak-bench/tokamak/token/template/jinja"
)

// Dialect is how a server treats a request before it renders it.
type Dialect string

// The dialects. Plain gives the template what the request holds, as
// transformers' apply_chat_template does with the same messages.
const (
	Plain    Dialect = ""
	VLLM     Dialect = "vllm"
	LlamaCPP Dialect = "llama.cpp"
)

// variables are what a template is rendered with.
func (d Dialect) variables(c *Chat, parts bool, now time.Time) map[string]any {
	v := map[string]any{"messages": c.messages, "tools": nil, "documents": nil, "add_generation_prompt": c.prompt}
	if c.tools != nil {
		v["tools"] = c.tools
	}
	if d == LlamaCPP {
		v["enable_thinking"] = true
		v["date_string"] = now.Format("02 Jan 2006")
		if c.tools == nil {
			delete(v, "tools")
		}
	}
	for k, x := range c.variables {
		v[k] = x
	}
	if d == Plain {
		return v
	}
	list := jinja.NewList()
	n := c.messages.Len()
	for i := range n {
		list.Append(d.message(c.messages.At(i).(*jinja.Dict), parts))
	}
	v["messages"] = list
	return v
}

// known tells whether this package knows what the server makes of a chat:
// llama.cpp lets an answer go on from a last message by the assistant, in a form
// that differs from model to model.
func (d Dialect) known(c *Chat) bool {
	n := c.messages.Len()
	if c.resume {
		return false
	}
	return d != LlamaCPP || n == 0 || get(c.messages.At(n-1).(*jinja.Dict), "role") != "assistant"
}

// message gives a message the form that the server gives it.
func (d Dialect) message(m *jinja.Dict, parts bool) *jinja.Dict {
	out := m.Clone()
	if d == LlamaCPP && get(m, "role") == "developer" {
		out.Set("role", "system")
	}
	switch content := get(m, "content").(type) {
	case nil:
		out.Set("content", "")
		if parts && d == VLLM {
			out.Set("content", jinja.NewList())
		}
	case string:
		if parts && d == VLLM {
			part := jinja.NewDict()
			part.Set("type", "text")
			part.Set("text", content)
			out.Set("content", jinja.NewList(part))
		}
	case *jinja.List:
		if !parts {
			out.Set("content", joined(content, "\n"))
		}
	}
	if calls, ok := get(m, "tool_calls").(*jinja.List); ok {
		list := jinja.NewList()
		for i := range calls.Len() {
			list.Append(withArguments(calls.At(i)))
		}
		out.Set("tool_calls", list)
	}
	return out
}

// withArguments is a call whose arguments are an object, where they are the
// text of one.
func withArguments(v any) any {
	call, ok := v.(*jinja.Dict)
	if !ok {
		return v
	}
	f, ok := get(call, "function").(*jinja.Dict)
	if !ok {
		return v
	}
	raw, ok := get(f, "arguments").(string)
	if !ok {
		return v
	}
	arguments, err := jinja.FromJSON([]byte(raw))
	switch {
	case raw == "":
		arguments = jinja.NewDict()
	case err != nil:
		return v
	}
	f, call = f.Clone(), call.Clone()
	f.Set("arguments", arguments)
	call.Set("function", f)
	return call
}
