package token

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
)

// update asks the references about tokenizers that the golden file has not, all
// where it was deleted: go test ./token -run Golden -update, with
// TOKAMAK_REFERENCES set.
var update = flag.Bool("update", false, "write golden files again")

// golden is what the reference of a tokenizer gave for the corpus: of each text
// the number of tokens, and a hash of all ids.
type golden struct {
	Texts  int    `json:"texts"`
	Tokens int    `json:"tokens"`
	IDs    string `json:"ids"` // SHA-256 of the ids as little-endian numbers of 32 bits, each text's ended by 2^32-1
	Counts []int  `json:"counts"`
}

func goldenOf(ids [][]uint32) golden {
	g := golden{Texts: len(ids)}
	h := sha256.New()
	for _, list := range ids {
		g.Counts = append(g.Counts, len(list))
		g.Tokens += len(list)
		var b []byte
		for _, id := range append(slices.Clone(list), 1<<32-1) {
			b = binary.LittleEndian.AppendUint32(b, id)
		}
		h.Write(b)
	}
	g.IDs = hex.EncodeToString(h.Sum(nil))
	return g
}

const goldenFile = "testdata/golden.json"

// TestGolden holds the ids of every tokenizer that is there against what its
// reference gave when the golden file was written.
func TestGolden(t *testing.T) {
	want := map[string]golden{}
	b, err := os.ReadFile(goldenFile)
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update {
		live(t)
	}
	texts := corpus(t)
	seen := 0
	for _, s := range subjects(t) {
		if s.name[:7] == "trained" {
			continue // not the same bytes on every machine
		}
		if _, known := want[s.name]; *update && !known {
			want[s.name] = goldenOf(byPython(t, texts, referenceWord(t, s))[0])
		}
		t.Run(s.name, func(t *testing.T) {
			c, err := s.open()
			if err != nil {
				t.Fatal(err)
			}
			var ids [][]uint32
			for i, x := range texts {
				list, err := c.Encode(nil, x.Text)
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, list)
				if w := want[s.name]; i < len(w.Counts) && len(list) != w.Counts[i] {
					t.Errorf("%s: %d tokens, the reference %d", x.Name, len(list), w.Counts[i])
				}
			}
			if got := goldenOf(ids); got.IDs != want[s.name].IDs {
				t.Errorf("%d tokens, the reference %d; the ids differ", got.Tokens, want[s.name].Tokens)
			}
		})
		seen++
	}
	if *update {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenFile, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rest := len(want) - seen; rest > 0 {
		t.Logf("%d tokenizers of the golden file are not here: scripts/tokenizers fetches them", rest)
	}
}
