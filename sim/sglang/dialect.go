package sglang

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

func dialect() *openai.Dialect {
	const rest = `,"reasoning_content":null,"tool_calls":null}`
	const going = `,"finish_reason":null,"matched_stop":null}`
	return &openai.Dialect{
		Chat: openai.Shape{Role: `,"delta":{"role":"assistant","content":""` + rest, Open: `,"delta":{"role":null,"content":"`, Close: `"` + rest,
			Empty: `,"delta":{"role":null,"content":null` + rest, Logprobs: true, NotEnded: going, Ended: ended},
		Text: openai.Shape{Open: `,"text":"`, Close: `"`, Empty: `,"text":""`, Logprobs: true, NotEnded: going, Ended: ended},
		Tail: `,"usage":null`, TextTokens: 16, AnyModel: true, Usage: usage, Refuse: refuse,
	}
}

func ended(b []byte, reason, stop string) []byte {
	b = append(b, `,"finish_reason":"`+reason+`","matched_stop":`...)
	if stop == "" {
		return append(b, "null}"...)
	}
	return append(face.AppendString(b, stop), '}')
}

func usage(b []byte, u core.Usage, _ *face.Exchange) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt, 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt+u.Output, 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, u.Output, 10)
	b = append(b, `,"prompt_tokens_details":`...)
	if u.Cached < 0 {
		return append(b, `null,"reasoning_tokens":0}`...)
	}
	b = append(b, `{"cached_tokens":`...)
	b = strconv.AppendInt(b, u.Cached, 10)
	return append(b, `},"reasoning_tokens":0}`...)
}

// statusOf is a problem's status, type and text.
func statusOf(p *face.Problem) (status int, kind, message string) {
	switch p.Kind {
	case face.TooLong:
		return http.StatusBadRequest, "BadRequestError", fmt.Sprintf("the request has %d input tokens and asks for %d; the model's context length is %d tokens", p.Prompt, p.Asked, p.Limit)
	case face.NoModel:
		return http.StatusNotFound, "NotFoundError", "no model " + p.Message
	case face.TooLarge:
		return http.StatusRequestEntityTooLarge, "BadRequestError", p.Message
	case face.Stopping, face.Loading, face.Overloaded:
		return http.StatusServiceUnavailable, "ServiceUnavailableError", p.Message
	case face.NoSupport:
		return http.StatusNotImplemented, "NotImplementedError", p.Message
	case face.Injected:
		return p.Status, "InternalServerError", p.Message
	case face.Internal:
		return http.StatusInternalServerError, "InternalServerError", p.Message
	}
	return http.StatusBadRequest, "BadRequestError", p.Message
}

// refuse is how the OpenAI routes do it: a flat object.
func refuse(w http.ResponseWriter, p *face.Problem) {
	status, kind, message := statusOf(p)
	param := &p.Param
	if p.Param == "" {
		param = nil
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, struct {
		Object  string  `json:"object"`
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    int     `json:"code"`
	}{"error", message, kind, param, status})
}

// refuseNative is how /generate does it.
func refuseNative(w http.ResponseWriter, p *face.Problem) {
	status, _, message := statusOf(p)
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, map[string]any{"error": map[string]string{"message": message}})
}

// Refuse writes what is wrong with a request as its route does.
func Refuse(w http.ResponseWriter, r *http.Request, p *face.Problem) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		refuse(w, p)
		return
	}
	refuseNative(w, p)
}
