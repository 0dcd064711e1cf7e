package vllm

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/anthropic"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// New returns vLLM's routes.
func New(s *face.Service) http.Handler {
	m, d, i := http.NewServeMux(), dialect(), info{s}
	m.HandleFunc("POST /v1/chat/completions", d.ChatHandler(s))
	m.HandleFunc("POST /v1/completions", d.TextHandler(s))
	m.HandleFunc("POST /v1/embeddings", d.EmbeddingsHandler(s))
	m.HandleFunc("POST /v1/responses", d.ResponsesHandler(s))
	m.HandleFunc("GET /v1/models", i.models)
	m.HandleFunc("POST /tokenize", i.tokenize)
	m.HandleFunc("POST /detokenize", i.detokenize)
	m.HandleFunc("GET /version", i.version)
	anthropic.Handle(m, s, s.Is)
	m.HandleFunc("GET /load", i.load)
	for _, p := range []string{"GET /health", "GET /ping", "POST /ping"} {
		m.HandleFunc(p, func(http.ResponseWriter, *http.Request) {})
	}
	m.Handle("GET /metrics", s.Metrics(series(s)))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if face.OtherMethod(w, m, r) {
			face.WriteDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		face.WriteDetail(w, http.StatusNotFound, "Not Found")
	})
	return face.EchoRequestID(m)
}
