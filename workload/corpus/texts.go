package corpus

import (
	"strings"
)

// How much of each built-in corpus there is: paragraphs or pieces. A compressor
// with a window of 32 KiB, or a prompt, sees hardly one of them twice.
const (
	paragraphs = 1200
	pieces     = 1500
	perText    = 16 // paragraphs or pieces that prefer the same words
)

// prose writes paragraphs of two to eight sentences.
func prose(name, space string, g grammar, ends func(string) []int) *Corpus {
	c := &Corpus{Name: name, Joint: "\n\n", Run: 5}
	for i := 0; len(c.Pieces) < paragraphs; i++ {
		w := g.newWriter(name, i)
		for range perText {
			var p strings.Builder
			for n := range 2 + w.r.IntN(7) {
				if n > 0 {
					p.WriteString(space)
				}
				p.WriteString(sentence(w.say("s")))
			}
			p.WriteString("\n\n")
			c.add(p.String(), ends)
		}
	}
	return c
}

// single writes pieces that one rule gives.
func single(name, rule string, g grammar, ends func(string) []int) *Corpus {
	c := &Corpus{Name: name, Joint: "\n\n", Run: 5}
	for i := 0; len(c.Pieces) < pieces; i++ {
		w := g.newWriter(name, i)
		for range perText {
			text := strings.TrimSpace(w.say(rule))
			if name == Chat {
				text = tidyTurn(text)
			}
			end := "\n\n"
			if name == JSON {
				end = "\n"
			}
			c.add(text+end, ends)
		}
	}
	return c
}

func (c *Corpus) add(text string, ends func(string) []int) {
	c.Pieces = append(c.Pieces, Piece{text, ends(text)})
}

// tidyTurn gives the sentences of a turn their capitals and single spaces.
func tidyTurn(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		var parts []string
		for part := range strings.SplitSeq(line, ". ") {
			if part = strings.Join(strings.Fields(part), " "); part != "" {
				parts = append(parts, sentence(part))
			}
		}
		out = append(out, strings.Join(parts, ". "))
	}
	return strings.Join(out, "\n")
}
