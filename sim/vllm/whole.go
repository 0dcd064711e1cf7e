package vllm

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// api is which of OpenAI's two completion APIs a request came through.
type api uint8

const (
	chatAPI api = iota
	completionAPI
)

// usage is the count of a response.
type usage struct {
	PromptTokens     int64    `json:"prompt_tokens"`
	TotalTokens      int64    `json:"total_tokens"`
	CompletionTokens int64    `json:"completion_tokens"`
	Details          *details `json:"prompt_tokens_details"`
}

type details struct {
	Cached int64 `json:"cached_tokens"`
}

type chatMessage struct {
	Role    string  `json:"role"`
	Content string  `json:"content"`
	Refusal *string `json:"refusal"`
}

type answerChoice struct {
	Index        int          `json:"index"`
	Message      *chatMessage `json:"message,omitempty"`
	Text         *string      `json:"text,omitempty"`
	Logprobs     *struct{}    `json:"logprobs"`
	FinishReason core.Finish  `json:"finish_reason"`
	StopReason   *string      `json:"stop_reason"`
}

type answerBody struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []answerChoice `json:"choices"`
	Usage   usage          `json:"usage"`
}

// whole writes the response of a request that does not stream.
func (x *exchange) whole(w http.ResponseWriter) error {
	b := answerBody{ID: x.id, Object: "text_completion", Created: x.created, Model: x.server.cfg.Served}
	if x.api == chatAPI {
		b.Object = "chat.completion"
	}
	x.take()
	for i := range x.choices {
		c := &x.choices[i]
		n := c.taken
		c.tokens, c.finish = n.tokens, n.finish
		var out []byte
		for range n.tokens {
			out = append(out, c.answer.Next().Text...)
		}
		text := string(out)
		a := answerChoice{Index: i, FinishReason: n.finish}
		if x.api == chatAPI {
			a.Message = &chatMessage{Role: "assistant", Content: text}
		} else {
			a.Text = &text
		}
		b.Choices = append(b.Choices, a)
	}
	b.Usage = x.usage()
	b.Usage.Details = &details{x.cached()}
	x.first = time.Now().UnixNano()
	x.last = x.first
	writeJSON(w, http.StatusOK, b)
	return nil
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}
