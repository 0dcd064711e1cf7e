package token

import (
	"encoding/base64"
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
