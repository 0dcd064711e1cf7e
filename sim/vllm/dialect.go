package vllm

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

func dialect() *openai.Dialect {
	return &openai.Dialect{
		Chat: openai.Shape{Prefix: "chatcmpl-", Role: `,"delta":{"role":"assistant","content":""}`, Open: `,"delta":{"content":"`, Close: `"}`,
			Empty: `,"delta":{"content":""}`, Logprobs: true, NotEnded: `,"finish_reason":null}`, Ended: ended},
		Text: openai.Shape{Prefix: "cmpl-", Open: `,"text":"`, Close: `"`, Empty: `,"text":""`, Logprobs: true,
			NotEnded: `,"finish_reason":null,"stop_reason":null}`, Ended: ended},
		RequestID: true, TextTokens: 16, // OpenAI's default, which vLLM keeps
		Usage: usage, Refuse: Refuse,
	}
}

func ended(b []byte, reason, stop string) []byte {
	b = append(b, `,"finish_reason":"`+reason+`","stop_reason":`...)
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
	if u.Cached >= 0 {
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = strconv.AppendInt(b, u.Cached, 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// apiError is vLLM's error object.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

// Refuse writes what is wrong with a request.
func Refuse(w http.ResponseWriter, p *face.Problem) {
	e := apiError{Message: p.Message, Type: "BadRequestError", Code: http.StatusBadRequest}
	if p.Param != "" {
		e.Param = &p.Param
	}
	switch p.Kind {
	case face.TooLong:
		e.Message = fmt.Sprintf("This model's maximum context length is %d tokens; the prompt has %d and %d more are asked for.", p.Limit, p.Prompt, p.Asked)
		if p.Prompt >= p.Limit {
			e.Message = fmt.Sprintf("This model's maximum context length is %d tokens; the prompt has %d and leaves no room for an answer.", p.Limit, p.Prompt)
		}
	case face.NoModel:
		e.Message, e.Type, e.Code = fmt.Sprintf("The model `%s` does not exist.", p.Message), "NotFoundError", http.StatusNotFound
	case face.TooLarge:
		e.Code = http.StatusRequestEntityTooLarge
	case face.Stopping, face.Loading:
		e.Type, e.Code = "ServiceUnavailableError", http.StatusServiceUnavailable
	case face.Overloaded:
		e.Type, e.Code = "TooManyRequests", http.StatusTooManyRequests
	case face.NoSupport:
		e.Type, e.Code = "NotImplementedError", http.StatusNotImplemented
	case face.Injected:
		e.Type, e.Code = "InternalServerError", p.Status
		if p.Status == http.StatusTooManyRequests {
			e.Type = "TooManyRequests"
		}
	case face.Internal:
		e.Type, e.Code = "InternalServerError", http.StatusInternalServerError
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, e.Code, map[string]apiError{"error": e})
}
