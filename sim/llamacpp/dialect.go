package llamacpp

import (
	"net/http"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

func dialect() *openai.Dialect {
	return &openai.Dialect{
		Chat: openai.Shape{Prefix: "chatcmpl-", Role: `,"delta":{"role":"assistant","content":null}`, Open: `,"delta":{"content":"`, Close: `"}`,
			Empty: `,"delta":{}`, NotEnded: `,"finish_reason":null}`, Ended: ended},
		Text: openai.Shape{Prefix: "chatcmpl-", Open: `,"text":"`, Close: `"`, Empty: `,"text":""`, Logprobs: true, EndUsage: true,
			NotEnded: `,"finish_reason":null}`, Ended: ended},
		Fingerprint: "b0-sim", AnyModel: true, EmptyChat: true, LateHeaders: true,
		Usage: usage, Refuse: Refuse,
		Extra: func(b []byte, c *face.Choice) []byte {
			return face.AppendJSON(append(b, `,"timings":`...), timingsOf(c.Stats(), c.Written))
		},
	}
}

func ended(b []byte, reason, _ string) []byte {
	return append(b, `,"finish_reason":"`+reason+`"}`...)
}

func usage(b []byte, u core.Usage, _ *face.Exchange) []byte {
	b = append(b, `{"completion_tokens":`...)
	b = strconv.AppendInt(b, u.Output, 10)
	b = append(b, `,"prompt_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt, 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, u.Prompt+u.Output, 10)
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, max(u.Cached, 0), 10)
	return append(b, "}}"...)
}

// timings are what the server tells of a request.
type timings struct {
	CacheN      int64   `json:"cache_n"`
	PromptN     int64   `json:"prompt_n"`
	PromptMS    float64 `json:"prompt_ms"`
	PromptEach  float64 `json:"prompt_per_token_ms"`
	PromptRate  float64 `json:"prompt_per_second"`
	PredictN    int64   `json:"predicted_n"`
	PredictMS   float64 `json:"predicted_ms"`
	PredictEach float64 `json:"predicted_per_token_ms"`
	PredictRate float64 `json:"predicted_per_second"`
}

// timingsOf reads a request's stats after n tokens. The first token belongs to
// the prompt's time, as it does in the server.
func timingsOf(st *core.Stats, n int64) timings {
	t := timings{CacheN: st.Cached, PromptN: st.Prompt - st.Cached, PredictN: n,
		PromptMS: float64(st.FirstToken-st.Scheduled) / 1e6, PredictMS: float64(st.LastToken-st.FirstToken) / 1e6}
	if t.PromptN > 0 && t.PromptMS > 0 {
		t.PromptEach, t.PromptRate = t.PromptMS/float64(t.PromptN), 1e3*float64(t.PromptN)/t.PromptMS
	}
	if n > 1 && t.PredictMS > 0 {
		t.PredictEach, t.PredictRate = t.PredictMS/float64(n-1), 1e3*float64(n-1)/t.PredictMS
	}
	return t
}

type apiError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Prompt  int64  `json:"n_prompt_tokens,omitempty"`
	Context int64  `json:"n_ctx,omitempty"`
}

// Refuse writes what is wrong with a request.
func Refuse(w http.ResponseWriter, p *face.Problem) {
	e := apiError{Code: http.StatusBadRequest, Message: p.Message, Type: "invalid_request_error"}
	switch p.Kind {
	case face.TooLong:
		e.Type, e.Prompt, e.Context = "exceed_context_size_error", p.Prompt, p.Limit
	case face.TooLarge:
		e.Code = http.StatusRequestEntityTooLarge
	case face.Stopping, face.Loading, face.Overloaded:
		e.Code, e.Type = http.StatusServiceUnavailable, "unavailable_error"
	case face.NoModel:
		e.Code, e.Type = http.StatusNotFound, "not_found_error"
	case face.NoSupport:
		e.Code, e.Type = http.StatusNotImplemented, "not_supported_error"
	case face.Injected:
		e.Code, e.Type = p.Status, "server_error"
	case face.Internal:
		e.Code, e.Type = http.StatusInternalServerError, "server_error"
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, e.Code, map[string]apiError{"error": e})
}
