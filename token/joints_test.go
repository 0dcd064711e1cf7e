package token

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// alphabet are the characters of random vocabularies; the last ones are never
// tokens.
var alphabet = []string{"a", "b", "c", spaceMark, ">", "<", "/", "é", "中", "文", "\n", "ü", "字", "😀"}

const alphabetTokens = 11

// charsFile draws a tokenizer.json of BPE on characters.
func charsFile(t *rapid.T) []byte {
	vocab := map[string]int{}
	var names []string
	add := func(name string) {
		if _, known := vocab[name]; !known {
			vocab[name] = len(vocab)
			names = append(names, name)
		}
	}
	for _, c := range alphabet[:alphabetTokens] {
		if rapid.IntRange(0, 9).Draw(t, "with "+c) > 0 {
			add(c)
		}
	}
	add("?")
	model := map[string]any{"type": "BPE", "fuse_unk": rapid.Bool().Draw(t, "fuse"), "ignore_merges": rapid.IntRange(0, 3).Draw(t, "direct") == 0}
	if rapid.Bool().Draw(t, "unk") {
		add("<unk>")
		model["unk_token"] = "<unk>"
	}
	bytes := rapid.SampledFrom([]string{"all", "some", "none"}).Draw(t, "bytes")
	for c := range 256 {
		if name := fmt.Sprintf("<0x%02X>", c); bytes == "all" || bytes == "some" && c%5 != 0 {
			if vocab[name] = len(vocab); c == 0xE4 && rapid.IntRange(0, 3).Draw(t, "bytes merge") == 0 {
				names = append(names, name)
			}
		}
	}
	model["byte_fallback"] = bytes != "none"
	if i := slices.Index(names, "<unk>"); i >= 0 && rapid.IntRange(0, 3).Draw(t, "unk merges") > 0 {
		names = slices.Delete(names, i, i+1)
	}
	merges := [][]string{}
	for range rapid.IntRange(0, 40).Draw(t, "merges") {
		a, b := rapid.SampledFrom(names).Draw(t, "a"), rapid.SampledFrom(names).Draw(t, "b")
		if len(a+b) > 40 {
			continue
		}
		add(a + b)
		merges = append(merges, []string{a, b})
	}
	model["vocab"], model["merges"] = vocab, merges
	file := map[string]any{"normalizer": map[string]any{"type": "Replace", "pattern": map[string]any{"String": " "}, "content": spaceMark},
		"model": model}
	b, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// spmFile draws a SentencePiece model of type BPE.
func spmFile(t *rapid.T) []byte {
	list := []spmPiece{{"<unk>", 0, pieceUnknown}}
	trainer := option(3, modelBPE)
	if rapid.Bool().Draw(t, "bytes") {
		trainer = append(trainer, option(35, 1)...)
		for c := range 256 {
			list = append(list, spmPiece{fmt.Sprintf("<0x%02X>", c), 0, pieceByte})
		}
	}
	pieces := map[string]bool{}
	for _, c := range alphabet[:alphabetTokens] {
		pieces[c] = rapid.IntRange(0, 9).Draw(t, "with "+c) > 0
	}
	for range rapid.IntRange(0, 40).Draw(t, "pieces") {
		pieces[strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 2, 5).Draw(t, "piece"), "")] = true
	}
	for _, text := range slices.Sorted(maps.Keys(pieces)) {
		kind := uint64(pieceNormal)
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			kind = pieceUserDefined
		}
		if pieces[text] {
			list = append(list, spmPiece{text, float32(-rapid.IntRange(1, 30).Draw(t, "score")), kind})
		}
	}
	normalizer := option(4, 0) // spaces stay as many as they are
	return spmModel(trainer, normalizer, list...)
}

// random draws a text of the characters of random vocabularies.
func random(t *rapid.T) string {
	bits := append(slices.Clone(alphabet), " ", "> </", "<0xE4>", "<unk>", "\xff", "?", "aaaa", "abcabc")
	n := rapid.SampledFrom([]int{10, 40, 400}).Draw(t, "length")
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, n).Draw(t, "text"), "")
}

// uncut is a codec that cuts no pieces.
func uncut(c *codec) *codec {
	m := *c.model.(*bpe)
	m.joints = nil
	return &codec{name: c.name, added: c.added, normalize: c.normalize, after: c.after, steps: c.steps, model: &m, front: c.front}
}

