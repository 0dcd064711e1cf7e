package ollama

import (
	"encoding/json"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// query is a request of POST /api/generate or /api/chat.
type query struct {
	Model    string           `json:"model"`
	Prompt   string           `json:"prompt"`
	System   string           `json:"system"`
	Images   []string         `json:"images"`
	Context  []uint32         `json:"context"`
	Messages []openai.Message `json:"messages"`
	Tools    []openai.Tool    `json:"tools"`
	Stream   *bool            `json:"stream"`
	Format   json.RawMessage  `json:"format"`
	Options  struct {
		Predict *int64          `json:"num_predict"`
		Context *int            `json:"num_ctx"`
		Seed    *int64          `json:"seed"`
		Stop    json.RawMessage `json:"stop"`
	} `json:"options"`
}

// is tells whether a request's model is the one that is served; its tag may be left out.
func is(s *face.Service, model string) bool {
	return s.Is(strings.TrimSuffix(model, ":latest"))
}

// read turns a query's body into what the engine gets.
func read(s *face.Service, body []byte, l *face.Language, chat bool) (*face.Ask, *face.Problem) {
	var q query
	problem := face.Parse(body, &q)
	switch {
	case problem != nil:
		return nil, problem
	case q.Model == "":
		return nil, face.Bad("model", "model is required")
	case !is(s, q.Model):
		return nil, &face.Problem{Kind: face.NoModel, Message: q.Model}
	}
	ids, problem := q.prompt(l, chat)
	if problem != nil {
		return nil, problem
	}
	ask := &face.Ask{Seed: q.Options.Seed, ContentType: "application/x-ndjson", LateHeaders: true}
	if p := q.Options.Predict; p != nil && *p > 0 {
		ask.MaxTokens = *p
	}
	ids = q.truncate(ids, s.Engine.MaxModelLen)
	ask.MaxTokens = min(ask.MaxTokens, s.Engine.MaxModelLen-int64(len(ids)))
	ask.Prompts = [][]uint32{ids}
	if ask.Stop, problem = openai.Strings("stop", q.Options.Stop); problem != nil {
		return nil, problem
	}
	w := &writer{chat: chat, prompt: ids}
	if problem := q.script(ask, w, l, s.Seed); problem != nil {
		return nil, problem
	}
	if q.Stream == nil || *q.Stream {
		ask.Stream = func(*face.Exchange) face.Frames { return w }
	} else {
		ask.Body = w.body
	}
	return ask, nil
}

// prompt returns the tokens of a prompt or of a chat.
func (q *query) prompt(l *face.Language, chat bool) ([]uint32, *face.Problem) {
	if chat {
		return openai.ChatPrompt(q.Messages, l)
	}
	content := face.AppendString(nil, q.System+q.Prompt)
	ids, problem := openai.ChatPrompt([]openai.Message{{Content: content, Images: q.Images}}, l)
	return append(q.Context, ids...), problem
}

// truncate drops a long prompt's beginning without a word, as Ollama does.
func (q *query) truncate(ids []uint32, limit int64) []uint32 {
	if n := q.Options.Context; n != nil && *n > 1 {
		limit = min(limit, int64(*n))
	}
	if int64(len(ids)) >= limit {
		ids = ids[int64(len(ids))-limit+1:]
	}
	return ids
}

// script sets what is said instead of prose: a call of a tool when the user
// spoke last, or JSON.
func (q *query) script(ask *face.Ask, w *writer, l *face.Language, seed uint64) *face.Problem {
	seed = core.Mix(seed, face.Fingerprint(w.prompt))
	if q.Options.Seed != nil {
		seed = core.Mix(seed, uint64(*q.Options.Seed))
	}
	format := q.Format
	if string(format) == `"json"` {
		format = json.RawMessage(`{"type":"object"}`)
	}
	if string(format) == `""` {
		format = nil
	}
	n := len(q.Messages)
	if len(q.Tools) > 0 && n > 0 && q.Messages[n-1].Role == "user" {
		call, problem := openai.CallTool(q.Tools, "", seed)
		if problem != nil {
			return problem
		}
		words, err := l.Words(call.Arguments)
		if err != nil {
			return face.Failed(err)
		}
		ask.Script, w.call = words, call
		return nil
	}
	var problem *face.Problem
	ask.Script, problem = openai.JSONWords(l, "format", format, seed)
	return problem
}
