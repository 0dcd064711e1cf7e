package vllm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request body.
const maxBody = 64 << 20

// maxChoices bounds n.
const maxChoices = 128

// query is a request body of either API. Fields that change nothing here are
// not read.
type query struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
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
}

type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats"`
}

// message is one message of a chat; content is a string or a list of parts.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// read parses and checks a body.
func (s *Server) read(r *http.Request, a api) (*query, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &apiError{Message: "the request body is too large", Type: "BadRequestError", Code: http.StatusRequestEntityTooLarge}
	case err != nil:
		return nil, badRequest("", "the request body could not be read")
	}
	q, problem := parse(body)
	if problem == nil {
		problem = q.check(a)
	}
	if problem == nil && q.Model != "" && q.Model != s.cfg.Served && q.Model != s.cfg.ID {
		problem = notFound(q.Model)
	}
	return q, problem
}

func parse(body []byte) (*query, *apiError) {
	var q query
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&q); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, badRequest(wrong.Field, "%s: got %s, expected %s", wrong.Field, wrong.Value, wrong.Type)
		}
		return nil, badRequest("", "the body is not valid JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, badRequest("", "the body is not valid JSON: something follows the object")
	}
	return &q, nil
}

func (q *query) check(a api) *apiError {
	if a == chatAPI && len(q.Messages) == 0 {
		return badRequest("messages", "messages must not be empty")
	}
	if a == completionAPI && len(q.Prompt) == 0 {
		return badRequest("prompt", "prompt is missing")
	}
	if q.MaxCompletionTokens != nil && a == chatAPI {
		q.MaxTokens = q.MaxCompletionTokens
	}
	if q.MaxTokens == nil && a == completionAPI {
		sixteen := int64(16) // OpenAI's default, which vLLM keeps
		q.MaxTokens = &sixteen
	}
	switch {
	case q.MaxTokens != nil && *q.MaxTokens < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *q.MaxTokens)
	case q.MinTokens < 0:
		return badRequest("min_tokens", "min_tokens must not be negative, got %d.", q.MinTokens)
	case q.MaxTokens != nil && q.MinTokens > *q.MaxTokens:
		return badRequest("min_tokens", "min_tokens is %d, above max_tokens, %d.", q.MinTokens, *q.MaxTokens)
	case q.N != nil && (*q.N < 1 || *q.N > maxChoices):
		return badRequest("n", "n must be from 1 to %d, got %d.", maxChoices, *q.N)
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 100):
		return badRequest("temperature", "temperature must not be negative, got %v.", *q.Temperature)
	case q.TopP != nil && (*q.TopP <= 0 || *q.TopP > 1):
		return badRequest("top_p", "top_p must be in (0, 1], got %v.", *q.TopP)
	case q.StreamOptions != nil && !q.Stream:
		return badRequest("stream_options", "stream_options is allowed only with stream.")
	}
	return nil
}

func (q *query) choices() int {
	if q.N == nil {
		return 1
	}
	return int(*q.N)
}

// content returns the text of a message: a string, or the text parts of a list.
func (m *message) content() (string, *apiError) {
	raw := bytes.TrimSpace(m.Content)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil // an assistant's turn with tool calls alone
	}
	var text string
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", badRequest("messages", "content: %v", err)
		}
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", badRequest("messages", "content must be a string or a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", badRequest("messages", "content of type %q is not supported by this model", p.Type)
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}
