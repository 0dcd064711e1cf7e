package openai

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// Options are what all calls to one target have in common.
type Options struct {
	Base   *url.URL // with /v1
	Model  string
	Header []wire.Field
	Limits wire.Limits
}

// Chat is the chat-completions driver.
type Chat struct {
	opt Options
	url *url.URL
}

var _ engine.Driver = (*Chat)(nil)

// NewChat returns a driver.
func NewChat(o Options) *Chat { return &Chat{o, o.Base.JoinPath("chat/completions")} }

// Name returns openai-chat.
func (d *Chat) Name() string { return "openai-chat" }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Encode forms a streaming request.
func (d *Chat) Encode(c *engine.Call) (*wire.Request, error) {
	body := map[string]any{"model": d.opt.Model, "stream": true,
		"stream_options": map[string]any{"include_usage": true}}
	var ms []message
	for _, m := range c.Messages {
		ms = append(ms, message(m))
	}
	body["messages"] = ms
	if c.MaxTokens > 0 {
		body["max_tokens"] = c.MaxTokens
		body["ignore_eos"] = true
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	h := append([]wire.Field{{Name: "Content-Type", Value: "application/json"}}, d.opt.Header...)
	return &wire.Request{Method: "POST", URL: d.url, Header: h, Body: b, Framing: wire.SSE, Limits: d.opt.Limits}, nil
}

// Decoder returns a decoder for one streamed response.
func (d *Chat) Decoder(*engine.Call) engine.Decoder {
	return &decoder{answer: engine.Answer{FirstEvent: wire.NotReached}}
}

type decoder struct {
	answer engine.Answer
	done   bool
}

type chunk struct {
	ID      string `json:"id"`
	Choices []struct {
		Index int32 `json:"index"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
}

func (d *decoder) Segment(s *wire.Segment) {
	for _, e := range s.Events {
		_, data, ok := wire.EventData(s.Data[e.Start:e.End])
		if !ok {
			continue
		}
		d.event(data, e)
	}
}

func (d *decoder) event(data []byte, e wire.Event) {
	a := &d.answer
	if a.FirstEvent == wire.NotReached {
		a.FirstEvent = e.At
	}
	if bytes.Equal(data, []byte("[DONE]")) {
		d.done = true
		return
	}
	var c chunk
	if json.Unmarshal(data, &c) != nil {
		a.Violations = append(a.Violations, "bad_json")
		return
	}
	a.ServerID = c.ID
	for _, ch := range c.Choices {
		if ch.FinishReason != "" {
			a.FinishReason = ch.FinishReason
		}
		if ch.Delta.Content == "" {
			continue
		}
		a.Chunks.At = append(a.Chunks.At, e.At)
		a.Chunks.Bytes = append(a.Chunks.Bytes, int32(len(ch.Delta.Content)))
		a.Chunks.Kind = append(a.Chunks.Kind, engine.Text)
		a.Chunks.Choice = append(a.Chunks.Choice, ch.Index)
		a.Chunks.Flags = append(a.Chunks.Flags, e.Flags)
		a.Content = append(a.Content, ch.Delta.Content...)
	}
	if c.Usage != nil {
		a.Usage.Prompt = engine.Count{N: c.Usage.Prompt, Known: true}
		a.Usage.Completion = engine.Count{N: c.Usage.Completion, Known: true}
	}
}

func (d *decoder) End(x *wire.Exchange) *engine.Answer {
	a := &d.answer
	switch {
	case x.Status == 429 || x.Status == 503:
		a.Failure = engine.Rejected
	case x.Status != 0 && (x.Status < 200 || x.Status > 299):
		a.Failure = engine.BadStatus
	case !d.done:
		a.Violations = append(a.Violations, "no_terminator")
		a.Failure = engine.Broken
	case a.FinishReason == "":
		a.Violations = append(a.Violations, "no_finish_reason")
		a.Failure = engine.Broken
	}
	return a
}
