package trace

import (
	"bytes"
	"errors"
	"strings"

	"github.com/valyala/fastjson"
)

// gatewayLogs are the logs of gateways.
func gatewayLogs() []format {
	return []format{
		{name: "higress", about: "Higress or Envoy JSON access log with ai_log, or with input_token and output_token", shape: objects, ends: true,
			object: func(o object) bool { return o.has("ai_log") || isAccess(o) && o.hasAny("input_token", "output_token") },
			open:   func(*Options) decoder { return &access{} }},
		{name: "envoy-ai-gateway", about: "Envoy AI Gateway access log: JSON of gen_ai.usage.input_tokens, response_code, duration (ms)", shape: objects, counted: true, ends: true,
			object: func(o object) bool {
				return o.hasAny("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.request.model", "genai_tokens_input") && !o.hasAny("attributes", "span_id", "spanId")
			},
			open: func(*Options) decoder { return &access{} }},
		{name: "envoy", about: "Envoy JSON access log without tokens: moments, durations (ms) and status", shape: objects, ends: true,
			object: func(o object) bool {
				return isAccess(o) && !o.hasAny("ai_log", "input_token", "output_token", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.request.model", "genai_tokens_input")
			},
			open: func(*Options) decoder { return &access{} }},
		{name: "apisix", about: "APISIX kafka-logger or http-logger: JSON of request, response, start_time (ms), latency (ms)", shape: objects, ends: true,
			object: func(o object) bool {
				return o.has("request", "response", "start_time") && !o.has("latencies")
			},
			open: func(*Options) decoder { return &apisix{} }},
		{name: "kong", about: "Kong http-log or file-log: JSON of request, response, latencies (ms), started_at (ms), ai usage", shape: objects, ends: true,
			object: func(o object) bool { return o.has("request", "latencies", "started_at") },
			open:   func(*Options) decoder { return &kong{} }},
		{name: "litellm", about: "LiteLLM StandardLoggingPayload: JSON of startTime, endTime, prompt_tokens, completion_tokens", shape: objects, counted: true, ends: true,
			object: func(o object) bool {
				return o.has("startTime") && o.hasAny("endTime", "call_type", "prompt_tokens", "model_group")
			},
			open: func(*Options) decoder { return &lite{} }},
		{name: "nginx", about: "nginx JSON access log: time_iso8601, time_local or msec, request_time (s), status, request_body", shape: objects, ends: true,
			object: func(o object) bool {
				return o.has("request_time", "status") && o.hasAny("time_iso8601", "time_local", "msec", "time", "timestamp", "@timestamp")
			},
			open: func(*Options) decoder { return &nginx{} }},
	}
}

// isAccess recognises an access log of Envoy.
func isAccess(o object) bool {
	return o.has("response_code") && o.hasAny("start_time", "timestamp", "@timestamp", "time") && o.hasAny("path", "method", "duration", "authority", ":path", "x-envoy-origin-path")
}

// access reads Envoy's access log and what gateways built on it add.
type access struct{ p, inner objectParser }

func (d *access) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if method := o.text("method", ":method"); method != "" && method != "POST" && method != "-" {
		out.ignored++
		return
	}
	if path := o.text("path", ":path", "x-envoy-origin-path"); path != "" && path != "-" && !generates(path) {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, seconds, "start_time", "timestamp", "@timestamp", "time")
	r.ID = named(o.text("request_id", "x-request-id"))
	r.Session = named(o.text("session.id", "session_id", "x-session-id"))
	r.Duration = o.span(millis, "duration")
	o.status(r, "response_code")
	r.Input = o.tokens("input_token", "gen_ai.usage.input_tokens", "genai_tokens_input")
	r.Output = o.tokens("output_token", "gen_ai.usage.output_tokens", "genai_tokens_output")
	r.Cached = o.tokens("gen_ai.usage.cache_read.input_tokens", "cached_token", "cached_tokens")
	o.reasoned(r, "reasoning_token", "reasoning_tokens")
	r.FirstToken = o.span(millis, "llm_first_token_duration")
	r.Model = named(o.text("model", "gen_ai.response.model", "gen_ai.request.model", "genai_model_name"))
	r.Tenant = named(o.text("consumer", "tenant", "x-mse-consumer"))
	d.log(o, r)
	if !r.Timed {
		o.fail("expected start_time or timestamp")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// named is a text, empty for the dash that stands for nothing.
func named(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

// log reads ai_log, an object or the text of one.
func (d *access) log(outer object, r *Row) {
	v := outer.get("ai_log")
	if v == nil || v.Type() == fastjson.TypeString && none(v.GetStringBytes()) {
		return
	}
	o := outer
	if v.Type() == fastjson.TypeString {
		inner, err := d.inner.object(v.GetStringBytes())
		if err != nil {
			outer.fail("ai_log: %w", err)
			return
		}
		o.v = inner.v
	} else {
		o.v = v
	}
	o.path = "ai_log."
	r.Session = named(o.text("session_id"))
	r.Turn = max(o.whole(0, 1e9, "chat_round")-1, 0) // counted from 1
	r.Tenant = named(o.text("consumer"))
	r.Model = named(o.text("model"))
	r.Input, r.Output = o.tokens("input_token"), o.tokens("output_token")
	r.Cached = o.tokens("cached_tokens", "cached_token", "input_token_details.cached_tokens")
	o.reasoned(r, "reasoning_tokens", "reasoning_token", "output_token_details.reasoning_tokens")
	r.FirstToken = o.span(millis, "llm_first_token_duration")
	if d := o.span(millis, "llm_service_duration"); d > 0 {
		r.Duration = d
	}
	if t := o.text("response_type"); t != "" {
		r.Told, r.Failed = true, r.Failed || t == "error"
	}
}

// apisix reads the entries of APISIX's loggers.
type apisix struct{ p objectParser }

func (d *apisix) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	request, ok := o.sub("request")
	if !ok {
		out.fail(errRequest)
		return
	}
	if m, uri := request.text("method"), request.text("uri", "url"); m != "" && m != "POST" || uri != "" && !generates(uri) {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, millis, "start_time")
	r.Duration = o.span(millis, "latency")
	r.ID = request.text("headers.x-request-id", "headers.X-Request-Id")
	r.Tenant = o.text("consumer.username")
	o.status(r, "response.status")
	r.Model = o.text("llm_summary.model", "llm_model", "llm_summary.request_model", "request_llm_model", "llm_request.model")
	r.Input = o.tokens("llm_summary.prompt_tokens", "llm_prompt_tokens", "prompt_tokens")
	r.Output = o.tokens("llm_summary.completion_tokens", "llm_completion_tokens", "completion_tokens")
	r.Cached = o.tokens("llm_summary.cache_read_input_tokens", "llm_cache_read_input_tokens")
	o.reasoned(r, "llm_summary.reasoning_tokens", "llm_reasoning_tokens")
	if p, ok := o.sub("llm_request"); ok {
		r.Limit = p.limit(limitFields()...)
	}
	if !o.atOnce() {
		r.FirstToken = o.span(millis, "llm_summary.duration", "llm_summary.llm_time_to_first_token", "llm_time_to_first_token")
	}
	request.sent(r, "body")
	o.answered(r, "response.body")
	finish(o, r, out)
}

// atOnce tells whether an entry of APISIX says that the answer was no stream:
// what it calls the time to the first token is then the time to the whole.
func (o object) atOnce() bool {
	no := []string{"false", "0"}
	return o.is(condition{"llm_summary.stream", no}) || o.is(condition{"llm_stream", no}) || o.is(condition{"llm_request.stream", no})
}

// kong reads the entries of Kong's log plugins. Usage comes from the plugin
// that has it: ai.proxy, ai.ai-proxy, ai.ai-proxy-advanced.
type kong struct{ p objectParser }

func (d *kong) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	request, ok := o.sub("request")
	if !ok {
		out.fail(errRequest)
		return
	}
	ai, hasAI := o.sub("ai")
	if m, uri := request.text("method"), request.text("uri"); m != "" && m != "POST" || uri != "" && !generates(uri) && !hasAI {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, millis, "started_at")
	r.Duration = o.span(millis, "latencies.request")
	r.ID = request.text("id")
	r.Tenant = o.text("consumer.username", "consumer.custom_id", "consumer.id")
	o.status(r, "response.status")
	if hasAI {
		if v := ai.get("payload.request"); v != nil && v.Type() == fastjson.TypeString {
			ai.sent(r, "payload.request")
		}
		ai.v.GetObject().Visit(func(key []byte, v *fastjson.Value) {
			if v.Type() != fastjson.TypeObject {
				return
			}
			p := object{v: v, path: "ai." + string(key) + ".", err: o.err, scratch: o.scratch}
			if p.get("usage") == nil && p.get("meta") == nil {
				return
			}
			if r.Input == 0 {
				r.Input = p.tokens("usage.prompt_tokens", "usage.prompt_token")
				r.Output = p.tokens("usage.completion_tokens", "usage.completion_token")
				r.Cached = p.tokens("usage.prompt_tokens_details.cached_tokens")
			}
			if m := p.text("meta.response_model", "meta.request_model"); r.Model == "" {
				r.Model = m
			}
			if t := p.span(millis, "usage.time_to_first_token", "meta.llm_time_to_first_token"); r.FirstToken == 0 {
				r.FirstToken = t
			}
			if b := p.get("payload.request"); b != nil && r.Body == nil && b.Type() == fastjson.TypeString {
				p.sent(r, "payload.request")
			}
		})
	}
	request.sent(r, "body")
	finish(o, r, out)
}

// nginx reads JSON access logs as log_format with escape=json writes them. The
// line is written at the end: the moment is that end less the time it took.
type nginx struct{ p objectParser }

func (d *nginx) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	method, path := o.text("request_method", "method"), o.text("request_uri", "uri", "path")
	if line := strings.Fields(o.text("request")); len(line) >= 2 && path == "" {
		method, path = line[0], line[1]
	}
	if method != "" && method != "POST" || path != "" && !generates(path) {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, seconds, "msec", "time_iso8601", "time_local", "@timestamp", "timestamp", "time")
	r.Duration = o.span(seconds, "request_time")
	if r.Timed {
		r.At -= int64(r.Duration)
	}
	r.ID = named(o.text("request_id"))
	r.Tenant = named(o.text("remote_user"))
	o.status(r, "status")
	r.Input, r.Output = o.tokens("prompt_tokens", "input_tokens"), o.tokens("completion_tokens", "output_tokens")
	o.sent(r, "request_body")
	finish(o, r, out)
}

