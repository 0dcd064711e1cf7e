package openai

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// responsesQuery is a request of the responses API.
type responsesQuery struct {
	Model           string          `json:"model"`
	Input           json.RawMessage `json:"input"`
	Instructions    string          `json:"instructions"`
	MaxOutputTokens *int64          `json:"max_output_tokens"`
	Stream          bool            `json:"stream"`
	Seed            *int64          `json:"seed"`
	IgnoreEOS       bool            `json:"ignore_eos"`
	Tools           []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Text       struct {
		Format *format `json:"format"`
	} `json:"text"`
}

// query turns it into a chat's.
func (r *responsesQuery) query() (*query, *face.Problem) {
	q := &query{Model: r.Model, MaxTokens: r.MaxOutputTokens, Seed: r.Seed, ToolChoice: r.ToolChoice, ResponseFormat: r.Text.Format, Stream: r.Stream, IgnoreEOS: r.IgnoreEOS}
	if r.Instructions != "" {
		q.Messages = append(q.Messages, Message{Role: "system", Content: face.AppendString(nil, r.Instructions)})
	}
	if bytes.HasPrefix(bytes.TrimSpace(r.Input), []byte(`"`)) {
		q.Messages = append(q.Messages, Message{Role: "user", Content: r.Input})
	} else {
		var items []struct {
			Message
			Output json.RawMessage `json:"output"`
		}
		if json.Unmarshal(r.Input, &items) != nil {
			return nil, face.Bad("input", "input must be a string or a list of items")
		}
		for _, i := range items {
			if len(i.Output) > 0 { // a tool's answer
				i.Message = Message{Role: "tool", Content: i.Output}
			}
			q.Messages = append(q.Messages, i.Message)
		}
	}
	for _, t := range r.Tools {
		if t.Type == "function" {
			tool := Tool{Type: t.Type}
			tool.Function.Name, tool.Function.Parameters = t.Name, t.Parameters
			q.Tools = append(q.Tools, tool)
		}
	}
	if len(q.Messages) == 0 {
		return nil, face.Bad("input", "input must not be empty")
	}
	return q, q.check(chatAPI)
}

// ResponsesHandler answers POST /v1/responses.
func (d *Dialect) ResponsesHandler(s *face.Service) http.HandlerFunc {
	return s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		var rq responsesQuery
		if problem := face.ParseBody(r, &rq); problem != nil {
			return nil, problem
		}
		q, problem := rq.query()
		if problem != nil {
			return nil, problem
		}
		if !d.AnyModel && !s.Is(q.Model) {
			return nil, &face.Problem{Kind: face.NoModel, Param: "model", Message: q.Model}
		}
		ask, problem := d.ask(q, l, chatAPI, s.Seed)
		if problem != nil {
			return nil, problem
		}
		said, _ := q.script(l, s.Seed, ask.Prompts[0])
		ask.Prefix = "resp_"
		w := &response{call: said.call}
		if q.Stream {
			ask.Stream = func(*face.Exchange) face.Frames { return w }
		} else {
			ask.Body = func(x *face.Exchange, _ http.Header) any {
				c := &x.Choices[0]
				w.said = []byte(c.Text())
				w.ended(c)
				return w.object(x, w.status, []any{w.item(x, w.status)})
			}
		}
		return ask, nil
	}, d.Refuse)
}

// response writes one response; it is its own stream.
type response struct {
	call     *Call
	sequence int
	said     []byte
	status   string
	reason   string // why it is incomplete
}

// object is the response; its output is what is known so far.
func (w *response) object(x *face.Exchange, status string, output []any) map[string]any {
	o := map[string]any{"id": x.ID, "object": "response", "created_at": x.Created, "status": status, "model": x.Served(), "output": output,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": map[string]any{}, "parallel_tool_calls": true,
		"temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": []any{}, "usage": nil}
	if status != "in_progress" {
		u := x.Usage()
		o["usage"] = map[string]any{"input_tokens": u.Prompt, "input_tokens_details": map[string]any{"cached_tokens": u.Cached},
			"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.Prompt + u.Output}
	}
	if w.reason != "" {
		o["incomplete_details"] = map[string]string{"reason": w.reason}
	}
	return o
}

// item is the message or the call that the response holds.
func (w *response) item(x *face.Exchange, status string) map[string]any {
	if w.call != nil {
		return map[string]any{"type": "function_call", "id": "fc_" + w.call.ID, "call_id": w.call.ID, "name": w.call.Name,
			"arguments": string(w.said), "status": status}
	}
	content := []any{}
	if status != "in_progress" {
		content = append(content, w.part())
	}
	return map[string]any{"type": "message", "id": "msg_" + x.ID, "role": "assistant", "status": status, "content": content}
}

func (w *response) part() map[string]any {
	return map[string]any{"type": "output_text", "text": string(w.said), "annotations": []any{}, "logprobs": []any{}}
}

// event appends an event; fields get its type and number.
func (w *response) event(b []byte, kind string, fields map[string]any) []byte {
	fields["type"], fields["sequence_number"] = kind, w.sequence
	w.sequence++
	b = append(b, "event: "+kind+"\ndata: "...)
	return append(face.AppendJSON(b, fields), "\n\n"...)
}

// in are the fields that place an event in the output.
func (w *response) in(x *face.Exchange, more ...any) map[string]any {
	o := map[string]any{"output_index": 0, "item_id": w.item(x, "in_progress")["id"]}
	if w.call == nil {
		o["content_index"] = 0
	}
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

// Open tells that the response is under way.
func (w *response) Open(b []byte, x *face.Exchange) []byte {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		b = w.event(b, kind, map[string]any{"response": w.object(x, "in_progress", []any{})})
	}
	return b
}

// Token writes a delta, before the first one the item and its part.
func (w *response) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	x := c.Exchange()
	if c.Written == 1 {
		b = w.event(b, "response.output_item.added", map[string]any{"output_index": 0, "item": w.item(x, "in_progress")})
		if w.call == nil {
			b = w.event(b, "response.content_part.added", w.in(x, "part", w.part()))
		}
	}
	w.said = append(w.said, t.Text...)
	if w.call != nil {
		return w.event(b, "response.function_call_arguments.delta", w.in(x, "delta", t.Text))
	}
	return w.event(b, "response.output_text.delta", w.in(x, "delta", t.Text, "logprobs", []any{}))
}

func (w *response) ended(c *face.Choice) {
	w.status = "completed"
	if c.Finish == core.Length {
		w.status, w.reason = "incomplete", "max_output_tokens"
	}
}

// Finish writes the end of the item.
func (w *response) Finish(b []byte, c *face.Choice) []byte {
	w.ended(c)
	if w.sequence == 2 { // nothing was said
		return b
	}
	x := c.Exchange()
	if w.call != nil {
		b = w.event(b, "response.function_call_arguments.done", w.in(x, "arguments", string(w.said), "name", w.call.Name))
	} else {
		b = w.event(b, "response.output_text.done", w.in(x, "text", string(w.said), "logprobs", []any{}))
		b = w.event(b, "response.content_part.done", w.in(x, "part", w.part()))
	}
	return w.event(b, "response.output_item.done", map[string]any{"output_index": 0, "item": w.item(x, w.status)})
}

// Close writes the whole response.
func (w *response) Close(b []byte, x *face.Exchange) []byte {
	return w.event(b, "response."+w.status, map[string]any{"response": w.object(x, w.status, []any{w.item(x, w.status)})})
}
