package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// Fields that the driver adds by itself.
const (
	fieldStreamOptions = "stream_options"
	fieldIgnoreEOS     = "ignore_eos"
	fieldMinTokens     = "min_tokens"
	fieldMaxTokens     = "max_tokens"
	fieldMaxCompletion = "max_completion_tokens"
)

// rename returns what a refused field is sent as instead; empty: dropped.
func rename(field string) string {
	switch field {
	case fieldMaxTokens:
		return fieldMaxCompletion
	case fieldMaxCompletion:
		return fieldMaxTokens
	}
	return ""
}

// ownFields are the fields that Refuse can drop or rename. The length field is
// renamed once and never dropped: without it an answer has no bound.
func (d *Driver) ownFields() []string {
	f := []string{fieldStreamOptions, fieldIgnoreEOS, fieldMinTokens}
	if !d.refused[rename(d.opt.MaxTokens)] {
		f = append(f, d.opt.MaxTokens)
	}
	return slices.DeleteFunc(f, func(name string) bool { _, ok := d.extra[name]; return ok })
}

// plan is what requests look like given what was refused so far.
type plan struct {
	head      []byte // of a request of ours: an open object with the constant fields
	content   bool   // messages or prompt are ours to write
	maxTokens string // name of the length field; empty: not ours
	ignoreEOS bool
	minTokens bool
	usage     bool // stream_options is ours to write
}

func (d *Driver) newPlan() *plan {
	p := &plan{content: d.own(d.contentField())}
	exact := d.opt.OutputMode == Exact
	p.ignoreEOS = exact && d.own(fieldIgnoreEOS) && !d.refused[fieldIgnoreEOS]
	p.minTokens = exact && d.own(fieldMinTokens) && !d.refused[fieldMinTokens]
	p.usage = d.own(fieldStreamOptions) && !d.refused[fieldStreamOptions]
	if d.own(fieldMaxTokens) && d.own(fieldMaxCompletion) {
		p.maxTokens = d.opt.MaxTokens
		if d.refused[p.maxTokens] {
			p.maxTokens = rename(p.maxTokens)
		}
	}
	o := object{b: []byte{'{'}}
	if d.opt.Model != "" && d.own("model") {
		o.text("model", d.opt.Model)
	}
	if d.own("stream") {
		o.raw("stream", strconv.AppendBool(nil, !d.opt.NoStream))
	}
	if p.usage && d.streams(nil) {
		o.raw(fieldStreamOptions, []byte(`{"include_usage":true}`))
	}
	if t := d.opt.Temperature; t != nil && d.own("temperature") {
		o.raw("temperature", strconv.AppendFloat(nil, *t, 'g', -1, 64))
	}
	if d.opt.N > 1 && d.own("n") {
		o.raw("n", strconv.AppendInt(nil, int64(d.opt.N), 10))
	}
	for _, k := range slices.Sorted(maps.Keys(d.extra)) {
		if v := d.extra[k]; !isNull(v) {
			o.raw(k, v)
		}
	}
	p.head = o.b
	return p
}

// own tells whether the user left a field to the driver.
func (d *Driver) own(field string) bool { _, ok := d.extra[field]; return !ok }

func (d *Driver) contentField() string {
	if d.api == APICompletions {
		return "prompt"
	}
	return "messages"
}

// streams tells whether a request asks for a stream: the merged fields decide,
// then the call's own body, then the options.
func (d *Driver) streams(body json.RawMessage) bool {
	for _, v := range []json.RawMessage{d.extra["stream"], body} {
		var stream bool
		if len(v) > 0 && json.Unmarshal(v, &stream) == nil {
			return stream
		}
	}
	return !d.opt.NoStream && (d.own("stream") || len(body) > 0)
}

// Encode forms the request for a call. A call with a whole Body is sent as it
// is, except that the merged fields win over its own, and that model, stream
// and stream_options are added where it lacks them, as is the switch of
// reasoning, and the length asked for to an open one.
func (d *Driver) Encode(c *engine.Call) (*wire.Request, error) {
	p := d.plan.Load()
	r := &wire.Request{Method: "POST", URL: d.url, IsToken: IsToken, Limits: d.opt.Limits}
	stream := d.streams(nil)
	if len(c.Body) > 0 {
		var err error
		if r.Body, stream, err = d.mergeBody(p, c); err != nil {
			return nil, err
		}
	} else {
		if d.api == APICompletions && hasMedia(c) {
			return nil, errors.New("completions take no images, sound or tools: expected " + APIChat)
		}
		r.Body = d.write(p, c)
	}
	if stream {
		r.Framing = wire.SSE
	}
	r.Header = slices.Clone(d.header)
	if c.RequestID != "" {
		r.Header = append(r.Header, wire.Field{Name: "X-Request-Id", Value: c.RequestID})
	}
	if len(c.TraceID) == 32 {
		r.Header = append(r.Header, wire.Field{Name: "traceparent", Value: "00-" + c.TraceID + "-" + c.TraceID[16:] + "-01"})
	}
	return r, nil
}

