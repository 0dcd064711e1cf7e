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
	"time"
)

// maxReply is how much of a /tokenize answer is read; a token takes about six
// bytes as a number and thirty as an object.
const maxReply = 64 << 20

// Server counts by asking a server: vLLM's and SGLang's /tokenize (prompt),
// llama.cpp's (content), TGI's (inputs). One request names the text all three
// ways.
type Server struct {
	// Header goes with each request, such as a credential.
	Header http.Header
	client *http.Client
	url    *url.URL
}

// NewServer returns a tokenizer that asks the server at a base URL; the paths of
// its API, /v1 and what follows, are cut off. A nil client is one with a
// deadline of 30 s.
func NewServer(base string, client *http.Client) (*Server, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("tokenizer server: expected http://HOST or https://HOST")
	}
	if client == nil {
		client = &http.Client{Timeout: 30 * time.Second}
	}
	path := strings.TrimRight(u.Path, "/")
	if !strings.HasSuffix(path, "/tokenize") {
		for _, end := range []string{"/completions", "/chat", "/v1"} {
			path = strings.TrimSuffix(path, end)
		}
		path += "/tokenize"
	}
	u.Path, u.RawPath = path, ""
	return &Server{client: client, url: u}, nil
}

// Name says which host counts.
func (s *Server) Name() string { return "server " + s.url.Host }

// Count asks the server. Errors never show the text.
func (s *Server) Count(text string) (int, error) {
	body, err := json.Marshal(map[string]any{"prompt": text, "content": text, "inputs": text, "add_special_tokens": false})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequest(http.MethodPost, s.url.String(), bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("tokenizer server: no request can be formed")
	}
	maps.Copy(req.Header, s.Header)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // without the URL: it may hold a password
		}
		return 0, fmt.Errorf("tokenizer server %s: %w", s.url.Host, err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return 0, fmt.Errorf("tokenizer server %s: %w", s.url.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("tokenizer server %s: %s%s: status %d", s.url.Host, s.url.Path, notFound(resp.StatusCode), resp.StatusCode)
	}
	n, ok := countReply(reply)
	if !ok {
		return 0, fmt.Errorf("tokenizer server %s: expected {\"count\": N} or {\"tokens\": [...]} or a list", s.url.Host)
	}
	return n, nil
}

func notFound(status int) string {
	if status == http.StatusNotFound {
		return " is not there: this server has no tokenizer to ask"
	}
	return ""
}

// countReply reads the number of tokens in an answer.
func countReply(b []byte) (int, bool) {
	var list []json.RawMessage
	if json.Unmarshal(b, &list) == nil && list != nil {
		return len(list), true
	}
	var reply struct {
		Count  *int              `json:"count"`
		Tokens []json.RawMessage `json:"tokens"`
	}
	if json.Unmarshal(b, &reply) != nil {
		return 0, false
	}
	if reply.Count != nil {
		return *reply.Count, *reply.Count >= 0
	}
	return len(reply.Tokens), reply.Tokens != nil
}
