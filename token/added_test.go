package token

import (
	"hash/maphash"
	"strings"
	"testing"
)

// TestAddedAlone: a token of single_word is found where no word goes on.
func TestAddedAlone(t *testing.T) {
	c := openSmall(t, []string{}, set("added_tokens", []map[string]any{
		{"id": 1000, "content": "ab", "single_word": true}, {"id": 1001, "content": "É", "normalized": true}}))
	for text, want := range map[string]string{
		"ab": "ab", "ab ab": "ab| |ab", "abc": "a|b|c", "xab": "x|a|b", "_ab": "_|a|b", "é-ab!": "\xc3|\xa9|-|ab|!", "1ab": "1|a|b", "xÉ": "x|É",
	} {
		if got := strings.Join(tokens(t, c, text), "|"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAddedNormalized: a normalized token is found in normalized text, written
// either way, another only as it stands.
func TestAddedNormalized(t *testing.T) {
	for normalized, want := range map[bool]int{true: 1, false: 2} {
		c := openSmall(t, []string{}, func(m map[string]any) {
			set("normalizer", map[string]any{"type": "NFC"})(m)
			set("added_tokens", []map[string]any{{"id": 1000, "content": "e\u0301", "normalized": normalized}})(m)
		})
		if n, err := c.Count("é"); err != nil || n != want {
			t.Errorf("normalized %v: %d tokens, %v, want %d", normalized, n, err, want)
		}
	}
}

// TestMetaspace: the mark is put in front of every section, of the one that
// begins the text, or of none.
func TestMetaspace(t *testing.T) {
	for front, want := range map[string]string{"always": "_a _b <> _c", "first": "_a _b <> c", "never": "a _b <> c"} {
		m := &collector{}
		a := newAdded()
		a.add("<>", addedToken{id: 7})
		c := &codec{model: m, added: a, steps: []step{metaspace{mark: "_", front: front, split: true}}}
		s := &scratch{}
		if err := c.encode(s, "a b<>c"); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(m.pieces[:2], " ") + " <> " + m.pieces[2]
		if got != want || len(s.ids) != 1 {
			t.Errorf("%s: %s, want %s", front, got, want)
		}
	}
	// Behind another step only its first part begins the text.
	if got := strings.Join(cutAll(t, []step{matches{find: byText("-"), behavior: removed}, metaspace{mark: "_", front: "first"}}, "a-b"), " "); got != "_a b" {
		t.Errorf("behind another: %s", got)
	}
	if got := strings.Join(cutAll(t, []step{metaspace{mark: "_", front: "never", split: true}}, "  a b  "), " "); got != "_ _a _b _ _" {
		t.Errorf("runs: %s", got)
	}
}

// TestRepeatedPieces: what was merged before is known by its text, not by its
// hash alone.
func TestRepeatedPieces(t *testing.T) {
	m := newRankModel(table{blob: []byte("ab"), offsets: []uint32{0, 1, 2}})
	s := &scratch{cache: make([]cached, cacheSize)}
	for i := range s.cache {
		s.cache[i] = cached{hash: maphash.String(m.v.seed, "ba"), n: 2, count: 1, ids: [cachedIDs]uint32{99}}
		copy(s.cache[i].piece[:], "xx")
	}
	m.word(s, "ba")
	if len(s.ids) != 2 || s.ids[0] != 1 || s.ids[1] != 0 {
		t.Errorf("ids %v", s.ids)
	}
	m.word(s, "ba")
	if len(s.ids) != 4 || s.ids[2] != 1 {
		t.Errorf("ids %v", s.ids)
	}
}
