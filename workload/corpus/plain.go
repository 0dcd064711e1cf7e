package corpus

import (
	_ "embed"
	"strings"
)

//go:embed words/plain.txt
var plainSentences string

// plain is sentences that stand behind a space and may be cut after each word.
func plain() *Corpus {
	c := &Corpus{Name: Plain, Run: 1}
	for line := range strings.Lines(plainSentences) {
		p := Piece{Text: " " + strings.TrimSpace(line)}
		for i := 1; i < len(p.Text); i++ {
			if p.Text[i] == ' ' {
				p.Ends = append(p.Ends, i)
			}
		}
		p.Ends = append(p.Ends, len(p.Text))
		c.Pieces = append(c.Pieces, p)
	}
	return c
}

// Words returns different plain English words, in lower case: what fills a
// text up to an exact length.
func Words() []string {
	seen := map[string]bool{}
	var list []string
	for w := range strings.FieldsSeq(plainSentences) {
		w = strings.ToLower(strings.Trim(w, ".,;:?"))
		if len(w) >= 3 && !seen[w] && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}
