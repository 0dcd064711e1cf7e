package token

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// small makes a tokenizer.json of the 256 bytes and some merges, each of two
// tokens separated by a space in the byte alphabet (a space is U+0120).
func small(t testing.TB, merges []string, change func(m map[string]any)) string {
	t.Helper()
	chars := byteChars()
	vocab := map[string]int{}
	for b, c := range chars {
		vocab[string(c)] = b
	}
	for _, m := range merges {
		vocab[strings.ReplaceAll(m, " ", "")] = len(vocab)
	}
	file := map[string]any{
		"version":       "1.0",
		"normalizer":    nil,
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
		"added_tokens": []map[string]any{
			{"id": 1000, "content": "<|end|>", "special": true},
			{"id": 1001, "content": "<|end|>+", "special": true},
			{"id": 1002, "content": "[S]", "lstrip": true, "rstrip": true}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": nil},
	}
	if change != nil {
		change(file)
	}
	b, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openSmall(t testing.TB, merges []string, change func(m map[string]any)) Codec {
	t.Helper()
	c, err := OpenFile(small(t, merges, change))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokens returns the tokens of a text as texts.
func tokens(t testing.TB, c Codec, s string) []string {
	t.Helper()
	ids, err := c.Encode(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count(s); err != nil || n != len(ids) {
		t.Errorf("%q: Count %d, %v; %d ids", s, n, err, len(ids))
	}
	var out []string
	for _, id := range ids {
		b, err := c.Decode(nil, []uint32{id})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

func set(path string, v any) func(map[string]any) {
	return func(m map[string]any) {
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			m = m[k].(map[string]any)
		}
		m[keys[len(keys)-1]] = v
	}
}

func split(pattern, behavior string, invert bool) map[string]any {
	return map[string]any{"type": "Split", "pattern": map[string]any{"Regex": pattern}, "behavior": behavior, "invert": invert}
}

func sequence(steps ...map[string]any) map[string]any {
	return map[string]any{"type": "Sequence", "pretokenizers": append(steps,
		map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})}
}

func TestFile(t *testing.T) {
	merges := []string{"a b", "c d", "ab cd", "b c", "Ġ ab", "Ã ©", "1 2", "12 3"}
	digits := map[string]any{"type": "Digits", "individual_digits": true}
	tests := map[string]struct {
		change func(map[string]any)
		text   string
		want   []string
	}{
		"merges in order":       {nil, "abcd", []string{"abcd"}},
		"lowest rank first":     {nil, "bcd", []string{"b", "cd"}},
		"leftmost":              {nil, "abab", []string{"ab", "ab"}},
		"with a space":          {nil, "x ab", []string{"x", " ab"}},
		"bytes":                 {nil, "é\x00\u00ad", []string{"é", "\x00", "\xc2", "\xad"}},
		"empty":                 {nil, "", nil},
		"numbers":               {nil, "1234", []string{"123", "4"}},
		"merges as lists":       {set("model.merges", [][]string{{"a", "b"}}), "abcd", []string{"ab", "c", "d"}},
		"no type":               {set("model.type", ""), "abcd", []string{"abcd"}},
		"added token":           {nil, "ab<|end|>ab", []string{"ab", "<|end|>", "ab"}},
		"longest added token":   {nil, "<|end|>+", []string{"<|end|>+"}},
		"added token and space": {nil, "ab  [S] \n ab", []string{"ab", "[S]", "ab"}},
		"prefix space":          {set("pre_tokenizer.add_prefix_space", true), "ab", []string{" ab"}},
		"digits one by one":     {set("pre_tokenizer", sequence(digits)), "a123", []string{"a", "1", "2", "3"}},
		"Llama 3's pattern":     {set("pre_tokenizer", sequence(split(patternLlama3, "Isolated", false))), "ab1234", []string{"ab", "123", "4"}},
		"Qwen 2's pattern":      {set("pre_tokenizer", sequence(split(patternQwen2, "Isolated", false))), "ab123", []string{"ab", "1", "2", "3"}},
		"a pattern of its own":  {set("pre_tokenizer", sequence(split("b", "Isolated", false))), "abcd", []string{"a", "b", "cd"}},
		"a possessive pattern":  {set("pre_tokenizer", sequence(split("a++b|a+c", "Isolated", false))), "aabac", []string{"a", "ab", "a", "c"}},
		"its matches alone":     {set("pre_tokenizer", sequence(split("[a-c]+", "Removed", true))), "abXcd", []string{"ab", "c"}},
		"a plain string":        {set("pre_tokenizer", sequence(map[string]any{"type": "Split", "pattern": map[string]any{"String": "."}, "behavior": "Isolated"})), "ab.cd", []string{"ab", ".", "cd"}},
		"two steps":             {set("pre_tokenizer", sequence(split("X", "Isolated", false), digits)), "abX12", []string{"ab", "X", "1", "2"}},
		"NFC":                   {set("normalizer", map[string]any{"type": "NFC"}), "e\u0301", []string{"é"}},
		"sequence of none":      {set("normalizer", map[string]any{"type": "Sequence", "normalizers": []any{}}), "ab", []string{"ab"}},
		"ignore_merges": {func(m map[string]any) {
			m["model"].(map[string]any)["vocab"].(map[string]int)["bcd"] = 999
			set("model.ignore_merges", true)(m)
		}, "bcd", []string{"bcd"}},
		"a token no merge makes": {func(m map[string]any) { m["model"].(map[string]any)["vocab"].(map[string]int)["bcd"] = 999 }, "bcd", []string{"b", "cd"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := openSmall(t, merges, tt.change)
			for range 2 { // the second time by what the first found out
				if diff := cmp.Diff(tt.want, tokens(t, c, tt.text)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

func TestFileName(t *testing.T) {
	c := openSmall(t, []string{}, nil)
	if n := c.Name(); !strings.HasPrefix(n, "file tokenizer.json sha256:") || strings.Contains(n, "/") {
		t.Errorf("name %q", n)
	}
}

func TestFileRefused(t *testing.T) {
	bytelevel := map[string]any{"type": "ByteLevel"}
	tests := map[string]struct {
		change func(map[string]any)
		say    string
	}{
		"normalizer":        {set("normalizer", map[string]any{"type": "BertNormalizer"}), `normalizer: normalizer "BertNormalizer"`},
		"normalizer within": {set("normalizer", map[string]any{"type": "Sequence", "normalizers": []any{map[string]any{"type": "Lowercase"}}}), `normalizer.normalizers[0]: normalizer "Lowercase"`},
		"normalizers":       {set("normalizer", map[string]any{"type": "Sequence", "normalizers": 1}), `normalizer.normalizers: expected a list`},
		"replace":           {set("normalizer", map[string]any{"type": "Replace"}), "normalizer.pattern"},
		"charsmap":          {set("normalizer", map[string]any{"type": "Precompiled", "precompiled_charsmap": "AAAA"}), "charsmap"},
		"pre-tokenizer":     {set("pre_tokenizer", map[string]any{"type": "Whitespace"}), `pre_tokenizer: pre-tokenizer "Whitespace"`},
		"within":            {set("pre_tokenizer", sequence(map[string]any{"type": "Punctuation"})), `pre_tokenizer.pretokenizers[0]: pre-tokenizer "Punctuation"`},
		"not at the end":    {set("pre_tokenizer", map[string]any{"type": "Sequence", "pretokenizers": []any{bytelevel, bytelevel}}), "behind ByteLevel"},
		"behavior":          {set("pre_tokenizer", sequence(split("a", "Merged", false))), `pre_tokenizer.pretokenizers[0].behavior: "Merged"`},
		"bad pattern":       {set("pre_tokenizer", sequence(split("a)", "Isolated", false))), "a)"},
		"no mark":           {set("pre_tokenizer", map[string]any{"type": "Metaspace"}), "pre_tokenizer.replacement"},
		"prepend scheme":    {set("pre_tokenizer", map[string]any{"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"}), "pre_tokenizer.prepend_scheme"},
		"decoder":           {set("decoder", map[string]any{"type": "WordPiece"}), `decoder: decoder "WordPiece"`},
		"decoder within":    {set("decoder", map[string]any{"type": "Sequence", "decoders": []any{map[string]any{"type": "CTC"}}}), `decoder.decoders[0]: decoder "CTC"`},
		"decoder of others": {func(m map[string]any) { set("decoder", bytelevel)(m); set("pre_tokenizer", nil)(m) }, "decoder: ByteLevel without"},
		"model":             {set("model.type", "WordPiece"), `model.type: "WordPiece"`},
		"byte fallback":     {set("model.byte_fallback", true), "model.byte_fallback"},
		"no unknown token":  {set("model.unk_token", "nowhere"), "model.unk_token"},
		"a token twice":     {set("model.vocab", map[string]any{"a": 1, "b": 1}), "its id 1 is that of"},
		"no merges":         {func(m map[string]any) { delete(m["model"].(map[string]any), "merges") }, "merges"},
		"dropout":           {set("model.dropout", 0.1), "dropout"},
		"suffix":            {set("model.end_of_word_suffix", "</w>"), "end_of_word_suffix"},
		"no vocab":          {set("model.vocab", nil), "vocab"},
		"an id too large":   {set("model.vocab", map[string]any{"a": 1 << 30}), "id"},
		"a negative id":     {set("model.vocab", map[string]any{"a": -1}), "id"},
		"merge of nothing":  {set("model.merges", []string{"x yz"}), "vocabulary"},
		"merge of one":      {set("model.merges", []string{"x"}), "two tokens"},
		"merge of numbers":  {set("model.merges", []int{1}), "two tokens"},
		"no content":        {set("added_tokens", []map[string]any{{"id": 1}}), "content"},
	}
	for name, tt := range tests {
		_, err := OpenFile(small(t, []string{"a b"}, tt.change))
		if err == nil || !strings.Contains(err.Error(), tt.say) || !strings.Contains(err.Error(), "tokenizer.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(path); err == nil {
		t.Error("half a file was read")
	}
}

// TestFileRoundTrip: whatever the merges, decoding what was encoded gives the
// text, and merging by the file is what merging step by step gives.
func TestFileRoundTrip(t *testing.T) {
	c := openSmall(t, []string{"a b", "ab ab", "b a", "Ġ Ġ", "ĠĠ ĠĠ", "ab a"}, nil)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(texts(), rapid.StringMatching(`[ab ]{0,300}`)).Draw(t, "text")
		ids, err := c.Encode(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := c.Decode(nil, ids); err != nil || string(b) != s {
			t.Fatalf("%q became %q, %v", s, b, err)
		}
	})
}

func FuzzFile(f *testing.F) {
	b, err := os.ReadFile(small(f, []string{"a b"}, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[len(b)-400:], "ab")
	f.Add([]byte(`{"pre_tokenizer":{"type":"ByteLevel"},"model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`), "abc")
	f.Add([]byte(`{"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"(a|b)+"},"behavior":"Isolated"},{"type":"ByteLevel","use_regex":false}]},"model":{"vocab":{"a":0,"b":5},"merges":[]},"added_tokens":[{"id":7,"content":"x"}]}`), "axb")
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		c, err := Cache{}.open(file, [32]byte{})
		if err != nil {
			return
		}
		ids, err := c.Encode(nil, text)
		if err != nil {
			return
		}
		if _, err := c.Decode(nil, ids); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkFile counts with a vocabulary of a few thousand merges.
func BenchmarkFile(b *testing.B) {
	var merges []string
	for i := range 26 {
		for j := range 26 {
			merges = append(merges, fmt.Sprintf("%c %c", 'a'+i, 'a'+j))
		}
	}
	c := openSmall(b, merges, nil)
	text := strings.Repeat(sample, 32)
	n, err := c.Count(text)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Count(text); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}
