package llamacpp

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/anthropic"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// New returns the routes of llama.cpp's server.
func New(s *face.Service) http.Handler {
	m, d, i := http.NewServeMux(), dialect(), info{s}
	d.Full = i.loading
	native := s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		body, problem := face.Body(r)
		if problem != nil {
			return nil, problem
		}
		return read(body, l, s.Seed)
	}, Refuse)
	for _, p := range []string{"/completion", "/completions"} {
		m.HandleFunc("POST "+p, i.loaded(native))
	}
	for _, p := range []string{"/v1/chat/completions", "/chat/completions"} {
		m.HandleFunc("POST "+p, i.loaded(d.ChatHandler(s)))
	}
	m.HandleFunc("POST /v1/completions", i.loaded(d.TextHandler(s)))
	m.HandleFunc("POST /v1/responses", i.loaded(d.ResponsesHandler(s)))
	for _, p := range []string{"/embedding", "/embeddings", "/v1/embeddings"} {
		m.HandleFunc("POST "+p, func(w http.ResponseWriter, _ *http.Request) {
			Refuse(w, &face.Problem{Kind: face.NoSupport, Message: "this server was started without embeddings"})
		})
	}
	m.HandleFunc("POST /tokenize", i.loaded(i.tokenize))
	m.HandleFunc("POST /detokenize", i.loaded(i.detokenize))
	m.HandleFunc("POST /apply-template", i.loaded(i.template))
	for _, p := range []string{"/v1/models", "/models"} {
		m.HandleFunc("GET "+p, i.models)
	}
	m.HandleFunc("GET /props", i.loaded(i.props))
	m.HandleFunc("GET /slots", i.loaded(i.slots))
	for _, p := range []string{"/health", "/v1/health"} {
		m.HandleFunc("GET "+p, i.loaded(i.health))
	}
	m.Handle("GET /metrics", s.Metrics(series()))
	anthropic.Handle(m, s, func(string) bool { return true })
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		face.WriteJSON(w, http.StatusNotFound, map[string]apiError{"error": {Code: http.StatusNotFound, Message: "File Not Found", Type: "not_found_error"}})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "llama.cpp")
		m.ServeHTTP(w, r)
	})
}
