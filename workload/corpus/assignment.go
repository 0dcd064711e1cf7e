package corpus

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/stat"
)

// Assignment tells a model what to write as text number n, so that texts are
// of many kinds and subjects.
func Assignment(n uint64) string {
	kinds := []string{
		"a long question to an assistant, with all the background that a good answer needs",
		"an essay of several paragraphs",
		"a thread of three e-mails between colleagues",
		"the minutes of a meeting",
		"a bug report with steps, logs and a guess at the cause",
		"a chat between a customer and a support agent",
		"the release notes of a product",
		"notes for a lecture",
		"the beginning of a short story",
		"a page of a manual, with numbered steps",
		"a commented function in a programming language of your choice",
		"a JSON document with twenty records",
		"a news article with quotations",
		"a review that weighs two products against each other",
		"a letter of complaint and the answer to it",
		"an encyclopedia article with figures and dates",
	}
	g := newGrammar(englishWords)
	w := g.newWriter("assignment", int(n))
	subject := fmt.Sprintf("%s and %s in %s", w.say("np"), w.say("np"), w.say("place"))
	r := stat.Random(0, "assignment", n)
	return fmt.Sprintf("Write %s. It is about %s. Write only the text itself, nothing before or after it, and make it at least 250 words long.",
		kinds[(int(n)+r.IntN(2)*5)%len(kinds)], subject)
}
