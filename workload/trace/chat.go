package trace

import (
	"strings"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// conversationFormats are recorded conversations with their texts.
func conversationFormats() []format {
	return []format{
		{name: "sharegpt", about: "ShareGPT: JSON of conversations with from and value, or role and content", shape: objects,
			object: func(o object) bool { return o.hasAny("conversations", "conversation") },
			open:   func(*Options) decoder { return &shareGPT{} }},
	}
}

// shareGPT reads conversations whole.
type shareGPT struct{ p objectParser }

func (d *shareGPT) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	r.ID = o.text("id", "conversation_id")
	r.Model = o.text("model")
	v := o.get("conversations")
	for _, other := range []string{"conversation", "messages", "items"} {
		if v == nil {
			v = o.get(other)
		}
	}
	if v == nil {
		o.fail("expected conversations")
	} else {
		o.conversation(r, v)
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// messages keeps plain messages as such and everything else, such as parts and
// tool calls, as a body.
func (o object) messages(r *Row, v *fastjson.Value) {
	list, err := v.Array()
	if err != nil || len(list) == 0 {
		o.fail("expected messages to be a list of objects with role and content")
		return
	}
	for _, m := range list {
		parts(r, m.Get("content"))
	}
	var t Turn
	for i, m := range list {
		if m.Type() != fastjson.TypeObject {
			o.fail("expected messages to be a list of objects with role and content")
			return
		}
		role := m.GetStringBytes("role")
		if len(role) == 0 {
			o.fail("expected message %d to have a role", i+1)
			return
		}
		content := m.Get("content")
		if m.GetObject().Len() != 2 || content == nil || content.Type() != fastjson.TypeString {
			o.keep(r, append(v.MarshalTo([]byte(`{"messages":`)), '}'))
			r.Open, r.Turns = true, nil
			return
		}
		t.Messages = append(t.Messages, Message{Role: string(role), Text: string(content.GetStringBytes())})
	}
	r.Turns = []Turn{t}
}

// conversation splits a recorded conversation into its user's turns.
func (o object) conversation(r *Row, v *fastjson.Value) {
	list, err := v.Array()
	if err != nil {
		o.fail("expected a conversation to be a list, found %s", kind(v))
		return
	}
	var now Turn
	asked := false
	shown := o.references(r, beside()...) // with the first that the user says
	for i, m := range list {
		who, text := m.GetStringBytes("from"), m.Get("value")
		if len(who) == 0 {
			who, text = m.GetStringBytes("role"), m.Get("content")
		}
		if len(who) == 0 || text == nil || text.Type() != fastjson.TypeString && text.Type() != fastjson.TypeArray {
			o.fail("expected message %d of the conversation to have from and value, or role and content, as texts or lists of parts", i+1)
			return
		}
		said := partsText(text)
		switch strings.ToLower(string(who)) {
		case "system", "developer":
			now.Messages = append(now.Messages, Message{Role: "system", Text: said})
		case "human", "user":
			if asked {
				r.Turns = append(r.Turns, now)
				now = Turn{}
			}
			shown = append(shown, o.shownIn(r, text)...)
			now.Messages = append(now.Messages, Message{Role: "user", Text: said, Media: shown})
			asked, shown = true, nil
		default: // gpt, chatgpt, bing, bard, assistant, …
			if asked {
				now.Answer = said
				r.Turns = append(r.Turns, now)
				now, asked = Turn{}, false
			}
		}
	}
	if asked {
		r.Turns = append(r.Turns, now)
	}
	if len(r.Turns) == 0 {
		o.fail("expected a conversation with a turn of human or user")
	}
}

// partsText is the text of a message's content: a text, or the texts of its parts.
func partsText(content *fastjson.Value) string {
	if content.Type() == fastjson.TypeString {
		return string(content.GetStringBytes())
	}
	var list []string
	for _, part := range content.GetArray() {
		if t := part.GetStringBytes("text"); len(t) > 0 {
			list = append(list, string(t))
		}
	}
	return strings.Join(list, "\n")
}

// shownIn is what a message's content holds beside text.
func (o object) shownIn(r *Row, content *fastjson.Value) []media.Reference {
	var list []media.Reference
	for _, p := range media.PlacesIn(content) {
		r.has(p.Kind, 1)
		list = append(list, p.Reference)
	}
	return list
}
