package fit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TableError is what is wrong with a table: its line and column from 1.
type TableError struct {
	Name         string
	Line, Column int
	Expected     string
}

// Error names file, line, column and what was expected there.
func (e *TableError) Error() string {
	return fmt.Sprintf("%s:%d:%d: expected %s", e.Name, e.Line, e.Column, e.Expected)
}

// table reads the columns of a CSV by their names.
type csvTable struct {
	name   string
	reader *csv.Reader
	column map[string]int
	row    []string
	line   int
}

func openTable(name string, r io.Reader, columns ...string) (*csvTable, error) {
	t := &csvTable{name: name, reader: csv.NewReader(r), column: map[string]int{}}
	t.reader.ReuseRecord = true
	if err := t.next(); err != nil {
		if errors.Is(err, io.EOF) {
			err = &TableError{name, 1, 1, "the columns " + strings.Join(columns, ", ") + ", found nothing"}
		}
		return nil, err
	}
	for i, c := range t.row {
		t.column[strings.TrimSpace(c)] = i
	}
	for _, c := range columns {
		if _, ok := t.column[c]; !ok {
			return nil, &TableError{name, 1, 1, "the columns " + strings.Join(columns, ", ") + ": there is no " + c}
		}
	}
	return t, nil
}

// next reads a row; io.EOF after the last.
func (t *csvTable) next() error {
	row, err := t.reader.Read()
	var bad *csv.ParseError
	switch {
	case errors.As(err, &bad):
		return &TableError{t.name, bad.Line, max(bad.Column, 1), "a row of comma-separated values"}
	case err != nil:
		return err
	}
	t.row = row
	t.line, _ = t.reader.FieldPos(0)
	return nil
}

// number reads a column of the row, from low to high.
func (t *csvTable) number(column string, low, high float64) (float64, error) {
	i := t.column[column]
	x, err := strconv.ParseFloat(t.row[i], 64)
	if err != nil || !(x >= low && x <= high) {
		_, at := t.reader.FieldPos(i)
		return 0, &TableError{t.name, t.line, at, fmt.Sprintf("%s to be a number from %g to %g", column, low, high)}
	}
	return x, nil
}
