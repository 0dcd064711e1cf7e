package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/scenario"
)

// TestTokenizerOfAFile: any word but the fixed ones is the path of a
// tokenizer.json, and what is none is named by that path.
func TestTokenizerOfAFile(t *testing.T) {
	vocab := map[string]int{}
	for c := '!'; c <= '~'; c++ {
		vocab[string(c)] = len(vocab)
	}
	for c := rune(0xA1); len(vocab) < 256; c++ { // the byte alphabet of BPE
		if c != 0xAD {
			vocab[string(c)] = len(vocab)
		}
	}
	b, err := json.Marshal(map[string]any{"version": "1.0",
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{"a b"}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	for content, fails := range map[string]bool{strings.Replace(string(b), `"a":`, `"ab":256,"a":`, 1): false, "{}": true} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &Run{scenario: &scenario.Scenario{Workload: scenario.Workload{Tokenizer: path}}}
		switch err := r.openTokenizer(); {
		case fails != (err != nil):
			t.Errorf("%v", err)
		case fails && !strings.Contains(err.Error(), path):
			t.Errorf("the file is not named: %v", err)
		case !fails:
			if n, err := r.counter.Count("abc"); n != 2 || err != nil {
				t.Errorf("%d tokens, %v", n, err)
			}
		}
	}
}
