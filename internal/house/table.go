package house

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Row is one line of the import table.
type Row struct {
	Package string   // directory from the root
	May     []string // directories it may import, sorted
	All     bool     // it may import everything
}

// Allows tells whether the row's package may import dir. A row stands for the
// directories below its own too.
func (r Row) Allows(dir string) bool {
	return r.All || within(dir, r.Package) || slices.ContainsFunc(r.May, func(m string) bool { return within(dir, m) })
}

func within(dir, row string) bool { return dir == row || strings.HasPrefix(dir, row+"/") }

var code = regexp.MustCompile("`([^`]+)`")

// ParseTable reads the table whose head is "package | its one job | may
// import". In its last column "–" is nothing, "all" everything, "above" every
// row above, and else the names in backquotes count.
func ParseTable(document []byte) ([]Row, error) {
	var rows []Row
	inside := false
	for line := range bytes.Lines(document) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(string(line)), "|"), "|")
		if len(cells) != 3 {
			inside = false
			continue
		}
		first, last := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2])
		switch {
		case first == "package" && strings.HasPrefix(last, "may import"):
			inside = true
		case inside && !strings.HasPrefix(first, "-"):
			row, err := parseRow(first, last, rows)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no import table found")
	}
	return rows, nil
}

func parseRow(first, last string, above []Row) (Row, error) {
	name := code.FindStringSubmatch(first)
	if name == nil {
		return Row{}, fmt.Errorf("row %q: no package in backquotes", first)
	}
	row := Row{Package: name[1], All: last == "all"}
	if strings.Contains(last, "above") {
		for _, r := range above {
			row.May = append(row.May, r.Package)
		}
	}
	for _, m := range code.FindAllStringSubmatch(last, -1) {
		row.May = append(row.May, m[1])
	}
	if len(row.May) == 0 && !row.All && last != "–" {
		return Row{}, fmt.Errorf("row %q: %q says nothing about imports", first, last)
	}
	slices.Sort(row.May)
	row.May = slices.Compact(row.May)
	return row, nil
}

// RowOf returns the row that a directory belongs to.
func RowOf(rows []Row, dir string) (Row, bool) {
	for _, r := range rows {
		if within(dir, r.Package) {
			return r, true
		}
	}
	return Row{}, false
}
