package vllm

import (
	"bytes"
	"encoding/json"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// prompts returns the token ids of each prompt of a request. A chat is one
// prompt: its messages' tokens one after the other, without a template's.
func (l *language) prompts(q *query, a api) ([][]uint32, *apiError) {
	if a == chatAPI {
		var ids []uint32
		for i := range q.Messages {
			s, problem := q.Messages[i].content()
			if problem != nil {
				return nil, problem
			}
			var err error
			if ids, err = l.codec.Encode(ids, s); err != nil {
				return nil, internal(err)
			}
		}
		return [][]uint32{ids}, nil
	}
	return l.completionPrompts(q.Prompt)
}

// completionPrompts reads a prompt: a text, token ids, or a list of either.
func (l *language) completionPrompts(raw json.RawMessage) ([][]uint32, *apiError) {
	var one string
	if json.Unmarshal(raw, &one) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return l.encode([]string{one})
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return [][]uint32{ids}, nil
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 && len(many) <= maxChoices {
		return l.encode(many)
	}
	var lists [][]uint32
	if json.Unmarshal(raw, &lists) == nil && len(lists) > 0 && len(lists) <= maxChoices {
		return lists, nil
	}
	return nil, badRequest("prompt", "prompt must be a string, a list of strings (at most %d), token ids, or lists of token ids, and not empty", maxChoices)
}

func (l *language) encode(texts []string) ([][]uint32, *apiError) {
	out := make([][]uint32, 0, len(texts))
	for _, t := range texts {
		ids, err := l.codec.Encode(nil, t)
		if err != nil {
			return nil, internal(err)
		}
		out = append(out, ids)
	}
	return out, nil
}

// content is a prompt and its answer as the prefix cache sees them.
type content struct {
	ids    []uint32
	answer text.Answer
}

var _ core.Content = (*content)(nil)

// Block mixes the ids of block i into the key before it.
func (c *content) Block(key uint64, i, size int64) uint64 {
	for t := i * size; t < (i+1)*size; t++ {
		id := uint32(0)
		if t < int64(len(c.ids)) {
			id = c.ids[t]
		} else {
			id = c.answer.Next().ID
		}
		key = core.Mix(key, uint64(id))
	}
	return key
}

// fingerprint is a hash of a prompt.
func fingerprint(ids []uint32) uint64 {
	h := uint64(len(ids))
	for _, id := range ids {
		h = core.Mix(h, uint64(id))
	}
	return h
}