var errRequest = errors.New("expected request to be an object")

// sent keeps a logged request body, where there is a whole one: loggers cut
// long bodies off, and what is cut off cannot be sent.
func (o object) sent(r *Row, key string) {
	v := o.get(key)
	if v == nil || r.Body != nil || *o.err != nil {
		return
	}
	b := v.GetStringBytes()
	if v.Type() == fastjson.TypeObject {
		b = v.MarshalTo(nil)
	}
	if len(b) == 0 || b[0] != '{' {
		return
	}
	if o.rawBody(r, bytes.Clone(b)); *o.err != nil {
		*o.err, r.Body = nil, nil
	}
}

// answered reads the usage of a logged response body that is JSON.
func (o object) answered(r *Row, key string) {
	v := o.get(key)
	if v == nil || r.Input > 0 && r.Output > 0 {
		return
	}
	r.Input = max(r.Input, o.usage(key+".usage.prompt_tokens"))
	if n := o.usage(key + ".usage.completion_tokens"); n > 0 {
		r.Output = n
	}
}

// usage is a number that need not be there.
func (o object) usage(path string) int64 {
	v := o.get(path)
	if v == nil {
		return 0
	}
	n, _, ok := decimal(o.raw(v), 0)
	if !ok || n < 0 || n > MaxTokens {
		return 0
	}
	return n
}

// finish keeps a row of a log, or says why it cannot be used.
func finish(o object, r *Row, out *batch) {
	if !r.Timed {
		o.fail("expected a moment")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}
