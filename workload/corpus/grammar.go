package corpus

import (
	_ "embed"
	"math/rand/v2"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
)

//go:embed words/english.txt
var englishWords string

//go:embed words/chinese.txt
var chineseWords string

//go:embed words/chat.txt
var chatWords string

//go:embed words/code.txt
var codeWords string

//go:embed words/json.txt
var jsonWords string

// grammar is rules by name; what a later file says of a name is added to what
// earlier ones do. words/english.txt and words/code.txt say what their forms are.
type grammar map[string]*rule

// rule is the ways to say something.
type rule struct {
	ways  []string
	words bool // a list of words, of which a text prefers a few
}

func newGrammar(files ...string) grammar {
	g := grammar{}
	for _, f := range files {
		g.add(f)
	}
	return g
}

func (g grammar) add(file string) {
	head, blocks, _ := strings.Cut(file, "\n@ ")
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		if name, words, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") {
			r := g.rule(name)
			r.ways, r.words = append(r.ways, strings.Fields(words)...), true
			continue
		}
		if name, ways, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			for w := range strings.SplitSeq(ways, "|") {
				g.rule(name).add(strings.ReplaceAll(strings.TrimSpace(w), `\n`, "\n"))
			}
		}
	}
	if blocks == "" {
		return
	}
	for b := range strings.SplitSeq(blocks, "\n@ ") {
		name, text, _ := strings.Cut(b, "\n")
		if text = strings.TrimSuffix(text, "\n"); strings.HasSuffix(name, "stmt") {
			text += "\n"
		}
		g.rule(name).add(text)
	}
}

func (g grammar) rule(name string) *rule {
	if g[name] == nil {
		g[name] = &rule{}
	}
	return g[name]
}

func (r *rule) add(way string) { r.ways = append(r.ways, way) }

// writer says things by a grammar. What it says follows from its generator.
type writer struct {
	grammar
	r     *rand.Rand
	topic map[string][]string // the words of each list that this text prefers
	bound map[string]string   // words drawn once in this piece
	b     []byte
	depth int
}

// newWriter returns the writer of text number n of a corpus.
func (g grammar) newWriter(corpus string, n int) *writer {
	return &writer{grammar: g, r: stat.Random(0, stat.Stream("corpus/"+corpus), uint64(n)), topic: map[string][]string{}, bound: map[string]string{}}
}

// say returns what a rule gives, tidied.
func (w *writer) say(name string) string {
	w.b, w.depth = w.b[:0], 0
	clear(w.bound)
	w.expand(name)
	return string(w.b)
}

// deepest is where recursion ends: from there on each rule's first way is taken.
const deepest = 12

func (w *writer) expand(name string) {
	r := w.grammar[name]
	if r == nil {
		return // the test of the word lists finds it
	}
	if r.words {
		w.b = append(w.b, w.word(name, r)...)
		return
	}
	way := r.ways[0]
	if w.depth < deepest {
		way = r.ways[w.r.IntN(len(r.ways))]
	}
	w.depth++
	defer func() { w.depth-- }()
	for {
		text, rest, found := strings.Cut(way, "«")
		w.b = append(w.b, text...)
		if !found {
			return
		}
		slot, after, _ := strings.Cut(rest, "»")
		w.slot(slot)
		way = after
	}
}

// slot fills in «slot»: [^!][variable=]name[+].
func (w *writer) slot(s string) {
	letter := s[0]
	if letter == '^' || letter == '!' {
		s = s[1:]
	}
	s, plural := strings.CutSuffix(s, "+")
	from := len(w.b)
	variable, name, ok := strings.Cut(s, "=")
	switch {
	case !ok:
		w.expand(s)
	case w.bound[variable] != "":
		w.b = append(w.b, w.bound[variable]...)
	default:
		w.expand(name)
		w.bound[variable] = string(w.b[from:])
	}
	if plural {
		w.b = append(w.b[:from], pluralOf(string(w.b[from:]))...)
	}
	switch {
	case letter == '^' && len(w.b) > from:
		w.b[from] = upper(w.b[from])
	case letter == '!':
		for i := from; i < len(w.b); i++ {
			w.b[i] = upper(w.b[i])
		}
	}
}

// long is from how many words on a list has favourites.
const long = 60

// word draws from a list: half of the time one of the few that this text is
// about, else any, the first ones more often.
func (w *writer) word(name string, r *rule) string {
	n := len(r.ways)
	if n < long {
		return r.ways[w.r.IntN(n)]
	}
	t := w.topic[name]
	if t == nil {
		for range max(6, n/24) {
			t = append(t, r.ways[w.r.IntN(n)])
		}
		w.topic[name] = t
	}
	if w.r.IntN(2) == 0 {
		return t[w.r.IntN(len(t))]
	}
	return r.ways[min(w.r.IntN(n), w.r.IntN(n+n/2))]
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func pluralOf(s string) string {
	switch {
	case strings.HasSuffix(s, "man"):
		return s[:len(s)-2] + "en"
	case strings.HasSuffix(s, "child"):
		return s + "ren"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	}
	return s + "s"
}

// sentence tidies a sentence: a capital in front, an before vowels.
func sentence(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '"' {
			continue
		}
		b[i] = upper(b[i])
		break
	}
	s = string(b)
	if !strings.Contains(s, " a ") && !strings.HasPrefix(s, "A ") {
		return s
	}
	for _, v := range []string{"a", "e", "i", "o", "u"} {
		s = strings.ReplaceAll(s, " a "+v, " an "+v)
		if strings.HasPrefix(s, "A "+v) {
			s = "An" + s[1:]
		}
	}
	return s
}
