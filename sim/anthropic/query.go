package anthropic

import (
	"bytes"
	"encoding/json"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
)

// query is a request of POST /v1/messages. Fields that change nothing here are
// not read.
type query struct {
	Model     string          `json:"model"`
	MaxTokens *int64          `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Messages  []message       `json:"messages"`
	Stop      []string        `json:"stop_sequences"`
	Stream    bool            `json:"stream"`
	Tools     []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// block is a part of a message.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"` // of a tool's result
	Source  struct {
		Media string `json:"media_type"`
		Data  string `json:"data"`
		URL   string `json:"url"`
	} `json:"source"`
}

// blocks reads a content: a string or a list of blocks.
func blocks(raw json.RawMessage) ([]block, *face.Problem) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return nil, face.Bad("messages", "content must be a string or a list of blocks")
	}
	return list, nil
}

// parts appends a content as OpenAI's parts.
func parts(out []map[string]any, raw json.RawMessage, depth int) ([]map[string]any, *face.Problem) {
	list, problem := blocks(raw)
	if problem != nil {
		return nil, problem
	}
	for _, b := range list {
		switch b.Type {
		case "text":
			out = append(out, map[string]any{"type": "text", "text": b.Text})
		case "tool_use":
			out = append(out, map[string]any{"type": "text", "text": b.Name + string(b.Input)})
		case "tool_result":
			if depth > 0 {
				return nil, face.Bad("messages", "a tool's result holds another")
			}
			if out, problem = parts(out, b.Content, depth+1); problem != nil {
				return nil, problem
			}
		case "image":
			url := b.Source.URL
			if url == "" {
				url = "data:" + b.Source.Media + ";base64," + b.Source.Data
			}
			out = append(out, map[string]any{"type": "image_url", "image_url": url})
		default:
			return nil, face.Bad("messages", "content of type %q is not supported by this model", b.Type)
		}
	}
	return out, nil
}

// prompt returns the tokens of a query's system prompt and messages.
func (q *query) prompt(l *face.Language) ([]uint32, *face.Problem) {
	var all []openai.Message
	for _, m := range append([]message{{Role: "system", Content: q.System}}, q.Messages...) {
		list, problem := parts([]map[string]any{}, m.Content, 0)
		if problem != nil {
			return nil, problem
		}
		all = append(all, openai.Message{Role: m.Role, Content: face.AppendJSON(nil, list)})
	}
	return openai.ChatPrompt(all, l)
}

// parse reads a body and checks it.
func parse(body []byte) (*query, *face.Problem) {
	var q query
	if problem := face.Parse(body, &q); problem != nil {
		return nil, problem
	}
	if len(q.Messages) == 0 {
		return nil, face.Bad("messages", "messages: at least one message is required")
	}
	return &q, nil
}

// ask turns a query into what the engine gets.
func (q *query) ask(l *face.Language, seed uint64) (*face.Ask, *face.Problem) {
	switch {
	case q.MaxTokens == nil:
		return nil, face.Bad("max_tokens", "max_tokens: field required")
	case *q.MaxTokens < 1:
		return nil, face.Bad("max_tokens", "max_tokens must be at least 1, got %d", *q.MaxTokens)
	}
	ids, problem := q.prompt(l)
	if problem != nil {
		return nil, problem
	}
	ask := &face.Ask{Prefix: "msg_", Prompts: [][]uint32{ids}, MaxTokens: *q.MaxTokens, Stop: q.Stop}
	w := &writer{}
	if w.call, problem = q.call(core.Mix(seed, face.Fingerprint(ids))); problem != nil {
		return nil, problem
	}
	if w.call != nil {
		words, err := l.Words(w.call.Arguments)
		if err != nil {
			return nil, face.Failed(err)
		}
		ask.Script = words
	}
	if q.Stream {
		ask.Stream = func(*face.Exchange) face.Frames { return w }
	} else {
		ask.Body = w.body
	}
	return ask, nil
}

// call decides on a call of a tool: left to itself the model makes one when
// the user spoke last, and not after a tool's result.
func (q *query) call(seed uint64) (*openai.Call, *face.Problem) {
	if len(q.Tools) == 0 {
		return nil, nil
	}
	kind, name := "auto", ""
	if q.ToolChoice != nil {
		kind, name = q.ToolChoice.Type, q.ToolChoice.Name
	}
	last, _ := blocks(q.Messages[len(q.Messages)-1].Content)
	answered := len(last) > 0 && last[0].Type == "tool_result"
	if kind == "none" || kind == "auto" && answered {
		return nil, nil
	}
	tools := make([]openai.Tool, len(q.Tools))
	for i, t := range q.Tools {
		tools[i].Function.Name, tools[i].Function.Parameters = t.Name, t.Schema
	}
	return openai.CallTool(tools, name, seed)
}
