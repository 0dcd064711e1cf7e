package anthropic

import (
	"fmt"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// Handle adds the API's routes; is tells whether a model is the one that is
// served.
func Handle(m *http.ServeMux, s *face.Service, is func(model string) bool) {
	read := func(r *http.Request) (*query, *face.Problem) {
		body, problem := face.Body(r)
		if problem != nil {
			return nil, problem
		}
		q, problem := parse(body)
		if problem == nil && !is(q.Model) {
			problem = &face.Problem{Kind: face.NoModel, Message: q.Model}
		}
		return q, problem
	}
	m.HandleFunc("POST /v1/messages", s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		q, problem := read(r)
		if problem != nil {
			return nil, problem
		}
		return q.ask(l, s.Seed)
	}, refuse))
	m.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		var ids []uint32
		q, problem := read(r)
		if problem == nil {
			l, err := s.Language()
			if err != nil {
				problem = face.Failed(err)
			} else {
				ids, problem = q.prompt(l)
			}
		}
		if problem != nil {
			refuse(w, problem)
			return
		}
		face.WriteJSON(w, http.StatusOK, map[string]int{"input_tokens": len(ids)})
	})
}

// refuse is Anthropic's error.
func refuse(w http.ResponseWriter, p *face.Problem) {
	status, kind, message := http.StatusBadRequest, "invalid_request_error", p.Message
	switch p.Kind {
	case face.TooLong:
		message = fmt.Sprintf("the prompt has %d tokens and %d are asked for, the limit is %d", p.Prompt, p.Asked, p.Limit)
	case face.NoModel:
		status, kind, message = http.StatusNotFound, "not_found_error", "model: "+p.Message
	case face.TooLarge:
		status, kind = http.StatusRequestEntityTooLarge, "request_too_large"
	case face.Overloaded, face.Loading, face.Stopping:
		status, kind = 529, "overloaded_error"
	case face.NoSupport:
		status, kind = http.StatusNotImplemented, "api_error"
	case face.Internal:
		status, kind = http.StatusInternalServerError, "api_error"
	case face.Injected:
		status, kind = p.Status, "api_error"
		if p.Status == http.StatusTooManyRequests {
			kind = "rate_limit_error"
		}
	}
	face.RetryAfter(w, p)
	face.WriteJSON(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}
