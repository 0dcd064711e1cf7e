package trace

import (
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// bodyFormats are whole requests.
func bodyFormats() []format {
	return []format{
		{name: "raw-payload", about: "AIPerf raw_payload: JSON lines of whole request bodies", shape: objects,
			object: func(o object) bool { return isBody(o) && !isRecorded(o) && !isAccess(o) },
			open:   func(*Options) decoder { return &payloads{} }},
		{name: "evalscope", about: "EvalScope workload_trace: JSON lines of body, timestamp (s or ISO), request_id, completion_tokens", shape: objects,
			object: func(o object) bool {
				return o.has("body") && o.hasAny("timestamp", "completion_tokens", "headers", "request_id") && !o.hasAny("custom_id", "at", "Req_URL") && !isAccess(o)
			},
			open: func(*Options) decoder { return &evalScope{} }},
		{name: "openai-batch", about: "OpenAI batch input: JSON lines of custom_id, method, url, body", shape: objects,
			object: func(o object) bool { return o.has("custom_id", "url", "body") },
			open:   func(*Options) decoder { return &openAIBatch{} }},
		{name: "llmservingsim", about: "LLMServingSim's requests of a vLLM bench: JSON lines of input_toks, output_toks, arrival_time, first_token_ts, last_token_ts (s)", shape: objects,
			object: func(o object) bool { return o.has("input_toks", "output_toks", "arrival_time") },
			open:   func(*Options) decoder { return &servingSim{} }},
	}
}

// payloads reads a whole body a line.
type payloads struct{ p objectParser }

func (d *payloads) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	if !o.hasAny("messages", "prompt", "input") {
		o.fail("expected a request body with messages, prompt or input")
	}
	o.body(r, o.v)
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// evalScope reads recorded bodies with their moments.
type evalScope struct{ p objectParser }

func (d *evalScope) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	r.ID = o.text("request_id")
	o.at(r, seconds, "timestamp")
	r.Output = o.tokens("completion_tokens")
	if v := o.get("body"); v == nil {
		o.fail("expected body")
	} else {
		o.body(r, v)
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// openAIBatch reads the requests of a batch that generate; others, such as
// embeddings, are ignored.
type openAIBatch struct{ p objectParser }

func (d *openAIBatch) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if url := o.text("url"); url != "" && !generates(url) {
		out.ignored++
		return
	}
	r := out.row()
	r.ID = o.text("custom_id")
	if v := o.get("body"); v == nil {
		o.fail("expected body")
	} else {
		o.body(r, v)
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// generates tells whether a path is of a request that generates text.
func generates(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	for _, end := range []string{"/completions", "/messages", "/responses", "/generate", "/generate_stream", "/invocations", "/api/chat", "/api/generate",
		":generateContent", ":streamGenerateContent", "/converse", "/converse-stream"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// servingSim reads LLMServingSim's measured requests. The engine's stamps are
// of a clock of their own: lengths of time come from them, the moment from
// arrival_time.
type servingSim struct{ p objectParser }

func (d *servingSim) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	o.at(r, seconds, "arrival_time")
	r.ID = o.text("request_id")
	r.Input, r.Output = o.whole(1, MaxTokens, "input_toks"), o.tokens("output_toks")
	queued, _, _, ok := o.moment(seconds, "queued_ts")
	if first, _, _, there := o.moment(seconds, "first_token_ts"); ok && there && first >= queued {
		r.FirstToken = length(first - queued)
	}
	if last, _, _, there := o.moment(seconds, "last_token_ts"); ok && there && last >= queued {
		r.Duration = length(last - queued)
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// lite reads LiteLLM's standard logging payload.
type lite struct{ p objectParser }

func (d *lite) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if t := o.text("call_type"); t != "" && !strings.Contains(t, "completion") && !strings.Contains(t, "responses") && !strings.Contains(t, "anthropic") && !strings.Contains(t, "generate_content") {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, seconds, "startTime")
	r.ID = o.text("id", "request_id", "litellm_call_id")
	r.Session = o.text("metadata.session_id", "session_id")
	r.Model = o.text("model_group", "model")
	r.Tenant = o.text("end_user", "metadata.user_api_key_team_alias", "metadata.user_api_key_alias", "metadata.user_api_key_hash", "team_id", "user")
	r.Input, r.Output = o.tokens("prompt_tokens"), o.tokens("completion_tokens")
	r.Cached = o.tokens("metadata.usage_object.prompt_tokens_details.cached_tokens", "metadata.usage_object.cache_read_input_tokens", "response.usage.prompt_tokens_details.cached_tokens")
	if p, ok := o.sub("model_parameters"); ok {
		r.Limit = p.limit(limitFields()...)
	}
	o.reasoned(r, "metadata.usage_object.completion_tokens_details.reasoning_tokens", "response.usage.completion_tokens_details.reasoning_tokens")
	if end, _, _, ok := o.moment(seconds, "endTime"); ok && r.Timed && end >= r.At {
		r.Duration = length(end - r.At)
	}
	if first, _, _, ok := o.moment(seconds, "completionStartTime"); ok && r.Timed && first >= r.At {
		r.FirstToken = length(first - r.At)
	}
	if s := o.text("status"); s != "" {
		r.Told, r.Failed = true, r.Failed || s != "success"
	}
	if v := o.get("messages"); v != nil && v.Type() == fastjson.TypeArray && len(v.GetArray()) > 0 {
		o.messages(r, v)
	}
	if r.Input == 0 && r.Turns == nil && r.Body == nil && !r.Timed {
		o.fail("expected startTime, prompt_tokens or messages")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// length is a length of time in ns.
func length(ns int64) time.Duration { return time.Duration(ns) }
