package conformance

import (
	"context"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// place is what [against] checks too.
const place = `{"type":"object","properties":{"city":{"type":"string","maxLength":12},"days":{"type":"integer","minimum":1,"maximum":9}},"required":["city","days"],"additionalProperties":false}`

// tools asks for a call of a function.
func (b *battery) tools(ctx context.Context) {
	if !b.chat() {
		b.say(toolStream, NA, "not in this API")
		b.say(toolWhole, NA, "not in this API")
		return
	}
	fields := map[string]any{"tool_choice": "required", "tools": []any{map[string]any{"type": "function", "function": map[string]any{
		"name": "forecast", "description": "The weather of a city", "parameters": json.RawMessage(place)}}}}
	for _, stream := range []bool{true, false} {
		rule, q := toolWhole, &question{name: "tool call, whole", prompt: "What will the weather be in Paris for the next 3 days?", max: 4 * length, fields: fields, optional: true}
		if stream {
			rule, q.name, q.stream, q.usage = toolStream, "tool call, stream", true, true
		}
		r := b.ask(ctx, q)
		v, seen := r.judgeCall()
		b.say(rule, v, "%s", seen)
	}
}

// judgeCall says how a tool call came.
func (r *reply) judgeCall() (Verdict, string) {
	switch {
	case r.refused() || r.x.Status == 501:
		return NA, "refused: " + r.lost()
	case !r.whole():
		return NA, "no whole answer: " + r.lost()
	case !called(r):
		return Note, "no tool was called, though tool_choice is required: " + quoted(short(r.text(0), 40))
	}
	id, kind, name, arguments := r.joined()
	switch {
	case name != "forecast":
		return Fail, "name " + quoted(name)
	case r.finish(0) == "length":
		return NA, "max_tokens cut the call"
	case !json.Valid([]byte(arguments)):
		return Fail, "arguments " + quoted(arguments)
	case id == "":
		return Fail, "a call without id"
	case kind != "function":
		return Note, "type " + quoted(kind)
	case r.finish(0) != "tool_calls":
		return Note, "finish_reason " + quoted(r.finish(0))
	}
	return Pass, name + " " + short(arguments, 60)
}

// joined puts the first call of an answer together.
func (r *reply) joined() (id, kind, name, arguments string) {
	add := func(to *string, part *string) {
		if part != nil {
			*to += *part
		}
	}
	for i := range r.chunks {
		for j := range r.chunks[i].Choices {
			said := r.chunks[i].Choices[j].said()
			if said == nil {
				continue
			}
			for k, c := range said.Calls {
				if n := k; c.Index != nil && *c.Index != 0 || c.Index == nil && n != 0 {
					continue
				}
				if c.ID != nil && id == "" {
					id = *c.ID
				}
				if c.Type != nil && kind == "" {
					kind = *c.Type
				}
				add(&name, c.Function.Name)
				add(&arguments, c.Function.Arguments)
			}
		}
	}
	return id, kind, name, arguments
}

// schema asks for an answer of a given form.
func (b *battery) schema(ctx context.Context) {
	if !b.chat() {
		b.say(jsonSchema, NA, "not in this API")
		return
	}
	r := b.ask(ctx, &question{name: "response_format", prompt: "Name a city and a number of days as JSON.", max: 4 * length, optional: true, fields: map[string]any{
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "place", "strict": true, "schema": json.RawMessage(place)}}}})
	text := r.text(0)
	switch {
	case r.refused() || r.x.Status == 501:
		b.say(jsonSchema, NA, "refused: %s", r.lost())
	case !r.whole():
		b.say(jsonSchema, NA, "no whole answer: %s", r.lost())
	case r.finish(0) == "length":
		b.say(jsonSchema, NA, "max_tokens cut the answer")
	default:
		if why := against(text); why != "" {
			b.say(jsonSchema, Fail, "%s: %s", quoted(short(text, 60)), why)
			return
		}
		b.say(jsonSchema, Pass, "%s", short(text, 60))
	}
}

// against says why a text does not follow the schema of place; empty: it does.
// A library for all schemas keeps those of the standard in memory from the
// program's start, in every run.
func against(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "no JSON"
	}
	o, _ := v.(map[string]any)
	city, isText := o["city"].(string)
	days, isNumber := o["days"].(float64)
	if len(o) != 2 || !isText || utf8.RuneCountInString(city) > 12 || !isNumber || days != math.Trunc(days) || days < 1 || days > 9 {
		return "not what the schema says"
	}
	return ""
}
