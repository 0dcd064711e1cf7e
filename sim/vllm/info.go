package vllm

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// Version is what GET /version answers: the vLLM whose scheduling and API are
// modelled, and that it is a model of it.
const Version = "0.19.0+sim"

// info answers what is no request to the engine.
type info struct{ s *face.Service }

func (info) version(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]string{"version": Version})
}

func (i info) load(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]int64{"server_load": i.s.Load()})
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

func (i info) models(w http.ResponseWriter, _ *http.Request) {
	base := modelCard{ID: i.s.Served, Object: "model", Created: i.s.Started().Unix(), OwnedBy: "vllm", Root: i.s.ID, MaxModelLen: i.s.Engine.MaxModelLen}
	list := []modelCard{base}
	for _, name := range i.s.Adapters {
		card := base
		card.ID, card.Root, card.Parent = name, name, &base.ID
		list = append(list, card)
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// tokenize answers as vLLM's route does, for a prompt or for messages.
func (i info) tokenize(w http.ResponseWriter, r *http.Request) {
	ids, problem := openai.Tokenize(i.s, r)
	if problem != nil {
		Refuse(w, problem)
		return
	}
	face.WriteJSON(w, http.StatusOK, struct {
		Count       int      `json:"count"`
		MaxModelLen int64    `json:"max_model_len"`
		Tokens      []uint32 `json:"tokens"`
		Strings     []string `json:"token_strs"`
	}{len(ids), i.s.Engine.MaxModelLen, ids, nil})
}

func (i info) detokenize(w http.ResponseWriter, r *http.Request) {
	text, problem := openai.Detokenize(i.s, r)
	if problem != nil {
		Refuse(w, problem)
		return
	}
	face.WriteJSON(w, http.StatusOK, map[string]string{"prompt": text})
}
