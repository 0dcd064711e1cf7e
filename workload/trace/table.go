package trace

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// columns are the names of a table's columns, in lower case without blanks and
// underscores, and where they stand.
type columns map[string]int

func columnName(s string) string {
	return strings.NewReplacer(" ", "", "_", "", "\"", "").Replace(strings.ToLower(strings.TrimSpace(s)))
}

func (c columns) has(names ...string) bool {
	for _, n := range names {
		if _, ok := c[n]; !ok {
			return false
		}
	}
	return true
}

// tableReader reads the lines of a CSV table.
type tableReader struct {
	read   func(*fields, *Row)
	fields fields
}

// openTable reads the header of a table and finds out what it is of.
func (r *Reader) openTable(asked *format, lines *lineReader) error {
	head, err := lines.next()
	if err != nil {
		return fmt.Errorf("%s:%d: %w", r.name, lines.line, err)
	}
	t := &tableReader{fields: fields{kept: map[string]string{}}}
	if err := t.fields.split(head); err != nil {
		return fmt.Errorf("%s:%d: expected JSON lines, a JSON array, or a CSV header, found a line whose %w%s", r.name, lines.line, err, noHeader(head))
	}
	t.fields.columns = columns{}
	twice := 0
	for i, f := range t.fields.list {
		n := columnName(string(f))
		if n != "" && t.fields.columns.has(n) {
			twice = i
		} else if n != "" {
			t.fields.columns[n] = i
		}
	}
	if windows(t.fields.list) {
		return fmt.Errorf("%s: %w", r.name, ErrServeGen)
	}
	if twice > 0 {
		return fmt.Errorf("%s:%d: expected each column once, found the name of column %d before it too", r.name, lines.line, twice+1)
	}
	for _, f := range formats() {
		if f.header == nil || asked != nil && asked.name != f.name || !f.header(t.fields.columns) {
			continue
		}
		if f.model {
			return fmt.Errorf("%s: %w", r.name, ErrServeGen)
		}
		r.format, r.pieces, r.decoder = &f, lines, t
		t.read = f.table
		return nil
	}
	if asked != nil {
		return fmt.Errorf("%s:%d: is not %s: its columns are others", r.name, lines.line, asked.name)
	}
	return fmt.Errorf("%s:%d: expected JSON lines, a JSON array, or a CSV header with a column of prompt lengths "+
		"(ContextTokens, Request tokens, input_tokens or num_prefill_tokens)%s", r.name, lines.line, noHeader(head))
}

func (t *tableReader) decode(piece []byte, out *batch) {
	if err := t.fields.split(piece); err != nil {
		out.fail(err)
		return
	}
	t.fields.err = nil
	row := out.row()
	if t.read(&t.fields, row); t.fields.err != nil {
		out.drop(t.fields.err)
	}
}

// fields are those of one line, read by the names of their columns.
type fields struct {
	columns columns
	list    [][]byte
	kept    map[string]string // names seen before
	err     error
}

func (f *fields) split(line []byte) error {
	f.list = f.list[:0]
	if bytes.IndexByte(line, '"') >= 0 {
		quoted, err := csv.NewReader(bytes.NewReader(line)).Read()
		if err != nil {
			return errors.New("quotes are not closed as CSV wants them")
		}
		for _, q := range quoted {
			f.list = append(f.list, []byte(q))
		}
		return nil
	}
	for {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			f.list = append(f.list, bytes.TrimSpace(line))
			return nil
		}
		f.list = append(f.list, bytes.TrimSpace(line[:i]))
		line = line[i+1:]
	}
}

// get returns the first of the columns that there is, its number from 1, and
// whether it is there.
func (f *fields) get(names ...string) (field []byte, column int, there bool) {
	for _, n := range names {
		if i, ok := f.columns[n]; ok {
			if i < len(f.list) {
				return f.list[i], i + 1, true
			}
			return nil, i + 1, true
		}
	}
	return nil, 0, false
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// text returns a field as a text, of which the same one is kept for all lines.
func (f *fields) text(names ...string) string {
	b, _, _ := f.get(names...)
	if s, ok := f.kept[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(f.kept) < 4096 {
		f.kept[s] = s
	}
	return s
}

// tokens returns a length; a column that is there must have it.
func (f *fields) tokens(least int64, names ...string) int64 {
	b, column, there := f.get(names...)
	if !there {
		return 0
	}
	n, exact, ok := decimal(b, 0)
	if !ok || !exact || n < least || n > MaxTokens {
		f.fail("field %d: expected a number of tokens from %d to %d, found %s", column, least, int64(MaxTokens), written(b))
	}
	return n
}

// count returns a number of things; an empty field is none.
func (f *fields) count(names ...string) int64 {
	b, column, there := f.get(names...)
	if !there || len(b) == 0 {
		return 0
	}
	n, exact, ok := decimal(b, 0)
	if !ok || !exact || n < 0 || n > 1_000_000 {
		f.fail("field %d: expected a number from 0 on, found %s", column, written(b))
	}
	return n
}

// at sets the moment of a row; a column that is there must have it.
func (f *fields) at(r *Row, names ...string) {
	b, column, there := f.get(names...)
	if !there {
		return
	}
	ns, absolute, zoneless, ok := instant(b, seconds)
	if !ok {
		if u := unitOf(b); u != "" {
			f.fail("field %d: expected seconds or a time such as 2023-11-16 18:15:46.6805900, found %s, which looks like %s since 1970: write the column in seconds, or the rows as JSON lines "+
				"and units: {at: %s} in a mapping file (--dataset-map)", column, written(b), u, u)
			return
		}
		f.fail("field %d: expected seconds or a time such as 2023-11-16 18:15:46.6805900, found %s", column, written(b))
		return
	}
	r.At, r.Absolute, r.Timed, r.Zoneless = ns, absolute, true, zoneless
}

// span returns a length of time in seconds; an empty field is none.
func (f *fields) span(names ...string) time.Duration {
	b, column, there := f.get(names...)
	if !there || len(b) == 0 {
		return 0
	}
	n, _, ok := decimal(b, seconds)
	if !ok || n < 0 || n > math.MaxInt64/2 {
		f.fail("field %d: expected seconds from 0 on, found %s", column, written(b))
		return 0
	}
	return time.Duration(n)
}

// written is a field for an error: where it is a number or a time, or wants to
// be, as it stands; a text must not reach errors.
func written(b []byte) string {
	if len(b) > 40 || len(bytes.Trim(b, "0123456789+-.,:/eETZ ")) > 0 {
		return fmt.Sprintf("a text of %d bytes", len(b))
	}
	return strconv.Quote(string(b))
}

// windows recognises ServeGen's windows of a client, which have no header:
// start, rate, CV, family and two parameters.
func windows(list [][]byte) bool {
	if len(list) != 6 {
		return false
	}
	_, _, start := decimal(list[0], 0)
	_, _, rate := decimal(list[1], 6)
	switch strings.ToLower(string(list[3])) {
	case "gamma", "weibull", "exponential", "poisson", "lognormal", "pareto":
		return start && rate
	}
	return false
}
