package openai

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// query is a request body of either API. Fields that change nothing here are
// not read.
type query struct {
	Model               string          `json:"model"`
	Messages            []Message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *int64          `json:"max_tokens"`
	MaxCompletionTokens *int64          `json:"max_completion_tokens"`
	MinTokens           int64           `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	N                   *int64          `json:"n"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	Seed                *int64          `json:"seed"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	CacheSalt           string          `json:"cache_salt"`
	Priority            int64           `json:"priority"`
	Stop                json.RawMessage `json:"stop"`
	KeepStop            bool            `json:"include_stop_str_in_output"`
	Logprobs            json.RawMessage `json:"logprobs"`
	TopLogprobs         int             `json:"top_logprobs"`
	ReasoningEffort     *string         `json:"reasoning_effort"`
	ChatTemplateKwargs  *struct {
		EnableThinking *bool `json:"enable_thinking"`
	} `json:"chat_template_kwargs"`
	Tools             []Tool          `json:"tools"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	ResponseFormat    *format         `json:"response_format"`
	GuidedJSON        json.RawMessage `json:"guided_json"`
	StructuredOutputs *struct {
		JSON json.RawMessage `json:"json"`
	} `json:"structured_outputs"`

	logprobs int // alternatives asked for; −1: no logprobs
}

type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats"`
}

// format is a response_format; a schema stands in it in one of two places.
type format struct {
	Type       string          `json:"type"`
	Value      json.RawMessage `json:"value"`
	Schema     json.RawMessage `json:"schema"`
	JSONSchema *struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// read parses and checks a request.
func (d *Dialect) read(s *face.Service, r *http.Request, l *face.Language, a api) (*face.Ask, *face.Problem) {
	body, problem := face.Body(r)
	if problem != nil {
		return nil, problem
	}
	q, problem := d.parse(body, a)
	if problem == nil && !d.AnyModel && !s.Is(q.Model) {
		problem = &face.Problem{Kind: face.NoModel, Param: "model", Message: q.Model}
	}
	if problem != nil {
		return nil, problem
	}
	ask, problem := d.ask(q, l, a, s.Seed)
	if problem == nil && d.RequestID {
		ask.ID = r.Header.Get("X-Request-Id")
	}
	return ask, problem
}

func (d *Dialect) parse(body []byte, a api) (*query, *face.Problem) {
	var q query
	if problem := face.Parse(body, &q); problem != nil {
		return nil, problem
	}
	switch {
	case a != chatAPI || len(q.Messages) > 0:
	case !d.EmptyChat:
		return nil, face.Bad("messages", "messages must not be empty")
	case q.Messages == nil:
		return nil, face.Bad("messages", "'messages' is required")
	}
	return &q, q.check(a)
}

func (q *query) check(a api) *face.Problem {
	if a == textAPI && len(q.Prompt) == 0 {
		return face.Bad("prompt", "prompt is missing")
	}
	if q.MaxCompletionTokens != nil && a == chatAPI {
		q.MaxTokens = q.MaxCompletionTokens
	}
	switch {
	case q.MaxTokens != nil && *q.MaxTokens < 1:
		return face.Bad("max_tokens", "max_tokens must be at least 1, got %d.", *q.MaxTokens)
	case q.MinTokens < 0:
		return face.Bad("min_tokens", "min_tokens must not be negative, got %d.", q.MinTokens)
	case q.MaxTokens != nil && q.MinTokens > *q.MaxTokens:
		return face.Bad("min_tokens", "min_tokens is %d, above max_tokens, %d.", q.MinTokens, *q.MaxTokens)
	case q.N != nil && (*q.N < 1 || *q.N > face.MaxChoices):
		return face.Bad("n", "n must be from 1 to %d, got %d.", face.MaxChoices, *q.N)
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 100):
		return face.Bad("temperature", "temperature must not be negative, got %v.", *q.Temperature)
	case q.TopP != nil && (*q.TopP <= 0 || *q.TopP > 1):
		return face.Bad("top_p", "top_p must be in (0, 1], got %v.", *q.TopP)
	case q.StreamOptions != nil && !q.Stream:
		return face.Bad("stream_options", "stream_options is allowed only with stream.")
	}
	return q.readLogprobs(a)
}

// ask turns a checked query into what the engine gets.
func (d *Dialect) ask(q *query, l *face.Language, a api, seed uint64) (*face.Ask, *face.Problem) {
	ask := &face.Ask{Prefix: d.shape(a).Prefix, N: q.choices(), MinTokens: q.MinTokens, IgnoreEOS: q.IgnoreEOS, Seed: q.Seed, Temperature: q.Temperature, TopP: q.TopP, CacheSalt: q.CacheSalt,
		Model: q.Model, Priority: q.Priority, KeepStop: q.KeepStop, LateHeaders: d.LateHeaders}
	switch {
	case q.MaxTokens != nil:
		ask.MaxTokens = *q.MaxTokens
	case a == textAPI:
		ask.MaxTokens = d.TextTokens
	}
	var problem *face.Problem
	if a == chatAPI {
		var ids []uint32
		ids, problem = templated(q.Messages, l)
		ask.Prompts = [][]uint32{ids}
	} else {
		ask.Prompts, problem = Prompts(q.Prompt, l)
	}
	if problem == nil {
		ask.Stop, problem = Strings("stop", q.Stop)
	}
	if problem != nil {
		return nil, problem
	}
	said, problem := q.script(l, seed, ask.Prompts[0])
	if problem != nil {
		return nil, problem
	}
	ask.Script = said.words
	w := writer{d: d, q: q, api: a, shape: d.shape(a), call: said.call}
	if a == chatAPI && said.words == nil {
		w.switched, w.thinking = q.thinking()
	}
	if q.Stream {
		ask.Stream = func(x *face.Exchange) face.Frames { return w.frames(x) }
	} else {
		ask.Body = w.body
	}
	return ask, nil
}

func (q *query) choices() int {
	if q.N == nil {
		return 1
	}
	return int(*q.N)
}

// Strings reads a string, a list of strings, or nothing.
func Strings(param string, raw json.RawMessage) ([]string, *face.Problem) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var many []string
	if json.Unmarshal(raw, &many) != nil || len(many) > 64 {
		return nil, face.Bad(param, "%s must be a string or a list of at most 64 strings", param)
	}
	return many, nil
}
