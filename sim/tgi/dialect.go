package tgi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// Version is the TGI whose API is modelled, and that it is a model of it.
const Version = "3.3.6+sim"

func dialect() *openai.Dialect {
	return &openai.Dialect{
		Chat: openai.Shape{Open: `,"delta":{"role":"assistant","content":"`, Close: `"}`, Empty: `,"delta":{"role":"assistant","content":""}`,
			Logprobs: true, Joined: true, NotEnded: `,"finish_reason":null}`, Ended: ended},
		Text: openai.Shape{Open: `,"text":"`, Close: `"`, Empty: `,"text":""`, Logprobs: true, Joined: true, NotEnded: `,"finish_reason":""}`, Ended: ended},
		NoID: true, Fingerprint: Version, Tail: `,"usage":null`, AnyModel: true, Usage: usage, Refuse: Refuse,
	}
}

func ended(b []byte, reason, _ string) []byte {
	return append(b, `,"finish_reason":"`+reason+`"}`...)
}

func usage(b []byte, u core.Usage, _ *face.Exchange) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt, 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, u.Output, 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt+u.Output, 10)
	return append(b, '}')
}

// Refuse writes what is wrong with a request: TGI's error on all routes.
func Refuse(w http.ResponseWriter, p *face.Problem) {
	status, kind, message := http.StatusUnprocessableEntity, "validation", "invalid input: "+p.Message
	switch p.Kind {
	case face.TooLong:
		message = fmt.Sprintf("invalid input: inputs tokens + max_new_tokens must not exceed %d, given %d and %d", p.Limit, p.Prompt, p.Asked)
	case face.TooLarge:
		status = http.StatusRequestEntityTooLarge
	case face.Overloaded:
		status, kind, message = http.StatusTooManyRequests, "overloaded", "Model is overloaded"
	case face.Stopping, face.Loading:
		status, kind, message = http.StatusServiceUnavailable, "healthcheck", p.Message
	case face.NoModel:
		status, kind, message = http.StatusNotFound, "not_found", p.Message
	case face.NoSupport:
		status, kind, message = http.StatusNotImplemented, "not_supported", p.Message
	case face.Injected:
		status, kind, message = p.Status, "generation", p.Message
		switch p.Status {
		case http.StatusTooManyRequests:
			kind, message = "overloaded", "Model is overloaded"
		case http.StatusInternalServerError:
			kind = "incomplete_generation"
		}
	case face.Internal:
		status, kind, message = http.StatusInternalServerError, "incomplete_generation", p.Message
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, map[string]string{"error": message, "error_type": kind})
}
