package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxFile bounds a text file in bytes.
const maxFile = 64 << 20

// openFile reads a text file.
func openFile(name string) (*Corpus, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("text: expected %s, markov:FILE, llm:URL or a file: %w", strings.Join(Names(), ", "), err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("text %s: %w", name, err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("text %s: longer than %d MiB", name, maxFile>>20)
	}
	c, err := New(name, string(b))
	if err != nil {
		return nil, fmt.Errorf("text %s: %w", name, err)
	}
	return c, nil
}

// New returns the corpus of texts as they are: their paragraphs, which blank
// lines part, in order. Control characters but newline and tab are left out.
func New(name string, texts ...string) (*Corpus, error) {
	c := &Corpus{Name: name, Joint: "\n\n", Run: 5}
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return nil, errors.New("expected UTF-8 text")
		}
		t = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\n' && r != '\t' || r == '\ufeff' || r == 0x7f {
				return -1
			}
			return r
		}, t)
		for p := range strings.SplitSeq(t, "\n\n") {
			c.paragraph(p)
		}
	}
	if len(c.Pieces) == 0 {
		return nil, errors.New("expected some text, found none")
	}
	return c, nil
}

// longest is how many bytes a piece of a user's text has at most.
const longest = 2000

// paragraph adds a paragraph, in several pieces where it is long.
func (c *Corpus) paragraph(p string) {
	for p = strings.Trim(p, " \t\n"); p != ""; {
		n := len(p)
		if n > longest {
			n = cutAt(p[:longest])
		}
		text := strings.TrimRight(p[:n], " \t\n")
		p = strings.TrimLeft(p[n:], " \t\n")
		end := "\n\n"
		if p != "" {
			end = "\n"
		}
		c.add(text+end, anyEnds)
	}
}

// cutAt finds the last good place to cut a text in its second half.
func cutAt(s string) int {
	for _, mark := range []string{"\n", ". ", "。", " ", "，"} {
		if i := strings.LastIndex(s, mark); i >= len(s)/2 {
			return i + len(mark)
		}
	}
	i := len(s)
	for !utf8.RuneStart(s[i-1]) {
		i--
	}
	return i - 1
}

// anyEnds are ends of words and of clauses.
func anyEnds(text string) []int {
	var ends []int
	for i, r := range text {
		n := i + utf8.RuneLen(r)
		switch {
		case i > 0 && r == ' ' && text[i-1] > ' ':
			ends = append(ends, i)
		case strings.ContainsRune("，。；：？！、", r) && n < len(text) && text[n] != '\n' && text[n] != ' ':
			ends = append(ends, n)
		}
	}
	return append(ends, len(text))
}
