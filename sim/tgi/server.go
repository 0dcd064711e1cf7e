package tgi

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// New returns TGI's routes.
func New(s *face.Service) http.Handler {
	m, d, i := http.NewServeMux(), dialect(), info{s}
	generate := func(stream *bool) http.HandlerFunc {
		return s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
			body, problem := face.Body(r)
			if problem != nil {
				return nil, problem
			}
			return read(body, l, s.Seed, stream)
		}, Refuse)
	}
	m.HandleFunc("POST /generate", generate(new(bool)))
	streams := true
	m.HandleFunc("POST /generate_stream", generate(&streams))
	m.HandleFunc("POST /{$}", generate(nil))
	m.HandleFunc("POST /v1/chat/completions", d.ChatHandler(s))
	m.HandleFunc("POST /v1/completions", d.TextHandler(s))
	m.HandleFunc("GET /v1/models", i.models)
	m.HandleFunc("GET /info", i.info)
	for _, p := range []string{"/health", "/ping", "/{$}"} {
		m.HandleFunc("GET "+p, i.health)
	}
	m.HandleFunc("POST /tokenize", i.tokenize)
	m.Handle("GET /metrics", s.Metrics(series()))
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if face.OtherMethod(w, m, r) {
			status = http.StatusMethodNotAllowed
		}
		w.WriteHeader(status)
	})
	return m
}

// info answers what is no request to the engine.
type info struct{ s *face.Service }

func (i info) health(w http.ResponseWriter, _ *http.Request) {
	if !i.s.Ready() {
		face.WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "unhealthy", "error_type": "healthcheck"})
	}
}

func (i info) models(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": i.s.Served, "object": "model", "created": 0, "owned_by": i.s.ID}}})
}

func (i info) info(w http.ResponseWriter, _ *http.Request) {
	limit := i.s.Engine.MaxModelLen
	face.WriteJSON(w, http.StatusOK, map[string]any{"model_id": i.s.ID, "model_sha": nil, "model_pipeline_tag": "text-generation", "max_concurrent_requests": i.s.Engine.MaxRequests,
		"max_best_of": 1, "max_stop_sequences": maxStop, "max_input_tokens": limit - 1, "max_total_tokens": limit, "validation_workers": 1, "max_client_batch_size": 4,
		"router": "text-generation-router", "version": Version, "sha": nil, "docker_label": nil})
}

func (i info) tokenize(w http.ResponseWriter, r *http.Request) {
	var q query
	l, err := i.s.Language()
	problem := face.ParseBody(r, &q)
	switch {
	case err != nil:
		problem = face.Failed(err)
	case problem == nil && q.Inputs == nil:
		problem = face.Bad("inputs", "inputs is missing")
	}
	if problem != nil {
		Refuse(w, problem)
		return
	}
	words, err := l.Words(*q.Inputs)
	if err != nil {
		Refuse(w, face.Failed(err))
		return
	}
	type piece struct {
		ID    uint32 `json:"id"`
		Text  string `json:"text"`
		Start int    `json:"start"`
		Stop  int    `json:"stop"`
	}
	list, at := []piece{}, 0
	for _, t := range words {
		n := len([]rune(t.Text))
		list = append(list, piece{t.ID, t.Text, at, at + n})
		at += n
	}
	face.WriteJSON(w, http.StatusOK, list)
}
