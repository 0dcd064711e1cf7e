package wire

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCausesAreDocumented: each word of a cause that is an error stands in
// docs/responses.md, and no other but that of a crash.
func TestCausesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/responses.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## Error classes of the connection")
	table, _, _ = strings.Cut(table, "\n## ")
	documented := map[string]bool{"crash": true}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .+ \\| `[a-z_]+` \\|$").FindAllStringSubmatch(table, -1) {
		documented[m[1]] = true
	}
	for c, word := range causeWords {
		if Cause(c) != Completed && !documented[word] {
			t.Errorf("%s is not documented", word)
		}
		delete(documented, word)
	}
	delete(documented, "crash")
	for word := range documented {
		t.Errorf("%s is documented but never said", word)
	}
}
