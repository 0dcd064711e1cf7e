package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// writer writes the answer; it is its own stream.
type writer struct {
	call *openai.Call
}

type object = map[string]any

func event(b []byte, kind string, fields object) []byte {
	fields["type"] = kind
	b = append(b, "event: "+kind+"\ndata: "...)
	return append(face.AppendJSON(b, fields), "\n\n"...)
}

// answer is the message as far as it is known.
func answer(x *face.Exchange, content []any, reason, stop any) object {
	return object{"id": x.ID, "type": "message", "role": "assistant", "content": content, "model": x.Served(), "stop_reason": reason, "stop_sequence": stop,
		"usage": usage(x.Usage())}
}

// usage has the tokens found in the cache apart, as Anthropic's has.
func usage(u core.Usage) object {
	return object{"input_tokens": u.Prompt - u.Cached, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": 0, "output_tokens": u.Output}
}

// Open tells that the message is under way.
func (w *writer) Open(b []byte, x *face.Exchange) []byte {
	return event(b, "message_start", object{"message": answer(x, []any{}, nil, nil)})
}

// Token writes a delta, before the first one the block.
func (w *writer) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	if c.Written == 1 {
		b = event(b, "content_block_start", object{"index": 0, "content_block": w.block("", json.RawMessage("{}"))})
		b = event(b, "ping", object{})
	}
	delta := object{"type": "text_delta", "text": t.Text}
	if w.call != nil {
		delta = object{"type": "input_json_delta", "partial_json": t.Text}
	}
	return event(b, "content_block_delta", object{"index": 0, "delta": delta})
}

// Finish writes the end of the block and why it is one.
func (w *writer) Finish(b []byte, c *face.Choice) []byte {
	if c.Written > 0 {
		b = event(b, "content_block_stop", object{"index": 0})
	}
	reason, stop := w.reason(c)
	return event(b, "message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": stop}, "usage": usage(c.Exchange().Usage())})
}

// Close writes the terminator.
func (w *writer) Close(b []byte, _ *face.Exchange) []byte {
	return event(b, "message_stop", object{})
}

func (w *writer) block(said string, input json.RawMessage) object {
	if w.call != nil {
		return object{"type": "tool_use", "id": w.call.ID, "name": w.call.Name, "input": input}
	}
	return object{"type": "text", "text": said}
}

func (w *writer) reason(c *face.Choice) (reason string, stop any) {
	switch word := c.StopString(); {
	case c.Finish == core.Length:
		return "max_tokens", nil
	case word != "":
		return "stop_sequence", word
	case w.call != nil:
		return "tool_use", nil
	}
	return "end_turn", nil
}

// body is the answer of a request that does not stream. A call cut short has
// no input.
func (w *writer) body(x *face.Exchange, _ http.Header) any {
	c := &x.Choices[0]
	said := c.Text()
	input := json.RawMessage(said)
	if !json.Valid(input) {
		input = json.RawMessage("{}")
	}
	reason, stop := w.reason(c)
	return answer(x, []any{w.block(said, input)}, reason, stop)
}
