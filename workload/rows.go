package workload

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// rows reads one dataset from its beginning. A *LineError is of one line, and
// the next may be good; any other error is the end.
type rows interface {
	next() (row, error)
}

// openRows recognises a dataset by its first byte: { JSON lines, [ a JSON array
// (ShareGPT), else CSV with a header line.
func openRows(name string, r io.Reader) (rows, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	if bom, _ := b.Peek(3); string(bom) == "\xef\xbb\xbf" {
		_, _ = b.Discard(3)
	}
	lines := &lineReader{r: b}
	for {
		c, err := b.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: is empty", name)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case c == '\n':
			lines.line++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			continue
		}
		_ = b.UnreadByte()
		switch c {
		case '{':
			return &jsonLines{name, lines}, nil
		case '[':
			return newJSONArray(name, b)
		}
		return newCSV(name, lines)
	}
}

// jsonLines is one object a line.
type jsonLines struct {
	name  string
	lines *lineReader
}

func (j *jsonLines) next() (row, error) {
	for {
		b, err := j.lines.next()
		if errors.Is(err, errLongLine) {
			return row{}, &LineError{j.name, "line", j.lines.line, err}
		}
		if err != nil {
			return row{}, err
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		r, err := parseRow(b)
		if err != nil {
			return row{}, &LineError{j.name, "line", j.lines.line, err}
		}
		return r, nil
	}
}

// jsonArray is the elements of one array, read one by one.
type jsonArray struct {
	name    string
	decoder *json.Decoder
	limit   *limitedReader
	entry   int64
}

func newJSONArray(name string, r io.Reader) (*jsonArray, error) {
	l := &limitedReader{r: r, left: maxLine}
	d := json.NewDecoder(l)
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &jsonArray{name: name, decoder: d, limit: l}, nil
}

func (j *jsonArray) next() (row, error) {
	j.limit.left = maxLine
	if !j.decoder.More() {
		if _, err := j.decoder.Token(); err != nil {
			return row{}, fmt.Errorf("%s: the array does not end: cut short after entry %d", j.name, j.entry)
		}
		return row{}, io.EOF
	}
	j.entry++
	var raw json.RawMessage
	if err := j.decoder.Decode(&raw); err != nil {
		if !errors.Is(err, errLongEntry) {
			err = fmt.Errorf("not JSON at byte %d", j.decoder.InputOffset())
		}
		return row{}, fmt.Errorf("%s: entry %d: %w", j.name, j.entry, err)
	}
	r, err := parseRow(raw)
	if err != nil {
		return row{}, &LineError{j.name, "entry", j.entry, err}
	}
	return r, nil
}

var errLongEntry = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// limitedReader bounds what is read for one entry.
type limitedReader struct {
	r    io.Reader
	left int
}

func (l *limitedReader) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongEntry
	}
	n, err := l.r.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// csvRows is a table of lengths with a header line.
type csvRows struct {
	name  string
	lines *lineReader
	// columns of the fields; -1: none
	at, input, output, session, class, tenant int
	fromStart                                 bool
}

func newCSV(name string, lines *lineReader) (*csvRows, error) {
	head, err := lines.next()
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, lines.line, err)
	}
	c := &csvRows{name: name, lines: lines, at: -1, input: -1, output: -1, session: -1, class: -1, tenant: -1}
	fields, err := splitCSV(head)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, lines.line, err)
	}
	for i, f := range fields {
		switch strings.NewReplacer(" ", "", "_", "").Replace(strings.ToLower(f)) {
		case "timestamp", "arrivaltime", "arrivedat":
			c.at = i
		case "at":
			c.at, c.fromStart = i, true
		case "contexttokens", "requesttokens", "inputtokens", "numprefilltokens", "inputlength", "prompttokens", "inputtoks":
			c.input = i
		case "generatedtokens", "responsetokens", "outputtokens", "numdecodetokens", "outputlength", "completiontokens", "outputtoks":
			c.output = i
		case "sessionid":
			c.session = i
		case "class":
			c.class = i
		case "tenant":
			c.tenant = i
		}
	}
	if c.input < 0 {
		return nil, fmt.Errorf("%s:%d: expected JSON lines, a JSON array, or a CSV header with a column of prompt lengths "+
			"(ContextTokens, Request tokens, input_tokens or num_prefill_tokens)", name, lines.line)
	}
	return c, nil
}

func splitCSV(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), ","), nil
	}
	fields, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil {
		return nil, errors.New("quotes are not closed as CSV wants them")
	}
	return fields, nil
}

func (c *csvRows) next() (row, error) {
	for {
		line, err := c.lines.next()
		if err != nil && !errors.Is(err, errLongLine) {
			return row{}, err
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r row
		if err == nil {
			r, err = c.parse(line)
		}
		if err != nil {
			return row{}, &LineError{c.name, "line", c.lines.line, err}
		}
		return r, nil
	}
}

func (c *csvRows) parse(line []byte) (row, error) {
	fields, err := splitCSV(line)
	if err != nil {
		return row{}, err
	}
	field := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return strings.TrimSpace(fields[i])
	}
	r := row{session: field(c.session), class: field(c.class), tenant: field(c.tenant)}
	if r.input, err = tokens(field(c.input), c.input, 1); err != nil {
		return row{}, err
	}
	if c.output >= 0 {
		if r.output, err = tokens(field(c.output), c.output, 0); err != nil {
			return row{}, err
		}
	}
	if c.at >= 0 {
		r.timed, r.origin = true, !c.fromStart
		if r.at, err = stamp(field(c.at)); err != nil {
			return row{}, fmt.Errorf("field %d: %w", c.at+1, err)
		}
		if c.fromStart && r.at < 0 {
			return row{}, fmt.Errorf("field %d: expected seconds from the start, found %.40q", c.at+1, field(c.at))
		}
	}
	return r, nil
}

func tokens(s string, column int, least int64) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > maxTokens {
		return 0, fmt.Errorf("field %d: expected a number of tokens from %d to %d, found %.40q", column+1, least, int64(maxTokens), s)
	}
	return n, nil
}

// stamp reads seconds, or civil time to the nanosecond.
func stamp(s string) (int64, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(x) < 1<<62/1e9 {
		return int64(math.Round(float64(x * 1e9))), nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1900 && t.Year() < 2200 {
			return t.UnixNano(), nil
		}
	}
	return 0, fmt.Errorf("expected seconds or a time such as 2023-11-16 18:15:46.6805900, found %.40q", s)
}
