package scenario

import (
	"os"
	"strings"
	"testing"
)

// TestEverySettingIsDocumented: docs/scenario.md has a row or a mention of
// each key, and its example and bad file say what they do.
func TestEverySettingIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, s := range settingsTable() {
		if !strings.Contains(text, "`"+s.key+"`") {
			t.Errorf("%s is not documented", s.id())
		}
	}
	for _, k := range classKeys {
		if !strings.Contains(text, "`"+k+"`") {
			t.Errorf("%s of a class is not documented", k)
		}
	}
}

// TestDocumentedExample resolves the example at the top of docs/scenario.md.
func TestDocumentedExample(t *testing.T) {
	b, err := os.ReadFile("../docs/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "    name: chat-ramp\n")
	if !ok {
		t.Fatal("no example")
	}
	yaml := "name: chat-ramp\n"
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		yaml += strings.TrimPrefix(line, "    ")
	}
	s := parse(t, yaml, Flags{})
	if s.Name != "chat-ramp" || len(s.SLO) != 3 || len(s.Workload.Config.Classes) != 2 || len(s.Load.Plan.Stages) != 3 || len(s.Out.Tags) != 2 {
		t.Errorf("%+v", s)
	}
}
