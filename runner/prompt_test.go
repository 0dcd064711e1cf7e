package runner

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/token/template"
)

type fixedPrompts struct {
	n     int
	err   error
	calls int
}

func (*fixedPrompts) Name() string                { return "fixed" }
func (*fixedPrompts) Source() string              { return promptServer }
func (f *fixedPrompts) Count([]byte) (int, error) { f.calls++; return f.n, f.err }

// bytesCounted counts a token a byte.
type bytesCounted struct{}

func (bytesCounted) Name() string                   { return "bytes" }
func (bytesCounted) Count(text string) (int, error) { return len(text), nil }

// TestCountPrompt: a row's count of its prompt says what it covers.
func TestCountPrompt(t *testing.T) {
	tpl, err := template.New("test", "{% for m in messages %}[{{ m.content }}]{% endfor %}{{ tools | length if tools else '' }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	tpl.Dialect = template.VLLM
	whole := &templated{tpl, bytesCounted{}}
	const chat = `{"messages":[{"role":"user","content":"abc"},{"role":"user","content":[{"type":"text","text":"de"}]}],"tools":[{},{}]}`
	const image = `{"messages":[{"role":"user","content":[{"type":"text","text":"de"},{"type":"image_url","image_url":{}}]}]}`
	const prompt = `{"prompt":"abc"}`
	for name, tt := range map[string]struct {
		api     string
		counter token.Tokenizer
		prompts Prompts
		body    string
		content int64
		want    record.Int
		source  string
	}{
		"no tokenizer":            {openai.APIChat, nil, nil, chat, 3, record.Int{}, ""},
		"texts that were written": {openai.APIChat, bytesCounted{}, nil, chat, 3, record.Some(3), "content"},
		"texts of a body":         {openai.APIChat, bytesCounted{}, nil, chat, 0, record.Some(5), "content"},
		"a template":              {openai.APIChat, bytesCounted{}, whole, chat, 3, record.Some(10), "template"},
		"an image":                {openai.APIChat, bytesCounted{}, whole, image, 0, record.Some(2), "content"},
		"the server":              {openai.APIChat, bytesCounted{}, &fixedPrompts{n: 7}, chat, 3, record.Some(7), "server"},
		"a server that fails":     {openai.APIChat, bytesCounted{}, &fixedPrompts{err: errors.New("no")}, chat, 3, record.Some(3), "content"},
		"a completion":            {openai.APICompletions, bytesCounted{}, whole, prompt, 3, record.Some(3), "content"},
		"a literal completion":    {openai.APICompletions, bytesCounted{}, whole, prompt, 0, record.Int{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := openai.New(tt.api, openai.Options{Base: &url.URL{Scheme: "http", Host: "h"}})
			if err != nil {
				t.Fatal(err)
			}
			var row record.Attempt
			(&HTTP{Driver: d, Counter: tt.counter, Prompts: tt.prompts}).countPrompt(&row, []byte(tt.body), tt.content)
			if row.PromptCounted != tt.want || row.PromptSource != tt.source {
				t.Errorf("%v by %q, want %v by %q", row.PromptCounted, row.PromptSource, tt.want, tt.source)
			}
		})
	}
}

// TestAskedNoMore: a server that fails three times in a row is left alone, and
// one that has counted before is not for chats that it refuses.
func TestAskedNoMore(t *testing.T) {
	status := http.StatusInternalServerError
	questions := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		questions++
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"prompt":"x","tokens":[1]}`)
	}))
	defer s.Close()
	client, err := token.NewServer(s.URL, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{server: client}
	for range 5 {
		if _, err := a.Count([]byte("{}")); err == nil {
			t.Error("counted")
		}
	}
	if questions != maxUnasked {
		t.Errorf("%d questions, want %d", questions, maxUnasked)
	}
	a, status = &asked{server: client}, http.StatusOK
	if n, err := a.Count([]byte("{}")); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	status, questions = http.StatusBadRequest, 0
	for range 5 {
		if _, err := a.Count([]byte("{}")); !errors.Is(err, token.ErrChatRefused) {
			t.Errorf("%v", err)
		}
	}
	if questions != 5 {
		t.Errorf("%d questions, want 5", questions)
	}
}
