package trace

import (
	"errors"
	"fmt"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// ownFormats are our own rows and those of vLLM's custom dataset, which look
// the same.
func ownFormats() []format {
	return []format{
		{name: own, about: "tokamak's own rows: JSON of prompt, messages, body or input_tokens, with at, output_tokens, class, tenant, session_id, id", shape: objects, fromStart: true, deltas: true,
			object: func(o object) bool { return isOwn(o) && !isCustom(o) && !isBody(o) && !isRecorded(o) },
			open:   func(*Options) decoder { return &ownRows{} }},
		{name: "vllm-custom", about: "vLLM's custom dataset: JSON lines of prompt and output_tokens", shape: objects, fromStart: true,
			object: isCustom,
			open:   func(*Options) decoder { return &ownRows{} }},
		{name: "tokamak-csv", about: "CSV of input_tokens, output_tokens and at: seconds from the start", shape: table, fromStart: true,
			header: func(c columns) bool { return isLengths(c) && c.has("at") && !known(c) }, table: ownLengths},
		{name: "csv", about: "any other CSV with a column of prompt lengths under a usual name", shape: table, counted: true,
			header: func(c columns) bool { return isLengths(c) && !c.has("at") && !known(c) }, table: lengths},
	}
}

// isOwn tells whether an object has content of ours.
func isOwn(o object) bool { return o.hasAny("prompt", "messages", "body", "input_tokens") }

// isCustom tells whether an object has nothing but what vLLM's custom dataset
// may have.
func isCustom(o object) bool {
	obj, err := o.v.Object()
	if err != nil {
		return false
	}
	n := obj.Len()
	return o.has("prompt") && (n == 1 || n == 2 && o.has("output_tokens"))
}

// isBody tells whether an object is a whole request body: it has a field that
// belongs there and nowhere else, and none of an answer.
func isBody(o object) bool {
	return o.hasAny("messages", "prompt", "input") && o.hasAny("model", "temperature", "top_p", "stream", "tools", "tool_choice", "stop",
		"max_completion_tokens", "response_format", "stream_options", "n", "seed", "logprobs", "presence_penalty", "frequency_penalty") &&
		!o.hasAny("completion", "response", "output", "answer", "choices", "usage", "chosen", "rejected") &&
		!o.hasAny("at", "output_tokens", "input_tokens", "class", "tenant", "session_id", "timestamp", "startTime", "custom_id")
}

// isRecorded tells whether an object holds a body beside facts about how it
// went.
func isRecorded(o object) bool {
	return o.has("body") && o.hasAny("timestamp", "completion_tokens", "headers", "request_id", "custom_id", "method", "url") ||
		o.hasAny("ai_log", "startTime", "input_length", "text_input", "payload", "chat_id")
}

// ownRows reads our own rows.
type ownRows struct {
	p     objectParser
	zero  int64 // of timestamp, which counts from the first
	timed bool
}

func (d *ownRows) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	d.facts(o, r)
	d.content(o, r)
	if *o.err != nil {
		out.drop(*o.err)
	}
}

func (d *ownRows) facts(o object, r *Row) {
	r.ID, r.Class, r.Tenant = o.text("id"), o.text("class"), o.text("tenant")
	r.Session, r.Parent, r.Model = o.text("session_id"), o.text("parent"), o.text("model")
	d.moment(o, r)
	r.Input = o.whole(1, MaxTokens, "input_tokens")
	r.Output, r.Limit = o.tokens("output_tokens"), o.limit("max_tokens")
	r.Cached = o.tokens("cached_tokens")
	o.reasoned(r, "reasoning_tokens")
	r.Tools = o.count("tools")
	o.imageLike(r)
	r.Turn, r.Delta = o.whole(0, 1e9, "turn"), o.truth("delta")
	r.Failed, r.Told = o.truth("failed"), o.get("failed") != nil
	o.status(r, "status")
	r.FirstToken, r.Duration = o.span(seconds, "first_token"), o.span(seconds, "duration")
	size := o.whole(1, MaxTokens, "block_tokens")
	if size == 0 {
		size = mooncakeBlock
	}
	o.blocks(r, "hash_ids", size)
}

// moment reads at, in seconds from the start, or timestamp, in ms from the
// first.
func (d *ownRows) moment(o object, r *Row) {
	if o.get("at") != nil {
		o.at(r, seconds, "at")
		if r.Timed && (r.At < 0 || r.Absolute) {
			o.fail("expected at to be seconds from the start, at least 0")
		}
		return
	}
	if o.at(r, millis, "timestamp"); r.Timed {
		if !d.timed {
			d.zero, d.timed = r.At, true
		}
		r.At -= d.zero
		r.Absolute = false
	}
}

var errNoContent = errors.New("expected one of messages, prompt, body, conversations, input_tokens")

func (d *ownRows) content(o object, r *Row) {
	given := 0
	if v := o.get("prompt"); v != nil {
		given++
		if v.Type() != fastjson.TypeString {
			o.wrong(v, "prompt", "a text")
		}
		r.Turns = []Turn{{Messages: []Message{{Role: "user", Text: string(v.GetStringBytes()),
			Media: o.references(r, append(beside(), names{media.Picture, "", "image_files"}, names{media.Sound, "", "audio_files"})...)}}}}
	}
	if v := o.get("body"); v != nil {
		given++
		if v.Type() != fastjson.TypeObject {
			o.fail("expected body to be an object")
		}
		o.keep(r, v.MarshalTo(nil))
		object{v: v, err: new(error), scratch: o.scratch}.asked(r) // what it says wrongly is sent as it stands
	}
	if v := o.get("messages"); v != nil {
		given++
		o.messages(r, v)
	}
	if v := o.get("conversations"); v != nil {
		given++
		o.conversation(r, v)
	}
	o.numbers(r)
	d.later(o, r, given)
	switch {
	case given > 1:
		o.fail("expected only one of messages, prompt, body, conversations")
	case given == 0 && r.Input == 0 && *o.err == nil:
		*o.err = errNoContent
	}
}

// mostTurns bounds a session of lengths.
const mostTurns = 10_000

// later reads turns: the lengths of those behind the first, which the row's own
// are of.
func (d *ownRows) later(o object, r *Row, given int) {
	list := o.list("turns")
	switch {
	case len(list) == 0:
		return
	case given > 0 || r.Input == 0:
		o.fail("expected turns, which are lengths, beside input_tokens and no content")
		return
	case len(list) >= mostTurns:
		o.fail("expected fewer than %d turns, found %d", mostTurns, len(list))
		return
	}
	r.Turns = append(r.Turns, Turn{Input: r.Input, Output: r.Output, Reasoning: r.Reasoning, ReasoningTold: r.ReasoningTold, Images: r.Images})
	for i, v := range list {
		t := o
		t.v, t.path = v, fmt.Sprintf("turns[%d].", i)
		if v.Type() != fastjson.TypeObject {
			o.wrong(v, t.path[:len(t.path)-1], "an object of input_tokens, output_tokens, think")
			return
		}
		n := Turn{Input: t.whole(1, MaxTokens, "input_tokens"), Output: t.tokens("output_tokens"), Think: t.span(seconds, "think"), Images: t.count("images")}
		n.Reasoning, n.ReasoningTold = t.found(0, MaxTokens, "reasoning_tokens")
		if n.Input == 0 {
			t.fail("expected %sinput_tokens", t.path)
		}
		r.Turns = append(r.Turns, n)
	}
}
