package openai

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWordsAreDocumented: every fixed word stands in the documents, and the
// documents name no other.
func TestWordsAreDocumented(t *testing.T) {
	source, err := os.ReadFile("words.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/responses.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(doc), "## Error classes of the connection")
	words := map[string]bool{}
	for _, m := range regexp.MustCompile(`= "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1) {
		words[m[1]] = true
		if !strings.Contains(tables, "| `"+m[1]+"` |") {
			t.Errorf("%s is not documented", m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(tables, -1) {
		if !words[m[1]] {
			t.Errorf("%s is documented but never said", m[1])
		}
	}
}
