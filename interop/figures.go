package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// SourceFile is the name of the file that keeps what another tool said of
// itself, beside the rows or without them.
const SourceFile = "imported.json"

// SourceSchema is the version of that file.
const SourceSchema = "tokamak.imported/1"

// encode returns the text of imported.json.
func (s *Source) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Schema string `json:"schema"`
		*Source
	}{SourceSchema, s})
	return b.Bytes(), err
}

func (s *Source) writeFile(w *record.Writer) error {
	b, err := s.encode()
	if err != nil {
		return err
	}
	return w.WriteFile(SourceFile, b)
}

// write makes a directory with imported.json alone: there are no rows. Nothing
// is written where dir is empty.
func (s *Source) write(dir string) error {
	if dir == "" {
		return nil
	}
	b, err := s.encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, SourceFile), b, 0o666)
}

// Text writes what the file says of itself, for people.
func (s *Source) Text() string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-11s%s\n", label, report.Line(text))
		}
	}
	tool := s.Tool
	if s.Version != "" {
		tool += " " + s.Version
	}
	line("tool", tool)
	line("file", s.File)
	line("target", s.Target)
	line("model", s.Model)
	line("load", s.Load)
	b.WriteByte('\n')
	wide := 0
	for _, f := range s.Figures {
		wide = max(wide, utf8.RuneCountInString(report.Line(f.Name)))
	}
	for _, f := range s.Figures {
		unit := ""
		if f.Unit != "" {
			unit = " " + f.Unit
		}
		fmt.Fprintf(&b, "%-*s  %s%s\n", wide, report.Line(f.Name), strconv.FormatFloat(f.Value, 'f', -1, 64), report.Line(unit))
	}
	if len(s.Lost)+len(s.Doubts) > 0 {
		b.WriteByte('\n')
	}
	for _, l := range s.Lost {
		line("not told", l)
	}
	for _, d := range s.Doubts {
		line("doubtful", d)
	}
	return b.String()
}
