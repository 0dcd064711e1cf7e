package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// counter is a toy tokenizer.
type counter struct {
	name  string
	count func(string) int
}

func (c counter) Name() string                { return c.name }
func (c counter) Count(s string) (int, error) { return c.count(s), nil }

// tokenizers count by different laws: words, bytes, pairs of bytes across
// words, and a fourth of the bytes.
func tokenizers() []counter {
	return []counter{
		{"words", countWords},
		{"bytes", func(s string) int { return len(s) }},
		{"runes", utf8.RuneCountInString},
		{"pieces of three letters", func(s string) int {
			n := 0
			for _, w := range strings.SplitAfter(s, " ") {
				n += (len(w) + 2) / 3
			}
			return n
		}},
		{"estimate", func(s string) int { return (len(s) + 3) / 4 }},
	}
}

// countWords counts runs of letters and digits, each with a space in front of
// it, and every other character by itself.
func countWords(s string) int {
	n, inWord := 0, false
	for _, r := range s {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		if r != ' ' && (!word || !inWord) {
			n++
		}
		inWord = word
	}
	return n
}

func open(t testing.TB, name string) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func renderer(t testing.TB, c token.Tokenizer, name string) *Renderer {
	t.Helper()
	r, err := NewRenderer(c, open(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func blocks(b ...Block) *Request {
	return &Request{Messages: []Message{{Role: "user", Blocks: b}}}
}

func render(t testing.TB, r *Renderer, q *Request) (string, int64) {
	t.Helper()
	m, n, err := r.Render(q)
	if err != nil || len(m) != 1 || m[0].Role != q.Messages[0].Role || m[0].Tokens != n {
		t.Fatalf("%v: %+v", err, m)
	}
	return m[0].Text, n
}

// Every block has exactly its tokens, under every tokenizer and corpus, and
// the count is the tokenizer's.
func TestRenderIsExact(t *testing.T) {
	for _, c := range tokenizers() {
		for _, name := range corpus.Names() {
			t.Run(fmt.Sprint(c.name, "/", name), func(t *testing.T) {
				r := renderer(t, c, name)
				lengths := []int64{1, 2, 3, 5, 6, 7, 12, 13, 40, 100, 511, 512, 513, 2000}
				for i, n := range lengths {
					text, got := render(t, r, blocks(Block{ID: uint64(i) * 77, Tokens: n}))
					if got != n || c.count(text) != int(n) {
						t.Errorf("asked for %d tokens, got %d, counted %d", n, got, c.count(text))
					}
					checkText(t, text)
				}
			})
		}
	}
}

func checkText(t testing.TB, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.HasPrefix(text, " ") || text == "" {
		t.Errorf("text is not clean: %.60q", text)
	}
}

func TestRenderLaws(t *testing.T) {
	for _, c := range tokenizers() {
		r := renderer(t, c, corpus.Plain)
		rapid.Check(t, func(t *rapid.T) {
			block := rapid.Custom(func(t *rapid.T) Block {
				return Block{ID: rapid.Uint64().Draw(t, "id"), Tokens: rapid.Int64Range(1, 300).Draw(t, "tokens")}
			})
			list := rapid.SliceOfN(block, 1, 4).Draw(t, "blocks")
			want := int64(0)
			for _, b := range list {
				want += b.Tokens
			}
			m, n, err := r.Render(blocks(list...))
			if err != nil || n != want || c.count(m[0].Text) != int(want) {
				t.Fatalf("%s: %d tokens (%d counted), want %d, %v", c.name, n, c.count(m[0].Text), want, err)
			}
			again, _, _ := r.Render(blocks(list...))
			if again[0].Text != m[0].Text {
				t.Fatal("equal blocks, different text")
			}
		})
	}
}

// Blocks of different ID part after a few tokens; what is in front of a
// request's own text is the same for all who share it.
func TestSaltParts(t *testing.T) {
	r := renderer(t, tokenizers()[0], corpus.Plain)
	texts := map[string]bool{}
	const n = 20_000
	for i := range uint64(n) {
		text, _ := render(t, r, blocks(Block{ID: stat.Key(1, "content", i), Tokens: 40}))
		texts[strings.Join(strings.Fields(text)[:3], " ")] = true
	}
	// With over 300 words, three of them coincide about n²/2/300³ times.
	if len(texts) < n-50 {
		t.Errorf("only %d different beginnings of %d texts", len(texts), n)
	}
	a, _ := render(t, r, blocks(Block{ID: 5, Tokens: 100}, Block{ID: 6, Tokens: 50}))
	b, _ := render(t, r, blocks(Block{ID: 5, Tokens: 100}, Block{ID: 7, Tokens: 80}))
	shared := 0
	for shared < len(a) && a[shared] == b[shared] {
		shared++
	}
	if got := countWords(a[:shared]); got < 100 || got > 104 {
		t.Errorf("%d tokens are shared, want 100 and hardly more", got)
	}
}

// A longer block of the same ID begins with the shorter one, but for its end.
func TestSameIDSamePrefix(t *testing.T) {
	r := renderer(t, tokenizers()[0], corpus.Plain)
	long, _ := render(t, r, blocks(Block{ID: 9, Tokens: 1000}))
	short, _ := render(t, r, blocks(Block{ID: 9, Tokens: 500}))
	if cut := short[:len(short)*9/10]; !strings.HasPrefix(long, cut) {
		t.Error("the shorter block is no beginning of the longer")
	}
}

func TestRenderedTextIsStable(t *testing.T) {
	text, _ := render(t, renderer(t, tokenizers()[0], corpus.Plain), blocks(Block{ID: 42, Tokens: 24}))
	if want := "contract grows children flour carries saffron Rain fell on the tin roof all night, so the concert was moved into the school hall"; text != want {
		t.Errorf("%q", text)
	}
}

func TestRenderKeepsLiteralText(t *testing.T) {
	r := renderer(t, tokenizers()[0], corpus.Plain)
	q := &Request{Messages: []Message{{Role: "system", Text: "Be brief."}, {Role: "user", Text: "Why?"},
		{Role: "assistant"}, {Role: "user", Blocks: []Block{{ID: 1, Tokens: 10}}}}}
	m, n, err := r.Render(q)
	if err != nil || n != 15 || m[0].Text != "Be brief." || m[0].Tokens != 3 || m[2].Text != "" || m[2].Tokens != 0 {
		t.Errorf("%v, %d tokens: %+v", err, n, m)
	}
}

func TestRenderFailsWithItsTokenizer(t *testing.T) {
	broken := errors.New("broken")
	if _, err := NewRenderer(failing{broken}, open(t, corpus.Plain)); !errors.Is(err, broken) {
		t.Error(err)
	}
	r := renderer(t, tokenizers()[0], corpus.Plain)
	r.tokenizer = failing{broken}
	if _, _, err := r.Render(&Request{Messages: []Message{{Role: "user", Text: "a"}}}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, _, err := r.Render(blocks(Block{ID: 1, Tokens: -1})); err == nil {
		t.Error("a block of -1 tokens is rendered")
	}
}

type failing struct{ err error }

func (f failing) Name() string              { return "failing" }
func (f failing) Count(string) (int, error) { return 0, f.err }

func BenchmarkRender(b *testing.B) {
	for _, c := range tokenizers()[:4] {
		b.Run(c.name, func(b *testing.B) {
			r := renderer(b, c, corpus.Plain)
			b.ReportAllocs()
			for i := range b.N {
				if _, _, err := r.Render(blocks(Block{ID: uint64(i), Tokens: 2000})); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}

func BenchmarkNewRenderer(b *testing.B) {
	for range b.N {
		renderer(b, tokenizers()[0], corpus.Mixed)
	}
}
