package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// MaxLines is the most lines that a Go file may have.
const MaxLines = 600

// Check reads the Go files below root, of the module named module, and returns
// what breaks the rules, sorted by place. A file that does not parse is an error.
func Check(root fs.FS, module string, rows []Row) ([]string, error) {
	c := &checker{module: module, rows: rows, set: token.NewFileSet(), packages: map[string]*pkg{}}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) && name != "." {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return c.file(name, content)
	})
	if err != nil {
		return nil, err
	}
	c.documented()
	slices.Sort(c.findings)
	return c.findings, nil
}

// skipped are the directories that the go command does not build either.
func skipped(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// unbuilt tells whether a file is in no build: a generator, or a list of
// dependencies.
func unbuilt(content []byte) bool {
	for line := range bytes.Lines(content) {
		if e, err := constraint.Parse(strings.TrimSpace(string(line))); err == nil {
			return e.String() == "ignore"
		}
		if bytes.HasPrefix(line, []byte("package ")) {
			break
		}
	}
	return false
}

// pkg is what is known of a directory.
type pkg struct {
	main, documented, docFile bool
}

type checker struct {
	module   string
	rows     []Row
	set      *token.FileSet
	packages map[string]*pkg
	findings []string
}

func (c *checker) find(place, format string, args ...any) {
	c.findings = append(c.findings, place+": "+fmt.Sprintf(format, args...))
}

func (c *checker) file(name string, content []byte) error {
	if n := bytes.Count(content, []byte("\n")); n > MaxLines {
		c.find(name, "%d lines, at most %d", n, MaxLines)
	}
	f, err := parser.ParseFile(c.set, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if strings.HasSuffix(name, "_test.go") || unbuilt(content) {
		return nil
	}
	dir := path.Dir(name)
	p := c.packages[dir]
	if p == nil {
		p = &pkg{}
		c.packages[dir] = p
		c.named(dir)
	}
	p.main = p.main || f.Name.Name == "main"
	p.documented = p.documented || f.Doc != nil
	p.docFile = p.docFile || path.Base(name) == "doc.go" && f.Doc != nil
	c.imports(dir, f)
	c.calls(dir, f)
	return nil
}

// named checks the directory's name and its place in the table.
func (c *checker) named(dir string) {
	switch path.Base(dir) {
	case "util", "utils", "common", "helper", "helpers", "types", "misc", "shared":
		c.find(dir, "a package is named for what it holds")
	}
	if _, ok := RowOf(c.rows, dir); !ok && !exempt(dir) {
		c.find(dir, "has no row in the import table")
	}
}

// exempt are the directories that stand beside the house.
func exempt(dir string) bool { return within(dir, "internal") || within(dir, "bench") }

func (c *checker) imports(dir string, f *ast.File) {
	row, ok := RowOf(c.rows, dir)
	if !ok {
		return
	}
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		target, ours := strings.CutPrefix(imported, c.module+"/")
		if ours && !row.Allows(target) {
			c.find(c.set.Position(spec.Pos()).String(), "%s may not import %s", row.Package, target)
		}
	}
}

// calls looks for exits below cmd and for init functions.
func (c *checker) calls(dir string, f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			c.find(c.set.Position(fn.Pos()).String(), "no init functions")
		}
	}
	if within(dir, "cmd") || within(dir, "bench") {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch x.Name + "." + s.Sel.Name {
		case "os.Exit", "syscall.Exit", "unix.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln":
			c.find(c.set.Position(s.Pos()).String(), "%s.%s belongs into cmd", x.Name, s.Sel.Name)
		}
		return true
	})
}

// documented checks that every package says what it is, in a doc.go unless it
// is a command.
func (c *checker) documented() {
	for dir, p := range c.packages {
		switch {
		case !p.documented:
			c.find(dir, "no package comment")
		case !p.main && !p.docFile:
			c.find(dir, "the package comment belongs into doc.go")
		}
	}
}
