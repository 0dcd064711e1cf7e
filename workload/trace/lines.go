package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine bounds a line, and an entry of a JSON array.
	maxLine = 16 << 20
	// maxEndless bounds how far the end of one of them is looked for, so that
	// a content without ends of lines does not go on for ever.
	maxEndless = 1 << 30
	// keptErrors is how many bad lines are kept word for word.
	keptErrors = 10
)

// LineError is a line that could not be used.
type LineError struct {
	Name string // of the source
	Unit string // what Line counts: line, entry of a JSON array, or record
	Line int64  // from 1
	Err  error
}

// Error names source and line.
func (e *LineError) Error() string {
	if e.Unit != unitLine {
		return fmt.Sprintf("%s: %s %d: %v", e.Name, e.Unit, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns the reason alone.
func (e *LineError) Unwrap() error { return e.Err }

// What the pieces of a source are.
const (
	unitLine   = "line"
	unitEntry  = "entry"
	unitRecord = "record"
)

// pieces are what a source is read by: its lines, the entries of its array.
type pieces interface {
	// next returns a piece, valid until the next call. A *badPiece is of that
	// piece alone; io.EOF is behind the last; any other error is the end.
	next() ([]byte, error)
	// place says what next returned last.
	place() (unit string, number int64)
}

// badPiece is why a piece cannot be used.
type badPiece struct{ error }

func (b *badPiece) Unwrap() error { return b.error }

func tooLong() error {
	return &badPiece{fmt.Errorf("is longer than %d MiB", maxLine>>20)}
}

// endless is why reading ends in a line or an entry that does not.
func endless(what string, most int64) error {
	return fmt.Errorf("the %s does not end within %s: expected lines, or entries of a JSON array, of at most %d MiB", what, size(most), maxLine>>20)
}

func size(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d bytes", n)
}

// lineReader reads lines of bounded length and counts them. Empty ones are
// passed over.
type lineReader struct {
	r    *bufio.Reader
	line int64 // of what next returned last, from 1
	torn int64 // the last line, where it has no end
	long []byte
	most int64 // bytes in which a line must end; 0: maxEndless
}

func (l *lineReader) place() (string, int64) { return unitLine, l.line }

// next returns a line without its end.
func (l *lineReader) next() ([]byte, error) {
	for range cmp.Or(l.most, maxEndless) {
		b, err := l.any()
		if err != nil || !blank(b) {
			return b, err
		}
	}
	return nil, fmt.Errorf("nothing but empty lines follow, %d of them", cmp.Or(l.most, maxEndless))
}

// any returns the next line, empty or not.
func (l *lineReader) any() ([]byte, error) {
	b, err := l.raw()
	return trimEnd(b), err
}

// raw returns the next line with its end.
func (l *lineReader) raw() ([]byte, error) {
	l.line++
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return part, nil
	}
	l.long = append(l.long[:0], part...)
	long, seen, most := false, int64(len(part)), cmp.Or(l.most, maxEndless)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if seen += int64(len(part)); seen > most {
			return nil, endless(unitLine, most)
		}
		if long = long || len(l.long)+len(part) > maxLine; !long {
			l.long = append(l.long, part...)
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case long:
		return nil, tooLong()
	case err != nil && len(l.long) == 0:
		return nil, io.EOF
	}
	if err != nil {
		l.torn = l.line
	}
	return l.long, nil
}

// unended is the number of the last line where it has no end and was read, 0
// where not.
func (l *lineReader) unended() int64 { return l.torn }

// errTorn is part of the error of a last line without an end.
// A last line with an end may lack its rest too: errNoRest.
var errTorn = errors.New("the last line does not end: it was cut off, or is still being written")

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
