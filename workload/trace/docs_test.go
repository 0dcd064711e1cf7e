package trace

import (
	"os"
	"strings"
	"testing"
)

// docs/traces.md names every format, and its mapping example does what it says.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../docs/traces.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, f := range Formats() {
		if !strings.Contains(text, "`"+f.Name+"`") || f.About == "" {
			t.Errorf("%s is not documented", f.Name)
		}
	}
	for _, w := range mappingWords() {
		if !strings.Contains(text, "`"+w+"`") {
			t.Errorf("the word %s of a mapping is not documented", w)
		}
	}
	m, err := ParseMapping("map.yaml", []byte(fenced(t, text, "```yaml\n")))
	if err != nil {
		t.Fatal(err)
	}
	rows, r := all(t, fenced(t, text, "```json\n"), Options{Mapping: m})
	if len(rows) != 2 || r.Ignored() != 1 || rows[0].Input != 412 || rows[1].Input != 95 || rows[1].At-rows[0].At != 750e6 ||
		rows[0].Tenant != "search" || rows[1].Tenant != "mail" {
		t.Errorf("%d rows, %d ignored: %s", len(rows), r.Ignored(), dump(rows))
	}
}

func fenced(t *testing.T, text, fence string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, fence)
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("no %s", fence)
	}
	return block
}
