package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// ErrNoChatCount says that a server cannot count a chat with its template.
var ErrNoChatCount = errors.New("the server does not count chats")

// ErrChatRefused says that a server answered that it does not count this chat.
var ErrChatRefused = errors.New("the chat is refused")

// CountChat asks the server how many tokens the prompt of a chat has, from the
// request's body: vLLM's /tokenize takes messages and tools, llama.cpp's
// /apply-template gives the text that its /tokenize counts. The error is
// [ErrNoChatCount] where the server has neither, [ErrChatRefused] where it refuses
// this chat. Errors never show the chat.
func (s *Server) CountChat(body []byte) (int, error) {
	status, reply, err := s.post("/apply-template", body)
	if err != nil {
		return 0, err
	}
	if status == http.StatusOK {
		var applied struct {
			Prompt *string `json:"prompt"`
		}
		if json.Unmarshal(reply, &applied) == nil && applied.Prompt != nil {
			return s.countPrompt(*applied.Prompt)
		}
	}
	if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusOK {
		return 0, fmt.Errorf("tokenizer server %s: /apply-template: status %d: %w", s.url.Host, status, ErrChatRefused)
	}
	if status, reply, err = s.post("/tokenize", tokenizeBody(body)); err != nil {
		return 0, err
	}
	if status != http.StatusOK && status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
		return 0, fmt.Errorf("tokenizer server %s: /tokenize: status %d: %w", s.url.Host, status, ErrChatRefused)
	}
	var counted struct {
		Count *int `json:"count"`
	}
	if status != http.StatusOK || json.Unmarshal(reply, &counted) != nil || counted.Count == nil || *counted.Count < 0 {
		return 0, ErrNoChatCount
	}
	return *counted.Count, nil
}

// countPrompt counts a text that a template made: special tokens in it are
// tokens, and the begin of text is added where the server adds it to prompts.
func (s *Server) countPrompt(prompt string) (int, error) {
	body, err := json.Marshal(map[string]any{"content": prompt, "add_special": true, "parse_special": true})
	if err != nil {
		return 0, err
	}
	status, reply, err := s.post("/tokenize", body)
	if err != nil {
		return 0, err
	}
	n, ok := countReply(reply)
	if status != http.StatusOK || !ok {
		return 0, fmt.Errorf("tokenizer server %s: /tokenize: status %d", s.url.Host, status)
	}
	return n, nil
}

// tokenizeBody is what of a request vLLM's /tokenize takes.
func tokenizeBody(body []byte) []byte {
	var all, asked map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return body
	}
	asked = map[string]json.RawMessage{"add_generation_prompt": json.RawMessage("true")}
	for _, k := range []string{"model", "messages", "tools", "chat_template_kwargs", "add_generation_prompt", "continue_final_message", "chat_template"} {
		if v, ok := all[k]; ok {
			asked[k] = v
		}
	}
	out, err := json.Marshal(asked)
	if err != nil {
		return body
	}
	return out
}

// Props returns what llama.cpp's /props says of its chat template and special
// tokens, and whether it puts the begin of text in front of prompts. The error
// is [ErrNoChatCount] where the server has no /props.
func (s *Server) Props() (Props, error) {
	var p Props
	status, reply, err := s.do(http.MethodGet, "/props", nil)
	if err != nil {
		return p, err
	}
	if status != http.StatusOK || json.Unmarshal(reply, &p) != nil || p.ChatTemplate == "" {
		return p, ErrNoChatCount
	}
	n, err := s.countPrompt("")
	p.AddBOS = err == nil && n == 1
	return p, nil
}

// Props are facts of a llama.cpp server.
type Props struct {
	ChatTemplate string `json:"chat_template"`
	BOS          string `json:"bos_token"`
	EOS          string `json:"eos_token"`
	AddBOS       bool   `json:"-"`
	// Caps says what the server found out about its template.
	Caps struct {
		Parts *bool `json:"supports_typed_content"` // contents in parts; nil: not said
	} `json:"chat_template_caps"`
}

func (s *Server) post(path string, body []byte) (int, []byte, error) {
	return s.do(http.MethodPost, path, body)
}

// do asks for a path beside /tokenize.
func (s *Server) do(method, path string, body []byte) (status int, reply []byte, err error) {
	u := *s.url
	u.Path = strings.TrimSuffix(u.Path, "/tokenize") + path
	req, err := http.NewRequest(method, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, errors.New("tokenizer server: no request can be formed")
	}
	maps.Copy(req.Header, s.Header)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // without the URL: it may hold a password
		}
		return 0, nil, fmt.Errorf("tokenizer server %s: %w", s.url.Host, err)
	}
	defer resp.Body.Close()
	if reply, err = io.ReadAll(io.LimitReader(resp.Body, maxReply)); err != nil {
		return 0, nil, fmt.Errorf("tokenizer server %s: %w", s.url.Host, err)
	}
	return resp.StatusCode, reply, nil
}
