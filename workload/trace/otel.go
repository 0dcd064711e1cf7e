package trace

import (
	"encoding/json"
	"strings"

	"github.com/valyala/fastjson"
)

// otelSpans are OpenTelemetry's spans of generating calls.
func otelSpans() []format {
	return []format{
		{name: "otel", about: "OpenTelemetry spans with gen_ai attributes: OTLP JSON, a list of spans, or one span a line", shape: objects, counted: true, traced: true, ends: true,
			array:  []string{"resourceSpans", "spans"},
			object: isOTel,
			open:   func(*Options) decoder { return &otel{} }},
	}
}

// isOTel recognises OTLP, a list of spans, or a span.
func isOTel(o object) bool {
	return o.hasAny("resourceSpans", "resource_spans", "scopeSpans") || listOf(o, "spans", "attributes") ||
		o.has("attributes") && o.hasAny("spanId", "span_id", "traceId", "trace_id", "context", "startTimeUnixNano", "start_time")
}

// otel reads spans. Those that call no model are ignored.
type otel struct{ p, text objectParser }

func (d *otel) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	before := out.n + len(out.errs)
	d.any(o, "", out, 0)
	if out.n+len(out.errs) == before && out.ignored == 0 {
		out.ignored++
	}
}

// any reads what holds spans down to the spans.
func (d *otel) any(o object, service string, out *batch, depth int) {
	if s := attribute(o.v.Get("resource"), "service.name"); s != nil {
		service = string(s.GetStringBytes())
	}
	for _, key := range []string{"resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans"} {
		v := o.v.Get(key)
		if v == nil || depth > 4 {
			continue
		}
		for _, inner := range v.GetArray() {
			if inner.Type() == fastjson.TypeObject {
				d.any(d.p.of(inner), service, out, depth+1)
			}
		}
		return
	}
	d.span(o, service, out)
}

// attribute finds an attribute of a span: in OTLP's list of key and value, or
// in an object.
func attribute(v *fastjson.Value, key string) *fastjson.Value {
	if v == nil {
		return nil
	}
	a := v.Get("attributes")
	if a == nil {
		return nil
	}
	if a.Type() == fastjson.TypeObject {
		return dotted(a, key, 8)
	}
	for _, kv := range a.GetArray() {
		if string(kv.GetStringBytes("key")) != key {
			continue
		}
		value := kv.Get("value")
		for _, t := range []string{"intValue", "stringValue", "doubleValue", "boolValue", "arrayValue"} {
			if inner := value.Get(t); inner != nil {
				return inner
			}
		}
		return value
	}
	return nil
}

func (d *otel) span(o object, service string, out *batch) {
	get := func(keys ...string) *fastjson.Value {
		for _, k := range keys {
			if v := attribute(o.v, k); v != nil && v.Type() != fastjson.TypeNull {
				return v
			}
		}
		return nil
	}
	text := func(keys ...string) string {
		if v := get(keys...); v != nil && v.Type() == fastjson.TypeString {
			return string(v.GetStringBytes())
		}
		return ""
	}
	number := func(keys ...string) int64 {
		v := get(keys...)
		if v == nil {
			return 0
		}
		n, exact, ok := decimal(o.raw(v), 0)
		if !ok || !exact || n < 0 || n > MaxTokens {
			o.fail("expected attribute %s from 0 to %d, found %s", keys[0], MaxTokens, shown(v, o.raw(v)))
		}
		return n
	}
	operation := text("gen_ai.operation.name")
	model := get("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
	usage := get("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.prompt", "llm.token_count.completion")
	kind := text("openinference.span.kind")
	if model == nil && usage == nil && kind == "" || kind != "" && kind != "LLM" || operation != "" && operation != "chat" && operation != "text_completion" && operation != "generate_content" {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, nanos, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
	if end, _, _, ok := o.moment(nanos, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"); ok && r.Timed && end >= r.At {
		r.Duration = length(end - r.At)
	}
	r.ID = o.text("spanId", "span_id", "context.span_id")
	r.Session = text("gen_ai.conversation.id", "session.id")
	if r.Session == "" {
		r.Session = o.text("traceId", "trace_id", "context.trace_id")
		r.Traced = r.Session != ""
	}
	r.Tenant = text("user.id", "enduser.id", "tenant.id")
	r.Class = service
	r.Model = text("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
	r.Input = number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
	r.Output = number("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
	d.asked(o, r, get)
	r.Cached = number("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cached_input_tokens", "llm.token_count.prompt_details.cache_read")
	reasoning := []string{"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"}
	r.Reasoning, r.ReasoningTold = number(reasoning...), get(reasoning...) != nil
	if ttft := get("gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token"); ttft != nil {
		if n, _, ok := decimal(o.raw(ttft), seconds); ok && n > 0 {
			r.FirstToken = length(n)
		}
	}
	r.Told = true // a span without a status had no error
	if s, ok := o.sub("status"); ok {
		code := s.text("code", "status_code")
		r.Failed = code == "2" || strings.HasSuffix(strings.ToUpper(code), "ERROR")
	}
	d.content(o, r, text("gen_ai.input.messages", "gen_ai.prompt"))
	if !r.Timed {
		o.fail("expected startTimeUnixNano or start_time")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// content keeps recorded messages: a list of role and content, or of role and
// parts of type text.
func (d *otel) content(o object, r *Row, messages string) {
	if messages == "" || !json.Valid([]byte(messages)) {
		return
	}
	v, err := d.text.fast.Parse(messages)
	if err != nil || v.Type() != fastjson.TypeArray || len(v.GetArray()) == 0 {
		return
	}
	var t Turn
	for _, m := range v.GetArray() {
		role := string(m.GetStringBytes("role"))
		text, ok := spoken(m)
		if role == "" || !ok {
			return // tool calls and other parts: the lengths remain
		}
		t.Messages = append(t.Messages, Message{Role: role, Text: text})
	}
	r.Turns = []Turn{t}
}

// spoken is the text of a message, where it is text alone.
func spoken(m *fastjson.Value) (string, bool) {
	if c := m.Get("content"); c != nil && c.Type() == fastjson.TypeString {
		return string(c.GetStringBytes()), true
	}
	var list []string
	parts := m.GetArray("parts")
	for _, p := range parts {
		if string(p.GetStringBytes("type")) != "text" {
			return "", false
		}
		list = append(list, string(p.GetStringBytes("content")))
	}
	return strings.Join(list, "\n"), len(parts) > 0
}
