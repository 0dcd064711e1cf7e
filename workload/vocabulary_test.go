package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// Under the built-in vocabulary every corpus gives exact lengths, and prose
// without counting what was written.
func TestRenderUnderBuiltin(t *testing.T) {
	codec := token.Builtin()
	for _, corpus := range corpus.Names() {
		r := renderer(t, codec, corpus)
		if r.sums != ofPieces {
			t.Errorf("%s: lengths of pieces do not add up", corpus)
		}
		for i := range uint64(60) {
			n := int64(1 + i*i)
			text, got := render(t, r, blocks(Block{ID: i * 7919, Tokens: n/3 + 1}, Block{ID: i, Tokens: n}))
			counted, err := codec.Count(text)
			if err != nil || int64(counted) != n+n/3+1 || got != n+n/3+1 {
				t.Errorf("%s: asked for %d, got %d, counted %d, %v", corpus, n+n/3+1, got, counted, err)
			}
		}
	}
}

// Where a server counts, the corpus takes few requests and lengths are as
// exact.
func TestRenderUnderServer(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		b, _ := io.ReadAll(q.Body)
		var body struct {
			Prompt string `json:"prompt"`
		}
		if err := json.Unmarshal(b, &body); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"count":%d}`, countWords(body.Prompt))
	}))
	defer s.Close()
	server, err := token.NewServer(s.URL, s.Client())
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRenderer(server, open(t, corpus.Plain))
	if err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n > 250 {
		t.Errorf("%d requests", n)
	}
	for i := range uint64(20) {
		n := int64(1 + i*i)
		if text, got := render(t, r, blocks(Block{ID: i, Tokens: n})); got != n || countWords(text) != int(n) {
			t.Errorf("asked for %d, got %d, counted %d", n, got, countWords(text))
		}
	}
}

func BenchmarkRenderBuiltin(b *testing.B) {
	r, err := NewRenderer(token.Builtin(), open(b, corpus.Plain))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		if _, _, err := r.Render(blocks(Block{ID: uint64(i), Tokens: 2000})); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
}

func BenchmarkNewRendererBuiltin(b *testing.B) {
	codec := token.Builtin()
	for range b.N {
		if _, err := NewRenderer(codec, open(b, corpus.Plain)); err != nil {
			b.Fatal(err)
		}
	}
}
