package openai

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// Tokenize returns the tokens of the prompt or the messages in a request's body.
func Tokenize(s *face.Service, r *http.Request) ([]uint32, *face.Problem) {
	l, err := s.Language()
	if err != nil {
		return nil, face.Failed(err)
	}
	var q struct {
		Prompt   json.RawMessage `json:"prompt"`
		Messages []Message       `json:"messages"`
	}
	if problem := face.ParseBody(r, &q); problem != nil {
		return nil, problem
	}
	ids := []uint32{}
	if len(q.Messages) > 0 {
		chat, problem := templated(q.Messages, l)
		return append(ids, chat...), problem
	}
	prompts, problem := Prompts(q.Prompt, l)
	if problem == nil && len(prompts) != 1 {
		problem = face.Bad("prompt", "expected one prompt, got %d", len(prompts))
	}
	if problem != nil {
		return nil, problem
	}
	return append(ids, prompts[0]...), nil
}

// Detokenize returns the text of the tokens in a request's body.
func Detokenize(s *face.Service, r *http.Request) (string, *face.Problem) {
	l, err := s.Language()
	if err != nil {
		return "", face.Failed(err)
	}
	var q struct {
		Tokens []uint32 `json:"tokens"`
	}
	if problem := face.ParseBody(r, &q); problem != nil {
		return "", problem
	}
	text, err := l.Decode(nil, q.Tokens)
	if err != nil {
		return "", face.Bad("tokens", "%v", err)
	}
	return string(text), nil
}
