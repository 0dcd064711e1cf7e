package token

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ggufFile writes metadata as a GGUF file has it: keys in order with their values.
func ggufFile(pairs ...any) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	text := func(s string) { put(uint64(len(s))); b.WriteString(s) }
	b.WriteString("GGUF")
	put(uint32(3))
	put(uint64(7)) // tensors, which are not there
	put(uint64(len(pairs) / 2))
	for i := 0; i < len(pairs); i += 2 {
		text(pairs[i].(string))
		switch v := pairs[i+1].(type) {
		case string:
			put(uint32(8))
			text(v)
		case bool:
			put(uint32(7))
			put(v)
		case uint32:
			put(uint32(4))
			put(v)
		case float32:
			put(uint32(6))
			put(v)
		case []string:
			put(uint32(9))
			put(uint32(8))
			put(uint64(len(v)))
			for _, s := range v {
				text(s)
			}
		case []int32:
			put(uint32(9))
			put(uint32(5))
			put(uint64(len(v)))
			put(v)
		}
	}
	return b.Bytes()
}

// smallGGUF is a model of all bytes, three merges, and two special tokens.
func smallGGUF(pre string) []byte {
	var tokens []string
	var types []int32
	for _, c := range byteChars() {
		tokens, types = append(tokens, string(c)), append(types, 1)
	}
	tokens = append(tokens, "ab", "abc", "12", "<s>", "</s>")
	types = append(types, 1, 1, 1, 3, 3)
	return ggufFile("general.name", "small", "some.number", float32(1.5), "tokenizer.ggml.model", "gpt2", "tokenizer.ggml.pre", pre,
		"tokenizer.ggml.tokens", tokens, "tokenizer.ggml.token_type", types, "tokenizer.ggml.merges", []string{"a b", "ab c", "1 2"},
		"tokenizer.ggml.bos_token_id", uint32(259), "tokenizer.ggml.eos_token_id", uint32(260), "tokenizer.ggml.add_bos_token", true,
		"tokenizer.chat_template", "{{ bos_token }}")
}

func TestGGUF(t *testing.T) {
	for pre, want := range map[string][]string{
		"gpt-2":     {"<s>", "abc", " ", "12", "3"},
		"smollm":    {"<s>", "abc", " ", "1", "2", "3"},
		"qwen2":     {"<s>", "abc", " ", "1", "2", "3"},
		"llama-bpe": {"<s>", "abc", " ", "12", "3"},
	} {
		path := filepath.Join(t.TempDir(), "small.gguf")
		if err := os.WriteFile(path, smallGGUF(pre), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tokens(t, c, "<s>abc 123")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", pre, diff)
		}
		if n := c.Name(); !strings.HasPrefix(n, "file small.gguf sha256:") {
			t.Errorf("name %q", n)
		}
	}
	g, err := readGGUF(bytes.NewReader(smallGGUF("qwen2")))
	if err != nil {
		t.Fatal(err)
	}
	if g.ChatTemplate != "{{ bos_token }}" || g.BOS != "<s>" || g.EOS != "</s>" || !g.AddBOS || g.Pre != "qwen2" {
		t.Errorf("%+v", g)
	}
}

func TestGGUFRefused(t *testing.T) {
	whole := smallGGUF("qwen2")
	for n := range len(whole) {
		if _, err := readGGUF(bytes.NewReader(whole[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes were read", n, len(whole))
		}
	}
	for say, file := range map[string][]byte{
		`"llama" is not known`:    ggufFile("tokenizer.ggml.model", "llama", "tokenizer.ggml.tokens", []string{"a"}),
		`pre "nosuch"`:            ggufFile("tokenizer.ggml.model", "gpt2", "tokenizer.ggml.pre", "nosuch", "tokenizer.ggml.tokens", []string{"a"}),
		`merges[0]`:               ggufFile("tokenizer.ggml.model", "gpt2", "tokenizer.ggml.pre", "qwen2", "tokenizer.ggml.tokens", []string{"a"}, "tokenizer.ggml.merges", []string{"a b"}),
		"without tokenizer":       ggufFile("general.name", "x"),
		"version 9":               append([]byte("GGUF\x09\x00\x00\x00"), whole[8:]...),
		"18446744073709551615 by": append(append([]byte{}, whole[:24]...), "\xff\xff\xff\xff\xff\xff\xff\xff"...),
	} {
		path := filepath.Join(t.TempDir(), "bad.gguf")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFile(path); err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "bad.gguf") {
			t.Errorf("%s: %v", say, err)
		}
	}
}

func FuzzGGUF(f *testing.F) {
	f.Add(smallGGUF("smollm"))
	f.Add(ggufFile("a", []int32{1, 2}, "b", true))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := readGGUF(bytes.NewReader(b))
		if err != nil {
			return
		}
		c, err := g.Codec("x")
		if err != nil {
			return
		}
		_, _ = c.Count("ab<s> 12 é")
	})
}
