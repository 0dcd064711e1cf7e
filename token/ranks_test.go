package token

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRanks: a rank file says what the built-in vocabulary says.
func TestRanks(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base", "r50k_base"} {
		own, err := Encoding(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open("tiktoken:" + name + "=" + ranksFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.Name(), "ranks ranks sha256:") || !strings.HasSuffix(c.Name(), "cut as "+name) {
			t.Errorf("name %q", c.Name())
		}
		for _, s := range corpus(t) {
			want, err := own.Encode(nil, s.Text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.(Codec).Encode(nil, s.Text); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s: other ids, %v", name, s.Name, err)
			}
		}
	}
}

func TestRanksRefused(t *testing.T) {
	var all strings.Builder
	for c := range 256 {
		fmt.Fprintf(&all, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(c)}), c)
	}
	for content, say := range map[string]string{
		"":                               "the byte 0x00",
		all.String()[:100]:               "line",
		all.String() + "YWI= x\n":        "line 257: expected a token",
		all.String() + "YWI=\n":          "line 257: expected a token",
		all.String() + "!!! 300\n":       "line 257: expected a token",
		all.String() + " 300\n":          "line 257: expected a token",
		all.String() + "YWI= 7\n":        "rank 7 is there twice",
		all.String() + "YWI= 1e9\n":      "line 257",
		all.String() + "YWI= 99999999\n": "expected a rank from 0",
	} {
		path := filepath.Join(t.TempDir(), "x.tiktoken")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenRanks("llama3", path); err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "x.tiktoken") {
			t.Errorf("%.20q: %v", content, err)
		}
	}
	if _, err := OpenRanks("kimi", "x"); err == nil || !strings.Contains(err.Error(), "qwen2") {
		t.Errorf("pattern: %v", err)
	}
}

func FuzzRanks(f *testing.F) {
	f.Add([]byte("YWI= 3\nYQ== 0\n"))
	f.Fuzz(func(_ *testing.T, b []byte) { readRanks(b) })
}

func TestTekken(t *testing.T) {
	file := func(size, special int, pattern string, drop int) []byte {
		var vocab []map[string]any
		for c := range 256 {
			vocab = append(vocab, map[string]any{"rank": c, "token_bytes": []byte{byte(c)}, "token_str": nil})
		}
		for i, s := range []string{"ab", "12", "abc", "never"} {
			vocab = append(vocab, map[string]any{"rank": 256 + i, "token_bytes": []byte(s)})
		}
		b, err := json.Marshal(map[string]any{"config": map[string]any{"pattern": pattern, "default_vocab_size": size, "default_num_special_tokens": special, "version": "v3"},
			"vocab": append(vocab[:drop], vocab[drop+1:]...), "special_tokens": []map[string]any{{"rank": 1, "token_str": "<s>"}}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	c, err := Cache{}.open(file(269, 10, patternTekken, 259), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	// ab behind ten special tokens is 266, abc 268; digits stand alone.
	if got, err := c.Encode(nil, "ab12abc"); err != nil || !slices.Equal(got, []uint32{266, 10 + '1', 10 + '2', 268}) {
		t.Errorf("ids %v, %v", got, err)
	}
	if b, err := c.Decode(nil, []uint32{1, 268}); err != nil || string(b) != "<s>abc" {
		t.Errorf("%q, %v", b, err)
	}
	for say, b := range map[string][]byte{
		"default_vocab_size": file(1000, 10, patternTekken, 259), "config.pattern": file(269, 10, "x", 259), "vocab[7]": file(200, 10, patternTekken, 7),
		"no token is the byte": file(20, 10, patternTekken, 259),
	} {
		if _, err := (Cache{}).open(b, [32]byte{}); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", say, err)
		}
	}
}
