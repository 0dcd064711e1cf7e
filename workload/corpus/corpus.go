package corpus

import (
	"fmt"
	"os"
	"strings"
)

// Piece is a stretch of text that stands well behind any other of its corpus.
type Piece struct {
	Text string
	// Ends are the byte lengths of the beginnings that it may be cut to, in
	// ascending order; the last is all of it.
	Ends []int
}

// Corpus is what synthetic text is made of. It is read-only.
type Corpus struct {
	Name   string
	Pieces []Piece // at least one
	// Joint stands between a text's first words and its first piece; empty
	// where each piece begins with what parts it from what is before it. With a
	// joint, pieces begin with no space and end with a newline.
	Joint string
	// Run is how many pieces follow each other before another place is drawn.
	Run int
}

// The built-in corpora.
const (
	Plain   = "plain"   // sixty English sentences, drawn one by one; the default
	English = "english" // English prose in paragraphs
	Chinese = "chinese" // Chinese prose in paragraphs
	Chat    = "chat"    // what people write to an assistant
	Code    = "code"    // functions, types, queries and scripts in nine languages
	JSON    = "json"    // JSON documents: records, events, configurations
	Mixed   = "mixed"   // all of them but plain
)

// Names returns the words of the built-in corpora.
func Names() []string { return []string{Plain, English, Chinese, Chat, Code, JSON, Mixed} }

// Open returns the corpus that a spec names: a built-in word, where empty
// [Plain]; markov:FILE, a model that [Markov.Write] wrote; or the name of a
// text file. Making one takes some milliseconds.
func Open(spec string) (*Corpus, error) {
	if c := builtin(spec); c != nil {
		return c, nil
	}
	if name, ok := strings.CutPrefix(spec, "markov:"); ok {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("text: %w", err)
		}
		defer f.Close()
		m, err := ReadMarkov(f)
		if err != nil {
			return nil, fmt.Errorf("text %s: %w", name, err)
		}
		return m.Corpus(), nil
	}
	return openFile(spec)
}

func builtin(word string) *Corpus {
	switch word {
	case "", Plain:
		return plain()
	case English:
		return prose(English, " ", newGrammar(englishWords), latinEnds)
	case Chinese:
		return prose(Chinese, "", newGrammar(chineseWords), chineseEnds)
	case Chat:
		return single(Chat, "turn", newGrammar(englishWords, chatWords), latinEnds)
	case Code:
		return single(Code, "piece", newGrammar(englishWords, codeWords), lineEnds)
	case JSON:
		return single(JSON, "record", newGrammar(englishWords, jsonWords), latinEnds)
	case Mixed:
		return mixed()
	}
	return nil
}

// mixed takes the pieces of the others by turns.
func mixed() *Corpus {
	c := &Corpus{Name: Mixed, Joint: "\n\n", Run: 2}
	var parts []*Corpus
	for _, word := range []string{English, Chat, Code, JSON, Chinese} {
		parts = append(parts, builtin(word))
	}
	for i := 0; i < 600; i++ {
		for _, p := range parts {
			if i < len(p.Pieces) {
				c.Pieces = append(c.Pieces, p.Pieces[i])
			}
		}
	}
	return c
}

// latinEnds are the ends of words: before each space or newline with no other
// in front of it.
func latinEnds(text string) []int {
	var ends []int
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && text[i-1] > ' ' {
			ends = append(ends, i)
		}
	}
	return append(ends, len(text))
}

// lineEnds are the ends of lines.
func lineEnds(text string) []int {
	var ends []int
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\n' && text[i+1] != '\n' {
			ends = append(ends, i+1)
		}
	}
	return append(ends, len(text))
}

// chineseEnds are the ends of clauses.
func chineseEnds(text string) []int {
	var ends []int
	for i, r := range text {
		if n := i + len(string(r)); strings.ContainsRune("，。；：？", r) && n < len(text) && text[n] != '\n' {
			ends = append(ends, n)
		}
	}
	return append(ends, len(text))
}
