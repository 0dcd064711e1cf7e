package ollama

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// Version is the Ollama whose API is modelled, and that it is a model of it.
const Version = "0.17.4+sim"

// maxQueue is how many requests Ollama takes at once by default.
const maxQueue = 512

func dialect() *openai.Dialect {
	return &openai.Dialect{
		Chat: openai.Shape{Prefix: "chatcmpl-", Open: `,"delta":{"role":"assistant","content":"`, Close: `"}`, Empty: `,"delta":{"role":"assistant","content":""}`,
			NotEnded: `,"finish_reason":null}`, Ended: ended},
		Text:        openai.Shape{Prefix: "cmpl-", Open: `,"text":"`, Close: `"`, Empty: `,"text":""`, NotEnded: `,"finish_reason":null}`, Ended: ended},
		Fingerprint: "fp_ollama", UsageTail: `,"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`, LateHeaders: true,
		Usage: usage, Refuse: refuseOpenAI,
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

func statusOf(p *face.Problem) (status int, message string) {
	switch p.Kind {
	case face.NoModel:
		return http.StatusNotFound, "model '" + strings.ReplaceAll(p.Message, "'", "") + "' not found"
	case face.TooLarge:
		return http.StatusRequestEntityTooLarge, p.Message
	case face.Overloaded:
		return http.StatusServiceUnavailable, "server busy, too many requests are pending"
	case face.Stopping, face.Loading:
		return http.StatusServiceUnavailable, p.Message
	case face.NoSupport:
		return http.StatusNotImplemented, p.Message
	case face.Injected:
		return p.Status, p.Message
	case face.Internal:
		return http.StatusInternalServerError, p.Message
	}
	return http.StatusBadRequest, p.Message
}

// refuse is the error of Ollama's own routes.
func refuse(w http.ResponseWriter, p *face.Problem) {
	status, message := statusOf(p)
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, map[string]string{"error": message})
}

func refuseOpenAI(w http.ResponseWriter, p *face.Problem) {
	status, message := statusOf(p)
	kind := "api_error"
	switch status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": nil}})
}

// Refuse writes what is wrong with a request as its route does.
func Refuse(w http.ResponseWriter, r *http.Request, p *face.Problem) {
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		refuseOpenAI(w, p)
		return
	}
	refuse(w, p)
}
