package trace

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// asJSON says how a server writes its access log as JSON.
const asJSON = "write it as JSON lines (nginx: log_format with escape=json, Envoy: json_format), with the token counts that a text log does not have"

// foreign recognises contents that are known and not read, by their beginning,
// and says what to do; nil where it is none of them.
func (r *Reader) foreign() error {
	b, _ := r.source.Peek(r.source.Buffered())
	b = b[:min(len(b), 4096)]
	line, _, _ := bytes.Cut(b, []byte("\n"))
	switch {
	case len(b) >= 8 && b[1] == 0 && b[3] == 0 && b[0] != 0 && b[2] != 0:
		return errors.New("is UTF-16 (little-endian, without byte order mark): expected UTF-8: convert it, as with iconv -f UTF-16LE -t UTF-8")
	case len(b) >= 8 && b[0] == 0 && b[2] == 0 && b[1] != 0 && b[3] != 0:
		return errors.New("is UTF-16 (big-endian, without byte order mark): expected UTF-8: convert it, as with iconv -f UTF-16BE -t UTF-8")
	case len(b) >= 262 && string(b[257:262]) == "ustar":
		return errors.New("is a tar archive: unpack it and read the files in it")
	case bytes.HasPrefix(b, []byte("SQLite format 3\x00")):
		return errors.New("is an SQLite database: export the table of requests as CSV or JSON lines")
	case bytes.HasPrefix(b, []byte("\xd0\xcf\x11\xe0")):
		return errors.New("is an Excel workbook: save it as CSV (UTF-8)")
	case binary(b):
		return errors.New("is binary: expected text: JSON lines, a JSON array or CSV, plain, gzip or zstd")
	case regexp.MustCompile(`^\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:`).Match(line):
		return fmt.Errorf("is an access log in text (common or combined format): expected JSON lines: %s", asJSON)
	case regexp.MustCompile(`^\[\d{4}-\d\d-\d\dT[^\]]*\] "`).Match(line):
		return fmt.Errorf("is Envoy's access log in text: expected JSON lines: %s", asJSON)
	}
	return nil
}

// binary tells whether bytes hold what no text does. JSON that has lost a few
// bytes is text.
func binary(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1b' {
			n++
		}
	}
	return n > 0 && n*32 > len(b)
}

// noHeader says why a first line is not the header of a table that is read.
func noHeader(line []byte) string {
	switch {
	case regexp.MustCompile(`^(TRACE|DEBUG|INFO|WARN|WARNING|ERROR)\b`).Match(line), regexp.MustCompile(`^\(?[A-Za-z_]+ pid=\d+\)`).Match(line):
		return "; found messages of a program, which are not read"
	case bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0:
		return "; found columns separated by semicolons: separate them by commas"
	case bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, '\t') >= 0:
		return "; found columns separated by tabs: separate them by commas"
	case len(bytes.Trim(line, "0123456789+-.,:/eETZ\" \r")) == 0:
		return "; found a row of numbers: put a line with the names of the columns in front of it"
	}
	return ""
}
