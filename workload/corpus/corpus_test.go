package corpus

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func open(t testing.TB, spec string) *Corpus {
	t.Helper()
	c, err := Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// join returns about n bytes of a corpus from piece i on.
func join(c *Corpus, i, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(c.Pieces[i%len(c.Pieces)].Text)
		i++
	}
	return b.String()
}

// Pieces stand behind each other, and may be cut at their ends.
func TestPieces(t *testing.T) {
	for _, name := range Names() {
		c := open(t, name)
		if c.Name != name || c.Run < 1 || len(c.Pieces) < 60 {
			t.Errorf("%s: %d pieces, run %d", name, len(c.Pieces), c.Run)
		}
		seen := map[string]bool{}
		for _, p := range c.Pieces {
			if seen[p.Text] {
				t.Errorf("%s: twice: %.60q", name, p.Text)
			}
			seen[p.Text] = true
			checkPiece(t, c, p)
		}
	}
}

func checkPiece(t testing.TB, c *Corpus, p Piece) {
	t.Helper()
	if !utf8.ValidString(p.Text) || !slices.IsSorted(p.Ends) || p.Ends[len(p.Ends)-1] != len(p.Text) || p.Ends[0] <= 0 {
		t.Fatalf("%s: %v of %.80q", c.Name, p.Ends, p.Text)
	}
	for _, end := range p.Ends {
		if !utf8.ValidString(p.Text[:end]) {
			t.Fatalf("%s: cut inside a character: %q", c.Name, p.Text[:end])
		}
	}
	if c.Joint == "" {
		return
	}
	if first := p.Text[0]; first <= ' ' || !strings.HasSuffix(p.Text, "\n") {
		t.Errorf("%s: a piece begins or ends badly: %.60q", c.Name, p.Text)
	}
	if strings.ContainsAny(p.Text, "«»") || strings.Contains(p.Text, "  \n") {
		t.Errorf("%s: %q", c.Name, p.Text)
	}
}

// Every slot of the word lists is a rule.
func TestGrammarsAreWhole(t *testing.T) {
	for name, g := range map[string]grammar{"english": newGrammar(englishWords), "chinese": newGrammar(chineseWords),
		"chat": newGrammar(englishWords, chatWords), "code": newGrammar(englishWords, codeWords), "json": newGrammar(englishWords, jsonWords)} {
		for rule, r := range g {
			if len(r.ways) == 0 {
				t.Errorf("%s: %s has no ways", name, rule)
			}
			for _, way := range r.ways {
				for _, part := range strings.Split(way, "«")[1:] {
					slot, _, ok := strings.Cut(part, "»")
					slot = strings.TrimSuffix(strings.TrimLeft(slot, "^!"), "+")
					if _, after, bound := strings.Cut(slot, "="); bound {
						slot = after
					}
					if !ok || g[slot] == nil {
						t.Errorf("%s: %s has the slot %q", name, rule, slot)
					}
				}
			}
		}
	}
}

func TestJSONIsJSON(t *testing.T) {
	for _, p := range open(t, JSON).Pieces {
		if !json.Valid([]byte(p.Text)) {
			t.Fatalf("%s", p.Text)
		}
	}
}

func TestGoIsGo(t *testing.T) {
	g := newGrammar(englishWords, codeWords)
	for i := range 200 {
		text := "package p\n" + g.newWriter("test", i).say("go")
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}

// What a corpus holds is the same everywhere and always.
func TestBuiltinsAreStable(t *testing.T) {
	want := map[string]string{"chat": "36b8916ebf16", "chinese": "7013c3c9b0f1", "code": "2e5309ff2c97", "english": "68735f19c7f6", "json": "91e970557292", "mixed": "e27687c2d6fa", "plain": "855d75ee4948"}
	got := map[string]string{}
	for _, name := range Names() {
		c := open(t, name)
		sum := sha256.Sum256([]byte(join(c, 0, 200_000)))
		got[name] = hex.EncodeToString(sum[:6])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func packed(t testing.TB, s string) float64 {
	t.Helper()
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, 6)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return float64(len(s)) / float64(b.Len())
}

// Texts compress about as real ones do: a text made of few sentences would
// compress twenty times.
func TestTextsCompressLikeRealOnes(t *testing.T) {
	for name, most := range map[string]float64{English: 3.4, Chinese: 3.4, Chat: 3.6, Code: 6, JSON: 5} {
		if got := packed(t, join(open(t, name), 100, 64<<10)); got > most || got < 1.8 {
			t.Errorf("%s: gzip makes 64 KiB %.2f times smaller", name, got)
		}
	}
}

func TestFileCorpus(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notes.txt")
	long := strings.Repeat("many words without any break ", 300)
	text := "\ufeff First paragraph\x00 of two lines,\nthe second.\n\n\n\n" + long + "\n\n最后一段，没有空格。" + strings.Repeat("长", 3000)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, name)
	if c.Pieces[0].Text != "First paragraph of two lines,\nthe second.\n\n" || len(c.Pieces) < 10 {
		t.Errorf("%d pieces, the first %q", len(c.Pieces), c.Pieces[0].Text)
	}
	all := ""
	for _, p := range c.Pieces {
		checkPiece(t, c, p)
		all += p.Text
	}
	if strings.Count(all, "many") != 300 || strings.Count(all, "words") != 300 || strings.Count(all, "长") != 3000 {
		t.Error("something is lost")
	}
	for name, content := range map[string]string{"empty": " \n\n", "binary": "a\xffb"} {
		p := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(p); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open("no-such-corpus"); err == nil || !strings.Contains(err.Error(), English) {
		t.Error(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			n := 0
			for range b.N {
				c := builtin(name)
				n = 0
				for _, p := range c.Pieces {
					n += len(p.Text)
				}
			}
			b.ReportMetric(float64(n)/1e3, "kB")
		})
	}
}
