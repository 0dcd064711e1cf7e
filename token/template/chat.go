package template

import (
	"errors"
	"fmt"

	"github.com/tokamak-bench/tokamak/token/template/jinja"
)

// Chat is what a request asks a model with a chat template.
type Chat struct {
	messages *jinja.List
	tools    *jinja.List // nil: none
	// variables are chat_template_kwargs and the like.
	variables map[string]any
	prompt    bool // the answer's beginning stands behind the last message
	resume    bool // continue_final_message
}

// Message is one message of plain text.
type Message struct{ Role, Text string }

// NewChat returns the chat of plain messages.
func NewChat(messages ...Message) *Chat {
	c := &Chat{messages: jinja.NewList(), prompt: true}
	for _, m := range messages {
		d := jinja.NewDict()
		d.Set("role", m.Role)
		d.Set("content", m.Text)
		c.messages.Append(d)
	}
	return c
}

// ErrNoChat says that a body has no messages.
var ErrNoChat = errors.New("no messages")

// ParseChat reads the body of a chat completion: messages, tools (unless
// tool_choice is none), chat_template_kwargs, add_generation_prompt,
// continue_final_message, documents, reasoning_effort. A body without messages
// is [ErrNoChat]. Errors never show what the body holds.
func ParseChat(body []byte) (*Chat, error) {
	v, err := jinja.FromJSON(body)
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	d, ok := v.(*jinja.Dict)
	if !ok {
		return nil, errors.New("chat: expected a JSON object")
	}
	messages, there := d.Get("messages")
	if !there {
		return nil, ErrNoChat
	}
	c := &Chat{prompt: true, variables: map[string]any{}}
	if c.messages, ok = messages.(*jinja.List); !ok {
		return nil, errors.New("chat: expected messages to be a list")
	}
	for i := range c.messages.Len() {
		if _, ok := c.messages.At(i).(*jinja.Dict); !ok {
			return nil, fmt.Errorf("chat: expected message %d to be an object", i+1)
		}
	}
	if choice, _ := d.Get("tool_choice"); choice != "none" {
		if list, _ := d.Get("tools"); list != nil {
			if l, ok := list.(*jinja.List); ok && l.Len() > 0 {
				c.tools = l
			}
		}
	}
	for _, k := range []string{"documents", "reasoning_effort"} {
		if x, _ := d.Get(k); x != nil {
			c.variables[k] = x
		}
	}
	if kw, _ := d.Get("chat_template_kwargs"); kw != nil {
		m, ok := kw.(*jinja.Dict)
		if !ok {
			return nil, errors.New("chat: expected chat_template_kwargs to be an object")
		}
		for i := range m.Len() {
			k, x := m.Key(i)
			if name, ok := k.(string); ok {
				c.variables[name] = x
			}
		}
	}
	if b, ok := get(d, "add_generation_prompt").(bool); ok {
		c.prompt = b
	}
	c.resume, _ = get(d, "continue_final_message").(bool)
	return c, nil
}

func get(d *jinja.Dict, key string) any {
	v, _ := d.Get(key)
	return v
}

// Media tells whether a message has a part that is no text, such as an image.
func (c *Chat) Media() bool {
	for i := range c.messages.Len() {
		parts, ok := get(c.messages.At(i).(*jinja.Dict), "content").(*jinja.List)
		if !ok {
			continue
		}
		for j := range parts.Len() {
			p, ok := parts.At(j).(*jinja.Dict)
			if !ok {
				continue
			}
			if kind := get(p, "type"); kind != nil && kind != "text" && kind != "input_text" && kind != "refusal" && kind != "thinking" {
				return true
			}
		}
	}
	return false
}

// Texts returns the text of each message: its content, or the texts of its
// parts together.
func (c *Chat) Texts() []string {
	out := make([]string, c.messages.Len())
	for i := range out {
		d := c.messages.At(i).(*jinja.Dict)
		switch content := get(d, "content").(type) {
		case string:
			out[i] = content
		case *jinja.List:
			out[i] = joined(content, "")
		}
	}
	return out
}

// joined gives the texts of a content's parts with something between them.
func joined(parts *jinja.List, between string) string {
	text, some := "", false
	for i := range parts.Len() {
		var s string
		switch p := parts.At(i).(type) {
		case string:
			s = p
		case *jinja.Dict:
			t, ok := get(p, "text").(string)
			if !ok {
				continue
			}
			s = t
		}
		if some {
			text += between
		}
		text, some = text+s, true
	}
	return text
}
