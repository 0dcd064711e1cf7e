package jinja

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files from Python's Jinja")

// golden is a small template with what Python's Jinja made of it.
type golden struct {
	Template string  `json:"template"`
	Want     *string `json:"want"` // null: an error
}

const snippetVariables = `{"messages": [{"role": "system", "content": "Be brief.\nx"}, {"role": "user", "content": null}], "big": 123456789012345678901234567890,
	"nested": {"z": [1, 2.50, {"a": null}], "a": "é\"'\u0000", "n": -0.0, "t": true, "e": 1e400}, "f": null}`

// TestSnippets holds small templates, each about one thing, against goldens
// that Python's Jinja wrote: testdata/snippets.txt, made with -update.
func TestSnippets(t *testing.T) {
	path := filepath.Join("testdata", "snippets.json")
	if *update {
		writeGoldens(t, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	values := variables(t, []byte(snippetVariables))
	for _, g := range list {
		var got string
		tpl, err := Parse(g.Template)
		if err == nil {
			got, err = tpl.Render(values, Options{Now: moment})
		}
		switch {
		case g.Want == nil && err != nil:
		case g.Want == nil:
			t.Errorf("%s\nPython fails, we render: %q", g.Template, got)
		case err != nil:
			t.Errorf("%s\n%v, Python renders: %q", g.Template, err, *g.Want)
		case got != *g.Want:
			t.Errorf("%s\n(-Python +ours)\n%s", g.Template, cmp.Diff(*g.Want, got))
		}
	}
	if len(list) < 150 {
		t.Errorf("%d snippets", len(list))
	}
}

func writeGoldens(t *testing.T, path string) {
	python, _ := reference(t)
	b, err := os.ReadFile(filepath.Join("testdata", "snippets.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	type task struct {
		Template  string          `json:"template"`
		Variables json.RawMessage `json:"variables"`
	}
	var tasks []task
	for s := range strings.SplitSeq(string(b), "\n====\n") {
		list = append(list, golden{Template: s})
		tasks = append(tasks, task{s, json.RawMessage(snippetVariables)})
	}
	in, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	cases := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(cases, in, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "testdata/reference.py", cases).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []*string
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Want = want[i]
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
