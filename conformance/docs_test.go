package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/conformance"
)

var update = flag.Bool("update", false, "write the rules' table of docs/conformance.md")

const (
	doc   = "../docs/conformance.md"
	begin = "<!-- rules: go test ./conformance -run Documented -update -->\n"
	end   = "<!-- end of the rules -->\n"
)

// The rules in the documents are those of the code.
func TestRulesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(raw), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("the marks of the table are gone")
	}
	want := "| rule | expected that | what is sent | source |\n|---|---|---|---|\n"
	for _, r := range conformance.Rules() {
		want += fmt.Sprintf("| `%s` | %s | %s | %s |\n", r.ID, r.Expects, r.Sent, r.Source)
	}
	if *update {
		if err := os.WriteFile(doc, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Error("the table is not that of the code: run go test ./conformance -run Documented -update")
	}
	if !strings.Contains(before, fmt.Sprintf("version %d", conformance.Battery)) || !strings.Contains(before, fmt.Sprintf("%d rules", len(conformance.Rules()))) {
		t.Error("the documents name another version or number of rules")
	}
}

// Names are unique and in groups.
func TestRuleNames(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range conformance.Rules() {
		if seen[r.ID] || !regexp.MustCompile(`^[A-Z]+-\d\d$`).MatchString(r.ID) || r.Expects == "" || r.Sent == "" || r.Source == "" {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
}
