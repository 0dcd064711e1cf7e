package house

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the linter's import rules")

const root = "../.."

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(root + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func module(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(read(t, "go.mod"))
	if m == nil {
		t.Fatal("go.mod names no module")
	}
	return string(m[1])
}

func table(t *testing.T) []Row {
	t.Helper()
	rows, err := ParseTable(read(t, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestTheRepositoryKeepsTheRules(t *testing.T) {
	findings, err := Check(os.DirFS(root), module(t), table(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Error(f)
	}
}

func TestTheLinterKnowsTheTable(t *testing.T) {
	const begin, end = "        # begin of the import table; go test ./internal/house -update\n", "        # end of the import table\n"
	config := read(t, ".golangci.yml")
	from, to := bytes.Index(config, []byte(begin)), bytes.Index(config, []byte(end))
	if from < 0 || to < from {
		t.Fatal(".golangci.yml lacks the marks of the import table")
	}
	from += len(begin)
	want := ImportRules(module(t), table(t))
	if *update {
		config = append(append(append([]byte(nil), config[:from]...), want...), config[to:]...)
		if err := os.WriteFile(root+"/.golangci.yml", config, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(config[from:to])); diff != "" {
		t.Errorf("go test ./internal/house -update brings .golangci.yml up to date:\n%s", diff)
	}
}

func TestBrokenRulesAreFound(t *testing.T) {
	rows, err := ParseTable([]byte("| package | its one job | may import |\n|---|---|---|\n| `a` | x | – |\n| `b` | x | `a` |\n| `c` | x | all of the above |\n| `cmd/x` | x | all |\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"a/doc.go":          file("// Package a is.\npackage a\n"),
		"a/a.go":            file("package a\n\nimport _ \"m/b\"\n"),
		"a/a_test.go":       file("package a\n\nimport _ \"m/c\"\n"),
		"a/sub/doc.go":      file("// Package sub is.\npackage sub\n\nimport _ \"m/a\"\n"),
		"b/b.go":            file("// Package b is.\npackage b\n\nimport (\n\t_ \"m/a/sub\"\n\t\"os\"\n)\n\nfunc f() { os.Exit(1) }\n"),
		"c/c.go":            file("package c\n\nimport _ \"m/b\"\n\nfunc init() {}\n"),
		"cmd/x/main.go":     file("// Command x is.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"),
		"a/utils/doc.go":    file("// Package utils is.\npackage utils\n" + strings.Repeat("\n", MaxLines)),
		"new/doc.go":        file("// Package new is.\npackage new\n"),
		"a/testdata/bad.go": file("not Go"),
	}
	got, err := Check(tree, "m", rows)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a/a.go:3:8: a may not import b",
		"a/utils/doc.go: 602 lines, at most 600",
		"a/utils: a package is named for what it holds",
		"b/b.go:9:12: os.Exit belongs into cmd",
		"b: the package comment belongs into doc.go",
		"c/c.go:5:1: no init functions",
		"c: no package comment",
		"new: has no row in the import table",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTablesThatSayNothingAreErrors(t *testing.T) {
	for _, doc := range []string{"", "| package | its one job | may import |\n| a | x | – |\n", "| package | its one job | may import |\n| `a` | x | maybe |\n"} {
		if rows, err := ParseTable([]byte(doc)); err == nil {
			t.Errorf("%q: %v", doc, rows)
		}
	}
}
