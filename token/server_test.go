package token

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestServer(t *testing.T) {
	tests := map[string]struct {
		path, reply string
		status      int
		want        int
		say         string
	}{
		"vLLM":           {path: "/v1", reply: `{"count":3,"max_model_len":4096,"tokens":[1,2,3]}`, want: 3},
		"llama.cpp":      {path: "/v1/chat/completions", reply: `{"tokens":[28120,905]}`, want: 2},
		"pieces":         {path: "", reply: `{"tokens":[{"id":1,"piece":"a"}]}`, want: 1},
		"TGI":            {path: "/tokenize", reply: `[{"id":1,"text":"a"},{"id":2,"text":"b"}]`, want: 2},
		"none":           {path: "", reply: `{"tokens":[]}`, want: 0},
		"not there":      {path: "", status: 404, say: "no tokenizer to ask"},
		"error":          {path: "", status: 500, reply: "private prompt", say: "status 500"},
		"something else": {path: "", reply: `{"ids":[1]}`, say: "expected"},
		"negative":       {path: "", reply: `{"count":-1}`, say: "expected"},
		"no JSON":        {path: "", reply: `<html>`, say: "expected"},
	}
	for name, tt := range tests {
		var body string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			body = r.URL.Path + string(b)
			if tt.status != 0 {
				w.WriteHeader(tt.status)
			}
			io.WriteString(w, tt.reply)
		}))
		tok, err := Open("server:" + srv.URL + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := tok.Count("private prompt")
		srv.Close()
		if !strings.HasPrefix(body, "/tokenize{") || !strings.Contains(body, `"prompt":"private prompt"`) || !strings.Contains(body, `"content":"private prompt"`) {
			t.Errorf("%s: asked %s", name, body)
		}
		if tt.say == "" && (err != nil || n != tt.want) {
			t.Errorf("%s: %d, %v, want %d", name, n, err, tt.want)
		}
		if tt.say != "" && (err == nil || !strings.Contains(err.Error(), tt.say) || strings.Contains(err.Error(), "private")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	tok, err := NewServer("http://u:secret@127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Count("x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("unreachable: %v", err)
	}
}
