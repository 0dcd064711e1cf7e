package llamacpp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// info answers what is no request to the engine.
type info struct{ s *face.Service }

// loading says that the model is not there yet.
func (i info) loading() *face.Problem {
	if i.s.Ready() {
		return nil
	}
	return &face.Problem{Kind: face.Loading, Message: "Loading model"}
}

// loaded lets a request pass once the model is loaded.
func (i info) loaded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if problem := i.loading(); problem != nil {
			Refuse(w, problem)
			return
		}
		next(w, r)
	}
}

func (info) health(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (i info) models(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"object": "list",
		"models": []any{map[string]any{"name": i.s.Served, "model": i.s.Served, "type": "model", "capabilities": []string{"completion"}, "details": map[string]any{"format": "gguf"}}},
		"data": []any{map[string]any{"id": i.s.Served, "aliases": []string{i.s.Served}, "object": "model", "created": i.s.Started().Unix(), "owned_by": "llamacpp",
			"meta": map[string]any{"n_ctx": i.s.Engine.MaxModelLen, "n_ctx_train": i.s.Engine.MaxModelLen, "n_embd": i.s.Hidden}}}})
}

func (i info) props(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"default_generation_settings": map[string]any{"n_ctx": i.s.Engine.MaxModelLen,
		"params": settings(&writer{q: &query{}}, nil)}, "total_slots": i.s.Engine.MaxSeqs, "model_alias": i.s.Served, "model_path": i.s.ID,
		"modalities": map[string]bool{"vision": true, "audio": false}, "endpoint_slots": true, "endpoint_props": true, "endpoint_metrics": true,
		"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}", "build_info": "b0-sim"})
}

type slot struct {
	ID         int   `json:"id"`
	Context    int64 `json:"n_ctx"`
	Processing bool  `json:"is_processing"`
}

// slots shows as many busy slots as requests run.
func (i info) slots(w http.ResponseWriter, _ *http.Request) {
	running := i.s.Snapshot().Running
	list := make([]slot, i.s.Engine.MaxSeqs)
	for n := range list {
		list[n] = slot{n, i.s.Engine.MaxModelLen, n < running}
	}
	face.WriteJSON(w, http.StatusOK, list)
}

func (i info) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Content string `json:"content"`
		Pieces  bool   `json:"with_pieces"`
	}
	l, err := i.s.Language()
	problem := face.ParseBody(r, &q)
	if err != nil {
		problem = face.Failed(err)
	}
	if problem != nil {
		Refuse(w, problem)
		return
	}
	words, err := l.Words(q.Content)
	if err != nil {
		Refuse(w, face.Failed(err))
		return
	}
	list := make([]any, 0, len(words))
	for _, t := range words {
		if q.Pieces {
			list = append(list, map[string]any{"id": t.ID, "piece": t.Text})
		} else {
			list = append(list, t.ID)
		}
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"tokens": list})
}

func (i info) detokenize(w http.ResponseWriter, r *http.Request) {
	text, problem := openai.Detokenize(i.s, r)
	if problem != nil {
		Refuse(w, problem)
		return
	}
	face.WriteJSON(w, http.StatusOK, map[string]string{"content": text})
}

// template joins the messages' texts: the engine counts no template's tokens.
func (info) template(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if problem := face.ParseBody(r, &q); problem != nil {
		Refuse(w, problem)
		return
	}
	var b strings.Builder
	for _, m := range q.Messages {
		var parts []struct{ Text string }
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			_ = json.Unmarshal(m.Content, &parts)
		}
		b.WriteString(text)
		for _, p := range parts {
			b.WriteString(p.Text)
		}
	}
	face.WriteJSON(w, http.StatusOK, map[string]string{"prompt": b.String()})
}
