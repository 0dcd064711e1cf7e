package count

import (
	"hash/maphash"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// mostDepth bounds how deep content lies in content.
const mostDepth = 8

// body writes the prompt of a request body in the order in which chat templates
// do: tools, what is said as the system, then messages or the prompt. A body of a
// form that has no such texts writes nothing.
func (p *Prompts) body(body []byte) {
	v, err := p.parser.ParseBytes(body) // which it copies
	if err != nil {
		return
	}
	if tools := v.Get("tools"); tools != nil && tools.Type() == fastjson.TypeArray && len(tools.GetArray()) > 0 {
		p.begin("tools")
		p.write(tools.MarshalTo(nil))
	}
	for _, key := range []string{"system", "system_instruction", "systemInstruction", "instructions"} {
		if said := v.Get(key); said != nil {
			p.begin("system")
			p.content(said, mostDepth)
		}
	}
	for _, key := range []string{"messages", "contents", "input", "prompt", "inputs"} {
		p.list(v.Get(key))
	}
}

// list writes a list of messages, or one text.
func (p *Prompts) list(v *fastjson.Value) {
	if v == nil {
		return
	}
	if v.Type() != fastjson.TypeArray {
		p.begin("user")
		p.content(v, mostDepth)
		return
	}
	for i, m := range v.GetArray() {
		if m.Type() == fastjson.TypeObject {
			p.begin(roleOf(m))
		} else if i == 0 {
			p.begin("user")
		}
		p.content(m, mostDepth-1)
	}
}

// roleOf is whose a message is, or what it is where it does not say.
func roleOf(m *fastjson.Value) string {
	if role := m.GetStringBytes("role"); len(role) > 0 {
		return string(role)
	}
	if kind := m.GetStringBytes("type"); len(kind) > 0 {
		return string(kind)
	}
	return "user"
}

// content writes a text, a list of token ids, or lists and objects that hold
// texts.
func (p *Prompts) content(v *fastjson.Value, depth int) {
	if v == nil || depth == 0 {
		return
	}
	switch v.Type() {
	case fastjson.TypeString:
		p.write(v.GetStringBytes())
	case fastjson.TypeNumber:
		p.token(v) // of a prompt given as ids
	case fastjson.TypeArray:
		for _, part := range v.GetArray() {
			p.content(part, depth-1)
		}
	case fastjson.TypeObject:
		p.object(v, depth-1)
	}
}

// object writes what a message or a part of one says. A part without texts, such
// as an image, stands for itself.
func (p *Prompts) object(v *fastjson.Value, depth int) {
	said := false
	for _, key := range []string{"content", "parts", "text", "reasoning_content", "arguments", "output", "name"} {
		if t := v.Get(key); t != nil && t.Type() != fastjson.TypeNumber {
			said = true
			p.content(t, depth)
		}
	}
	for _, call := range v.GetArray("tool_calls") {
		said = true
		p.content(call.Get("function", "name"), depth)
		p.content(call.Get("function", "arguments"), depth)
	}
	if input := v.Get("input"); input != nil && input.Type() == fastjson.TypeObject { // a tool's, of Anthropic's form
		said = true
		p.write(input.MarshalTo(nil))
	}
	if !said {
		p.scratch = v.MarshalTo(p.scratch[:0])
		p.shows(maphash.Bytes(p.seed, p.scratch))
	}
}

// turn writes what a turn says.
func (p *Prompts) turn(t *trace.Turn) {
	for i := range t.Messages {
		m := &t.Messages[i]
		p.begin(m.Role)
		p.writeString(m.Text)
		for _, shown := range m.Media {
			p.shows(maphash.String(p.seed, shown.Text))
		}
	}
}
