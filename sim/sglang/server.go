package sglang

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// Version is the SGLang whose API is modelled, and that it is a model of it.
const Version = "0.5.6+sim"

// New returns SGLang's routes.
func New(s *face.Service) http.Handler {
	m, d, i := http.NewServeMux(), dialect(), info{s}
	generate := s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		body, problem := face.Body(r)
		if problem != nil {
			return nil, problem
		}
		return read(body, l, s.Seed)
	}, refuseNative)
	m.HandleFunc("POST /generate", generate)
	m.HandleFunc("PUT /generate", generate)
	m.HandleFunc("POST /v1/chat/completions", d.ChatHandler(s))
	m.HandleFunc("POST /v1/completions", d.TextHandler(s))
	m.HandleFunc("POST /v1/embeddings", d.EmbeddingsHandler(s))
	m.HandleFunc("GET /v1/models", i.models)
	for _, p := range []string{"/tokenize", "/v1/tokenize"} {
		m.HandleFunc("POST "+p, i.tokenize)
	}
	m.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	// Asks the engine for a token.
	m.HandleFunc("GET /health_generate", s.Handle(func(*http.Request, *face.Language) (*face.Ask, *face.Problem) {
		return &face.Ask{Prompts: [][]uint32{{0}}, MaxTokens: 1, Pooled: true, Body: func(*face.Exchange, http.Header) any { return nil }}, nil
	}, refuseNative))
	for _, p := range []string{"/get_model_info", "/model_info"} {
		m.HandleFunc("GET "+p, i.model)
	}
	for _, p := range []string{"/get_server_info", "/server_info"} {
		m.HandleFunc("GET "+p, i.server)
	}
	m.Handle("GET /metrics", s.Metrics(series(s)))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if face.OtherMethod(w, m, r) {
			face.WriteDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		face.WriteDetail(w, http.StatusNotFound, "Not Found")
	})
	return m
}

// info answers what is no request to the engine.
type info struct{ s *face.Service }

func (i info) models(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": i.s.Served, "object": "model",
		"created": i.s.Started().Unix(), "owned_by": "sglang", "root": i.s.Served, "parent": nil, "max_model_len": i.s.Engine.MaxModelLen}}})
}

func (i info) model(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"model_path": i.s.ID, "tokenizer_path": i.s.ID, "is_generation": true,
		"preferred_sampling_params": nil, "weight_version": "default", "has_image_understanding": true, "has_audio_understanding": false})
}

func (i info) server(w http.ResponseWriter, _ *http.Request) {
	e := &i.s.Engine
	snap := i.s.Snapshot()
	face.WriteJSON(w, http.StatusOK, map[string]any{"version": Version, "status": "ready", "model_path": i.s.ID, "served_model_name": i.s.Served,
		"context_length": e.MaxModelLen, "max_running_requests": e.MaxSeqs, "chunked_prefill_size": e.MaxTokens, "page_size": e.BlockSize,
		"max_total_num_tokens": totalTokens(i.s), "disable_radix_cache": !e.PrefixCache, "mem_fraction_static": i.s.Utilization,
		"internal_states": []any{map[string]any{"last_gen_throughput": throughput(&snap)}}})
}

func (i info) tokenize(w http.ResponseWriter, r *http.Request) {
	ids, problem := openai.Tokenize(i.s, r)
	if problem != nil {
		refuse(w, problem)
		return
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"tokens": ids, "count": len(ids), "max_model_len": i.s.Engine.MaxModelLen})
}
