package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve answers paths by functions of the body; others are not there.
func serve(t *testing.T, paths map[string]func(body map[string]any) (int, string)) *Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := paths[r.URL.Path]
		if answer == nil {
			http.NotFound(w, r)
			return
		}
		var body map[string]any
		b, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(b, &body)
		status, text := answer(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	c, err := NewServer(s.URL+"/v1", s.Client())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCountChat(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"secret"}],"tools":[{}],"max_tokens":5}`
	ok := func(text string) func(map[string]any) (int, string) {
		return func(map[string]any) (int, string) { return 200, text }
	}
	for name, tt := range map[string]struct {
		paths map[string]func(map[string]any) (int, string)
		want  int
		none  bool
	}{
		"llama.cpp": {map[string]func(map[string]any) (int, string){
			"/apply-template": func(b map[string]any) (int, string) {
				return 200, fmt.Sprintf(`{"prompt":"%d tools"}`, len(b["tools"].([]any)))
			},
			"/tokenize": func(b map[string]any) (int, string) {
				if b["content"] != "1 tools" || b["add_special"] != true || b["parse_special"] != true {
					return 400, "{}"
				}
				return 200, `{"tokens":[1,2,3,4]}`
			}}, 4, false},
		"vLLM": {map[string]func(map[string]any) (int, string){
			"/tokenize": func(b map[string]any) (int, string) {
				if b["messages"] == nil || b["tools"] == nil || b["model"] != "m" || b["add_generation_prompt"] != true || b["max_tokens"] != nil {
					return 400, "{}"
				}
				return 200, `{"count":17,"max_model_len":4096,"tokens":[]}`
			}}, 17, false},
		"texts only":     {map[string]func(map[string]any) (int, string){"/tokenize": ok(`{"tokens":[]}`)}, 0, true},
		"nothing":        {nil, 0, true},
		"no sense":       {map[string]func(map[string]any) (int, string){"/apply-template": ok(`{"prompt":5}`), "/tokenize": ok(`{"count":-1}`)}, 0, true},
		"not to be read": {map[string]func(map[string]any) (int, string){"/apply-template": ok(`secret`)}, 0, true},
		"refused": {map[string]func(map[string]any) (int, string){
			"/apply-template": func(map[string]any) (int, string) { return 500, `{"error":"secret"}` }}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := serve(t, tt.paths).CountChat([]byte(body))
			switch {
			case tt.want > 0 && (err != nil || n != tt.want):
				t.Errorf("%d, %v, want %d", n, err, tt.want)
			case tt.want == 0 && (err == nil || errors.Is(err, ErrNoChatCount) != tt.none || errors.Is(err, ErrChatRefused) == tt.none || strings.Contains(err.Error(), "secret")):
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}

func TestProps(t *testing.T) {
	tokens := `{"tokens":[1]}`
	s := serve(t, map[string]func(map[string]any) (int, string){
		"/props": func(map[string]any) (int, string) {
			return 200, `{"chat_template":"{{ x }}","bos_token":"<s>","eos_token":"</s>","chat_template_caps":{"supports_typed_content":true}}`
		},
		"/tokenize": func(map[string]any) (int, string) { return 200, tokens },
	})
	p, err := s.Props()
	if err != nil || p.ChatTemplate != "{{ x }}" || p.BOS != "<s>" || p.EOS != "</s>" || !p.AddBOS || p.Caps.Parts == nil || !*p.Caps.Parts {
		t.Errorf("%+v, %v", p, err)
	}
	tokens = `{"tokens":[]}`
	if p, err = s.Props(); err != nil || p.AddBOS {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := serve(t, nil).Props(); !errors.Is(err, ErrNoChatCount) {
		t.Errorf("%v", err)
	}
}