// write forms a body from messages.
func (d *Driver) write(p *plan, c *engine.Call) []byte {
	size := len(p.head) + 128
	for _, m := range c.Messages {
		size += len(m.Content) + len(m.Content)/16 + 40 + mediaSize(m.Media)
	}
	size += len(c.Tools)
	o := object{b: append(make([]byte, 0, size), p.head...)}
	switch {
	case !p.content:
	case d.api == APICompletions:
		o.key("prompt")
		o.b = appendPrompt(o.b, c.Messages)
	default:
		o.key("messages")
		o.b = appendMessages(o.b, c.Messages)
	}
	if len(c.Tools) > 0 && d.api == APIChat && d.own("tools") {
		o.raw("tools", c.Tools)
	}
	if s := d.opt.Switch; s != nil && c.Reasons != nil && d.own(s.Field) {
		o.raw(s.Field, s.value(*c.Reasons))
	}
	p.writeLength(&o, c.MaxTokens, func(string) bool { return false })
	return append(o.b, '}')
}

// writeLength adds the fields that ask for an answer of a length, but for those
// that are there; 0 asks for none.
func (p *plan) writeLength(o *object, tokens int64, there func(name string) bool) {
	if tokens == 0 {
		return
	}
	n := strconv.AppendInt(nil, tokens, 10)
	for _, f := range []struct {
		name  string
		asked bool
		value []byte
	}{{p.maxTokens, p.maxTokens != "", n}, {fieldIgnoreEOS, p.ignoreEOS, []byte("true")}, {fieldMinTokens, p.minTokens, n}} {
		if f.asked && !there(f.name) {
			o.raw(f.name, f.value)
		}
	}
}

// appendPrompt joins what a prompt is made of; mostly it is one message.
func appendPrompt(b []byte, ms []engine.Message) []byte {
	if len(ms) == 1 {
		return appendString(b, ms[0].Content)
	}
	var text []byte
	for i, m := range ms {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, m.Content...)
	}
	return appendString(b, string(text))
}

func appendMessages(b []byte, ms []engine.Message) []byte {
	b = append(b, '[')
	for i, m := range ms {
		if i > 0 {
			b = append(b, ',')
		}
		role := m.Role
		if role == "" {
			role = "user"
		}
		b = appendString(append(b, `{"role":`...), role)
		b = append(appendContent(append(b, `,"content":`...), &m), '}')
	}
	return append(b, ']')
}

// mergeBody returns a whole body with the merged and the missing fields, byte
// for byte as it was where there are none.
func (d *Driver) mergeBody(p *plan, c *engine.Call) (out []byte, stream bool, err error) {
	body := c.Body
	fields, ok := topFields(body)
	if !ok {
		return nil, false, errors.New("request body: expected a JSON object")
	}
	find := func(name string) json.RawMessage {
		for _, f := range fields {
			if string(f.name) == name {
				return f.value
			}
		}
		return nil
	}
	stream = d.streams(find("stream"))
	o := object{b: append(make([]byte, 0, len(body)+128), '{')}
	if d.opt.Model != "" && d.own("model") && find("model") == nil {
		o.text("model", d.opt.Model)
	}
	if stream && d.own("stream") && find("stream") == nil {
		o.raw("stream", []byte("true"))
	}
	if stream && p.usage && find(fieldStreamOptions) == nil {
		o.raw(fieldStreamOptions, []byte(`{"include_usage":true}`))
	}
	if c.Open && find(fieldMaxTokens) == nil && find(fieldMaxCompletion) == nil {
		p.writeLength(&o, c.MaxTokens, func(name string) bool { return find(name) != nil })
	}
	if s := d.opt.Switch; s != nil && c.Reasons != nil && d.own(s.Field) && find(s.Field) == nil {
		o.raw(s.Field, s.value(*c.Reasons))
	}
	if len(o.b) == 1 && len(d.extra) == 0 {
		return body, stream, nil
	}
	for _, k := range slices.Sorted(maps.Keys(d.extra)) {
		if v := d.extra[k]; !isNull(v) {
			o.raw(k, v)
		}
	}
	for _, f := range fields {
		if d.own(string(f.name)) {
			o.raw(string(f.name), f.value)
		}
	}
	return append(o.b, '}'), stream, nil
}

func isNull(v []byte) bool { return string(bytes.TrimSpace(v)) == "null" }

// object writes a JSON object; b begins with its brace.
type object struct{ b []byte }

func (o *object) key(name string) {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = append(appendString(o.b, name), ':')
}

func (o *object) raw(name string, value []byte) {
	o.key(name)
	o.b = append(o.b, value...)
}

func (o *object) text(name, value string) {
	o.key(name)
	o.b = appendString(o.b, value)
}
