package vllm

import (
	"encoding/json"
	"net/http"
)

// Version is what GET /version answers: the vLLM whose scheduling and API are
// modelled, and that it is a model of it.
const Version = "0.19.0+sim"

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": Version})
}

func (s *Server) serverLoad(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]int64{"server_load": s.load.Load()})
}

type modelCard struct {
	ID          string  `json:"id"`
	Object      string  `json:"object"`
	Created     int64   `json:"created"`
	OwnedBy     string  `json:"owned_by"`
	Root        string  `json:"root"`
	Parent      *string `json:"parent"`
	MaxModelLen int64   `json:"max_model_len"`
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []modelCard{{ID: s.cfg.Served, Object: "model",
		Created: s.epoch.Unix(), OwnedBy: "vllm", Root: s.cfg.ID, MaxModelLen: s.cfg.Engine.MaxModelLen}}})
}

// tokenize answers as vLLM's route does, for a prompt or for messages.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	l, err := s.language()
	if err != nil {
		internal(err).write(w)
		return
	}
	var q query
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		badRequest("", "the body is not valid JSON: %v", err).write(w)
		return
	}
	a := completionAPI
	if len(q.Messages) > 0 {
		a = chatAPI
	}
	prompts, problem := l.prompts(&q, a)
	if problem == nil && len(prompts) != 1 {
		problem = badRequest("prompt", "expected one prompt, got %d", len(prompts))
	}
	if problem != nil {
		problem.write(w)
		return
	}
	ids := prompts[0]
	if ids == nil {
		ids = []uint32{}
	}
	writeJSON(w, http.StatusOK, struct {
		Count       int      `json:"count"`
		MaxModelLen int64    `json:"max_model_len"`
		Tokens      []uint32 `json:"tokens"`
		Strings     []string `json:"token_strs"`
	}{len(ids), s.cfg.Engine.MaxModelLen, ids, nil})
}
