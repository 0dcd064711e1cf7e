package template

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/token"
)

const chatML = `{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

func parse(t *testing.T, body string) *Chat {
	t.Helper()
	c, err := ParseChat([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func render(t *testing.T, src string, d Dialect, body string) string {
	t.Helper()
	tpl, err := New("test", src, map[string]string{"bos_token": "<s>"})
	if err != nil {
		t.Fatal(err)
	}
	tpl.Dialect = d
	tpl.Now = func() time.Time { return time.Date(2024, 7, 26, 0, 0, 0, 0, time.UTC) }
	text, err := tpl.Render(parse(t, body))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRender(t *testing.T) {
	const args = `{% for m in messages %}{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}`
	const calls = `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{\"b\": 1, \"a\": [2.0]}"}}]},{"role":"tool","content":"r"}]}`
	parts := `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`
	for name, tt := range map[string]struct {
		src     string
		dialect Dialect
		body    string
		want    string
	}{
		"a chat": {chatML, VLLM, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`,
			"<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n"},
		"without the answer's beginning":   {chatML, VLLM, `{"messages":[{"role":"user","content":"u"}],"add_generation_prompt":false}`, "<|im_start|>user\nu<|im_end|>\n"},
		"special tokens":                   {"{{ bos_token }}", VLLM, `{"messages":[]}`, "<s>"},
		"arguments become an object":       {args, VLLM, calls, `{"b": 1, "a": [2.0]}`},
		"and do not where nothing is done": {args, Plain, calls, `"{\"b\": 1, \"a\": [2.0]}"`},
		"no arguments are an empty object": {args, VLLM, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":""}}]}]}`, `{}`},
		"no content is an empty one":       {"{{ messages[1].content }}|", VLLM, calls, "|"},
		"parts become a text":              {"{{ messages[0].content }}", VLLM, parts, "a\nb"},
		"parts stay parts":                 {"{% for p in messages[0].content %}{{ p.text }},{% endfor %}", VLLM, parts, "a,b,"},
		"parts stay as they are":           {"{{ messages[0].content | length }}", Plain, parts, "2"},
		"a text becomes a part":            {"{% for p in messages[0].content %}{{ p.text }},{% endfor %}", VLLM, `{"messages":[{"role":"user","content":"u"}]}`, "u,"},
		"and not under llama.cpp":          {"{% if 0 %}{% for p in messages[0].content %}{% endfor %}{% endif %}{{ messages[0].content }}", LlamaCPP, `{"messages":[{"role":"user","content":"u"}]}`, "u"},
		"a set variable is gone through":   {"{% set c = messages[0]['content'] %}{% for p in c %}{{ p.text }},{% endfor %}", VLLM, parts, "a,b,"},
		"tools":                            {"{{ tools | tojson }}", VLLM, `{"messages":[],"tools":[{"type":"function","function":{"name":"f"}}]}`, `[{"type": "function", "function": {"name": "f"}}]`},
		"tools that may not be called":     {"{{ tools }}", VLLM, `{"messages":[],"tools":[{}],"tool_choice":"none"}`, "None"},
		"no tools under llama.cpp":         {"{{ tools is defined }}", LlamaCPP, `{"messages":[]}`, "False"},
		"variables":                        {"{{ enable_thinking }}{{ x }}", VLLM, `{"messages":[],"chat_template_kwargs":{"enable_thinking":false,"x":1}}`, "False1"},
		"llama.cpp's own variables":        {"{{ enable_thinking }}{{ date_string }}", LlamaCPP, `{"messages":[]}`, "True26 Jul 2024"},
		"developer under llama.cpp":        {"{{ messages[0].role }}", LlamaCPP, `{"messages":[{"role":"developer","content":""}]}`, "system"},
		"the moment":                       {"{{ strftime_now('%d %b %Y') }}", VLLM, `{"messages":[]}`, "26 Jul 2024"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := render(t, tt.src, tt.dialect, tt.body); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// letters counts a token a byte, and <s> as one.
type letters struct{}

func (letters) Name() string { return "letters" }
func (letters) Count(s string) (int, error) {
	return len(strings.ReplaceAll(s, "<s>", "!")), nil
}

func TestCount(t *testing.T) {
	chat := NewChat(Message{Role: "user", Text: "ab"})
	for src, want := range map[string]struct{ plain, added int }{
		"{{ bos_token }}{{ messages[0].content }}": {3, 3},
		"{{ messages[0].content }}":                {2, 3},
	} {
		tpl, err := New("test", src, map[string]string{"bos_token": "<s>"})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tpl.Count(letters{}, chat); err != nil || n != want.plain {
			t.Errorf("%s: %d, %v, want %d", src, n, err, want.plain)
		}
		tpl.AddBOS = true
		if n, err := tpl.Count(letters{}, chat); err != nil || n != want.added {
			t.Errorf("%s with a begin of text: %d, %v, want %d", src, n, err, want.added)
		}
	}
}

func TestWhatIsNotCounted(t *testing.T) {
	tpl, err := New("test", chatML+"{{ raise_exception('only ' + messages[0].content) }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tpl.Render(NewChat(Message{Role: "user", Text: "secret"})); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	tpl.Dialect = LlamaCPP
	for _, body := range []string{`{"messages":[{"role":"assistant","content":"x"}]}`, `{"messages":[{"role":"user","content":"x"}],"continue_final_message":true}`} {
		if _, err := tpl.Render(parse(t, body)); !errors.Is(err, ErrGoesOn) {
			t.Errorf("%s: %v", body, err)
		}
	}
	for body, want := range map[string]bool{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`:       false,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image":"x"}]}]}`: true,
		`{"messages":[{"role":"user","content":"x"}]}`:                                false,
	} {
		if got := parse(t, body).Media(); got != want {
			t.Errorf("%s: media %t", body, got)
		}
	}
	for _, body := range []string{`[]`, `{"messages":"secret"}`, `{"messages":["secret"]}`, `{"messages":[],"chat_template_kwargs":"secret"}`, `{"secret`} {
		if _, err := ParseChat([]byte(body)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := ParseChat([]byte(`{"prompt":"x"}`)); !errors.Is(err, ErrNoChat) {
		t.Errorf("a completion: %v", err)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBeside(t *testing.T) {
	config := func(template any) string {
		b, err := json.Marshal(map[string]any{"bos_token": map[string]any{"content": "<s>"}, "eos_token": "</s>", "pad_token": nil, "chat_template": template})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	named := []any{map[string]any{"name": "default", "template": "plain"}, map[string]any{"name": "tool_use", "template": "{{ tools | length }} tools"}}
	const noTools, tools = `{"messages":[]}`, `{"messages":[],"tools":[{}]}`
	for name, tt := range map[string]struct {
		files       map[string]string
		plain, tool string
	}{
		"in the configuration":  {map[string]string{"tokenizer_config.json": config("{{ bos_token }}{{ eos_token }}{{ pad_token }}")}, "<s></s>", "<s></s>"},
		"named":                 {map[string]string{"tokenizer_config.json": config(named)}, "plain", "1 tools"},
		"beside":                {map[string]string{"tokenizer_config.json": config("old"), "chat_template.jinja": "new {{ bos_token }}\n"}, "new <s>", "new <s>"},
		"further ones":          {map[string]string{"chat_template.jinja": "new", "additional_chat_templates/tool_use.jinja": "for tools"}, "new", "for tools"},
		"in JSON":               {map[string]string{"tokenizer_config.json": config(nil), "chat_template.json": `{"chat_template": "json {{ eos_token }}"}`}, "json </s>", "json </s>"},
		"alone without special": {map[string]string{"chat_template.jinja": "[{{ bos_token }}]"}, "[]", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tt.files)
			tpl, err := Beside(filepath.Join(dir, "tokenizer.json"))
			if err != nil {
				t.Fatal(err)
			}
			for body, want := range map[string]string{noTools: tt.plain, tools: tt.tool} {
				if got, err := tpl.Render(parse(t, body)); err != nil || got != want {
					t.Errorf("%s: %q, %v, want %q", body, got, err, want)
				}
			}
		})
	}
	if _, err := Beside(filepath.Join(t.TempDir(), "tokenizer.json")); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/tokenizer_config.json": `{"bos_token":"<s>","chat_template":"{{ bos_token }}1"}`, "a/own.jinja": "{{ bos_token }}2",
		"bad.jinja": "a\n{% if %}", "b/tokenizer_config.json": `{"chat_template":[{"name":"x"}]}`, "c/tokenizer_config.json": `{}`})
	for file, want := range map[string]string{"a/tokenizer_config.json": "<s>1", "a/own.jinja": "<s>2"} {
		tpl, err := OpenFile(filepath.Join(dir, file), "tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Render(NewChat()); err != nil || got != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
		if n := tpl.Name(); !strings.HasPrefix(n, "file "+filepath.Base(file)+" sha256:") {
			t.Errorf("name %q", n)
		}
	}
	if _, err := OpenFile(filepath.Join(dir, "bad.jinja"), "tokenizer.json"); err == nil || !strings.Contains(err.Error(), "bad.jinja") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
	for _, file := range []string{"c/tokenizer_config.json", "none"} {
		if _, err := OpenFile(filepath.Join(dir, file), "tokenizer.json"); err == nil {
			t.Errorf("%s was opened", file)
		}
	}
	if _, err := Beside(filepath.Join(dir, "b", "tokenizer.json")); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("a damaged configuration: %v", err)
	}
}

// TestBuiltinIsATokenizer: what counts is whatever tokenizer is given.
func TestBuiltinIsATokenizer(t *testing.T) {
	tpl, err := New("test", chatML, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := tpl.Count(token.Builtin(), NewChat(Message{Role: "user", Text: "Hello world"}))
	want, _ := token.Builtin().Count("<|im_start|>user\nHello world<|im_end|>\n<|im_start|>assistant\n")
	if err != nil || n != want {
		t.Errorf("%d, %v, want %d", n, err, want)
	}
}