// TestCutsChangeNothing: whatever the vocabulary, pieces that are cut become the
// ids that they become uncut.
func TestCutsChangeNothing(t *testing.T) {
	cut, models := 0, 0
	for kind, draw := range map[string]func(*rapid.T) []byte{"tokenizer.json": charsFile, "SentencePiece": spmFile} {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c, err := Cache{}.open(draw(t), [32]byte{})
				if err != nil {
					t.Fatal(err)
				}
				plain, j := uncut(c), c.model.(*bpe).joints
				models++
				for range 4 {
					text := random(t)
					got, err := c.Encode(nil, text)
					want, err2 := plain.Encode(nil, text)
					if err != nil || err2 != nil {
						t.Fatal(err, err2)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("%q: cut %v, as a whole %v", text, got, want)
					}
					if j != nil && text != "" && j.cut(text) < len(text) {
						cut++
					}
				}
			})
		})
	}
	if cut < models {
		t.Errorf("%d texts of %d models were cut: this shows nothing", cut, models)
	}
}

// TestJoints names where pieces are cut, for vocabularies made for it.
func TestJoints(t *testing.T) {
	all := func(merges ...[]string) map[string]any {
		m := map[string]any{"type": "BPE", "byte_fallback": true, "unk_token": "<unk>", "merges": merges}
		vocab := map[string]int{"<unk>": 0}
		for c := range 256 {
			vocab[fmt.Sprintf("<0x%02X>", c)] = len(vocab)
		}
		for _, c := range alphabet[:alphabetTokens] {
			vocab[c] = len(vocab)
		}
		for _, p := range merges {
			if name := strings.Join(p, ""); vocab[name] == 0 {
				vocab[name] = len(vocab)
			}
		}
		m["vocab"] = vocab
		return m
	}
	tests := map[string]struct {
		model map[string]any
		text  string
		want  string // parts
	}{
		"words": {all([]string{"a", "b"}, []string{spaceMark, "ab"}), "▁ab▁abc▁", "▁ab ▁ab c ▁"},
		// One token that crosses a space, as Gemma 3 has it.
		"a token across":       {all([]string{">", "▁"}, []string{"<", "/"}, []string{">▁", "</"}), "a>▁</b▁</", "a >▁</ b ▁</"},
		"runs":                 {all([]string{"▁", "▁"}, []string{"▁▁", "▁▁"}), "▁▁▁a▁▁", "▁▁▁ a ▁▁"},
		"unknown characters":   {all([]string{"a", "a"}), "aaüüaa", "aa ü ü aa"},
		"a byte merges":        {all([]string{"<0xE4>", "a"}), "aaüaa", "a aüa a"},
		"the unknown merges":   {all([]string{"a", "<unk>"}), "aaüaa", "a aüa a"},
		"nothing merges":       {all([]string{"c", "c"}), "ab中", "a b 中"},
		"characters of others": {all([]string{"中", "文"}), "中文文中", "中文 文 中"},
	}
	for name, tt := range tests {
		b, err := json.Marshal(map[string]any{"model": tt.model})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Cache{}.open(b, [32]byte{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		j := c.model.(*bpe).joints
		var parts []string
		for s := tt.text; s != ""; {
			n := j.cut(s)
			parts, s = append(parts, s[:n]), s[n:]
		}
		if got := strings.Join(parts, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPartOfCharacter: a piece that ends within a character is found where the
// characters say that nothing lies across.
func TestPartOfCharacter(t *testing.T) {
	c, err := openModel(t, spmModel(option(3, modelBPE), option(3, 0), spmPiece{"<unk>", 0, pieceUnknown},
		spmPiece{"a", -1, pieceNormal}, spmPiece{spaceMark, -1, pieceNormal}, spmPiece{"a" + spaceMark[:1], -1, pieceUserDefined}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := uncut(c.(*codec)).Encode(nil, "aa a")
	if err != nil || !slices.Equal(want, []uint32{1, 3, 0, 1}) {
		t.Fatalf("as a whole %v, %v", want, err)
	}
	if got, err := c.Encode(nil, "aa a"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, as a whole %v, %v", got, want, err)
	}
}

// TestCutsOfFiles: the same of the files that are there, on the corpus.
func TestCutsOfFiles(t *testing.T) {
	texts := corpus(t)
	for _, s := range subjects(t) {
		c, err := s.open()
		if err != nil {
			t.Fatal(err)
		}
		m, ok := c.(*codec).model.(*bpe)
		if !ok || !m.chars && !m.late {
			continue
		}
		if m.joints == nil {
			t.Errorf("%s: nothing is cut", s.name)
			continue
		}
		plain := uncut(c.(*codec))
		for _, x := range texts {
			if len(x.Text) > 20_000 {
				continue // as a whole it takes long
			}
			got, err := c.Encode(nil, x.Text)
			want, err2 := plain.Encode(nil, x.Text)
			if err != nil || err2 != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s: %d tokens, as a whole %d, %v, %v", s.name, x.Name, len(got), len(want), err, err2)
			}
		}
	}
}
