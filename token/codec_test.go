package token

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// TestConcurrent: one codec serves many at once, with the ids that it gives
// alone.
func TestConcurrent(t *testing.T) {
	texts := corpus(t)[:100]
	list := map[string]Codec{"builtin": Builtin()}
	for _, name := range []string{"unigram-identity.model", "bpe-user.model", "bpe-first.json"} {
		c, err := OpenFile(filepath.Join("testdata/models", name))
		if err != nil {
			t.Fatal(err)
		}
		list[name] = c
	}
	for name, c := range list {
		want := make([][]uint32, len(texts))
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i, s := range texts {
					ids, err := c.Encode(nil, s.Text)
					if err != nil {
						t.Error(err)
					}
					if w == 0 {
						want[i] = ids
					}
				}
			})
		}
		wg.Wait()
		for i, s := range texts {
			if ids, err := c.Encode(nil, s.Text); err != nil || !slices.Equal(ids, want[i]) {
				t.Errorf("%s: %s: other ids, %v", name, s.Name, err)
			}
		}
	}
}
