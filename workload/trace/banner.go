package trace

import (
	"bytes"
	"slices"
)

// mostBanner is how many lines of text may stand in front of JSON lines.
const mostBanner = 5

// banner tells whether the content begins with a few lines of plain text, such
// as a program or nohup writes, and goes on with JSON lines.
func (r *Reader) banner() bool {
	first, at := r.lineAt(0)
	if plain := bytes.TrimLeft(first, " \t\r"); !text(plain) || recordHead(first) || tableHead(first) {
		return false
	}
	for range mostBanner {
		var line []byte
		if line, at = r.lineAt(at); at < 0 {
			return false
		}
		if bytes.HasPrefix(line, []byte(`{"`)) || bytes.HasPrefix(line, []byte(`{ "`)) {
			return true
		}
	}
	return false
}

// text tells whether a line begins neither an object nor an array of some.
func text(line []byte) bool {
	if len(line) == 0 || line[0] == '{' {
		return false
	}
	inner := bytes.TrimLeft(line[1:], " \t\r")
	return line[0] != '[' || len(inner) > 0 && bytes.IndexByte([]byte(`{["]`), inner[0]) < 0
}

// tableHead tells whether a line is the header of a table that is read.
func tableHead(line []byte) bool {
	f := fields{columns: columns{}}
	if f.split(line) != nil {
		return false
	}
	for i, name := range f.list {
		f.columns[columnName(string(name))] = i
	}
	return windows(f.list) || slices.ContainsFunc(formats(), func(known format) bool {
		return known.header != nil && known.header(f.columns)
	})
}

// lineAt returns the line that begins so many bytes ahead and where the next
// one does, waiting for its end; -1 where nothing begins there, or beyond what
// is read ahead.
func (r *Reader) lineAt(from int) (line []byte, next int) {
	if from < 0 {
		return nil, -1
	}
	for {
		b, err := r.source.Peek(r.source.Buffered())
		if i := bytes.IndexByte(b[min(from, len(b)):], '\n'); i >= 0 {
			return b[from : from+i], from + i + 1
		}
		if err == nil {
			_, err = r.source.Peek(len(b) + 1)
		}
		if err != nil { // the end, or the buffer is full
			if from >= len(b) {
				return nil, -1
			}
			return b[from:], len(b)
		}
	}
}
