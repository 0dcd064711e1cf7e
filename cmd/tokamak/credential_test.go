package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
)

// guarded is a server that answers only to the credential hunter2, and
// counts what came with it and without.
type guarded struct {
	mu            sync.Mutex
	with, without int
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := r.Header.Get("Authorization") == "Bearer hunter2" || r.Header.Get("Api-Key") == "hunter2"
	g.mu.Lock()
	defer g.mu.Unlock()
	if !allowed {
		g.without++
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusUnauthorized)
		return
	}
	g.with++
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"id":"1","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// TestCredentialIsSent: with each way to give a key every request carries it,
// the question for the model included.
func TestCredentialIsSent(t *testing.T) {
	t.Setenv("MY_KEY", "hunter2")
	t.Setenv("OPENAI_API_KEY", "")
	for _, c := range []struct {
		args string
		want exit.Code
	}{
		{"--api-key-env MY_KEY", exit.OK},
		{"--api-key-env MY_KEY --auth-header Api-Key", exit.OK},
		{"--header Authorization:env:MY_KEY", exit.Target}, // bare, as asked
		{"--auth-command", exit.OK},
		{"", exit.Target},
	} {
		g := &guarded{}
		server := httptest.NewServer(g)
		args := append([]string{"run", "--url", server.URL, "--requests", "2", "--concurrency", "1", "--out", "none", "-q"}, strings.Fields(c.args)...)
		if c.args == "--auth-command" {
			args = append(args, "echo hunter2")
		}
		var out, errs bytes.Buffer
		code := command(t.Context(), args, streams{strings.NewReader(""), &out, &errs})
		server.Close()
		if code != c.want {
			t.Errorf("%q: exit %d, want %d\n%s%s", c.args, code, c.want, &out, &errs)
		}
		if c.want == exit.OK && (g.without > 0 || g.with < 3) {
			t.Errorf("%q: %d requests with the key, %d without", c.args, g.with, g.without)
		}
		if strings.Contains(out.String()+errs.String(), "hunter2") {
			t.Errorf("%q: the key shows", c.args)
		}
	}
}
