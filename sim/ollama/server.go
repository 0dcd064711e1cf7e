package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tokamak-bench/tokamak/sim/anthropic"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// New returns Ollama's routes.
func New(s *face.Service) http.Handler {
	m, d, i := http.NewServeMux(), dialect(), info{s}
	if s.Engine.MaxRequests == 0 {
		s.Engine.MaxRequests = maxQueue
	}
	native := func(chat bool) http.HandlerFunc {
		return s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
			body, problem := face.Body(r)
			if problem != nil {
				return nil, problem
			}
			return read(s, body, l, chat)
		}, refuse)
	}
	m.HandleFunc("POST /api/chat", native(true))
	m.HandleFunc("POST /api/generate", native(false))
	m.HandleFunc("POST /api/embed", s.Handle(i.embed, refuse))
	m.HandleFunc("GET /api/tags", i.tags)
	m.HandleFunc("GET /api/ps", i.tags)
	m.HandleFunc("POST /api/show", i.show)
	m.HandleFunc("GET /api/version", i.version)
	m.HandleFunc("POST /v1/chat/completions", d.ChatHandler(s))
	m.HandleFunc("POST /v1/completions", d.TextHandler(s))
	m.HandleFunc("POST /v1/embeddings", d.EmbeddingsHandler(s))
	m.HandleFunc("GET /v1/models", i.models)
	anthropic.Handle(m, s, func(model string) bool { return is(s, model) })
	m.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Ollama is running") })
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status, text := http.StatusNotFound, "404 page not found"
		if face.OtherMethod(w, m, r) {
			status, text = http.StatusMethodNotAllowed, "405 method not allowed"
		}
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
	return m
}

// info answers what is no request to the engine.
type info struct{ s *face.Service }

func (info) version(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]string{"version": Version})
}

func (i info) details() map[string]any {
	return map[string]any{"parent_model": "", "format": "gguf", "family": "llama", "families": []string{"llama"}, "parameter_size": "", "quantization_level": "F16"}
}

func (i info) tags(w http.ResponseWriter, _ *http.Request) {
	half := core.Mix(uint64(len(i.s.ID)), 0)
	digest := fmt.Sprintf("%016x%016x%016x%016x", half, core.Mix(half, 1), core.Mix(half, 2), core.Mix(half, 3))
	face.WriteJSON(w, http.StatusOK, map[string]any{"models": []any{map[string]any{"name": i.s.Served, "model": i.s.Served,
		"modified_at": i.s.Started().UTC().Format(time.RFC3339Nano), "expires_at": i.s.Started().Add(24 * time.Hour).UTC().Format(time.RFC3339Nano),
		"size": 0, "size_vram": 0, "digest": digest, "context_length": i.s.Engine.MaxModelLen, "details": i.details()}}})
}

func (i info) show(w http.ResponseWriter, r *http.Request) {
	var q struct{ Model, Name string }
	if problem := face.ParseBody(r, &q); problem != nil {
		refuse(w, problem)
		return
	}
	if name := q.Model + q.Name; !is(i.s, name) {
		refuse(w, &face.Problem{Kind: face.NoModel, Message: name})
		return
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"modelfile": "", "parameters": "", "template": "{{ .Prompt }}", "details": i.details(),
		"model_info": map[string]any{"general.architecture": "llama", "llama.context_length": i.s.Engine.MaxModelLen}, "capabilities": []string{"completion", "tools", "vision"},
		"modified_at": i.s.Started().UTC().Format(time.RFC3339Nano)})
}

func (i info) models(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": i.s.Served, "object": "model", "created": i.s.Started().Unix(), "owned_by": "library"}}})
}

func (i info) embed(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
	var q struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	problem := face.ParseBody(r, &q)
	if problem == nil && !is(i.s, q.Model) {
		problem = &face.Problem{Kind: face.NoModel, Message: q.Model}
	}
	if problem != nil {
		return nil, problem
	}
	prompts, problem := openai.Prompts(q.Input, l)
	return &face.Ask{Prompts: prompts, MaxTokens: 1, Pooled: true, Body: func(x *face.Exchange, _ http.Header) any {
		vectors, tokens, total := [][]float32{}, int64(0), int64(0)
		for n := range x.Choices {
			c := &x.Choices[n]
			vectors = append(vectors, openai.Vector(face.Fingerprint(c.PromptIDs()), max(i.s.Hidden, 1)))
			tokens += c.PromptTokens()
			total = max(total, c.Stats().Ended-c.Stats().Arrived)
		}
		return map[string]any{"model": x.Served(), "embeddings": vectors, "total_duration": total, "load_duration": 0, "prompt_eval_count": tokens}
	}}, problem
}
