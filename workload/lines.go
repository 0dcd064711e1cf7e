package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine bounds a line of a dataset.
	maxLine = 16 << 20
	// keptErrors is how many bad lines are kept word for word.
	keptErrors = 10
)

// LineError is a line of a dataset that could not be used.
type LineError struct {
	Name string // of the dataset
	Unit string // what Line counts: line, or entry of a JSON array
	Line int64  // from 1
	Err  error
}

// Error names dataset and line.
func (e *LineError) Error() string {
	if e.Unit == "entry" {
		return fmt.Sprintf("%s: entry %d: %v", e.Name, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns the reason alone.
func (e *LineError) Unwrap() error { return e.Err }

var errLongLine = fmt.Errorf("the line is longer than %d MiB", maxLine>>20)

// lineReader reads lines of bounded length and counts them.
type lineReader struct {
	r    *bufio.Reader
	line int64 // of what next returned last, from 1
	long []byte
}

// next returns a line without its end, valid until the next call; errLongLine
// for one that is too long, which is skipped; io.EOF after the last.
func (l *lineReader) next() ([]byte, error) {
	l.line++
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return trimEnd(part), nil
	}
	l.long = append(l.long[:0], part...)
	tooLong := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if tooLong = tooLong || len(l.long)+len(part) > maxLine; !tooLong {
			l.long = append(l.long, part...)
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case tooLong:
		return nil, errLongLine
	case err != nil && len(l.long) == 0:
		return nil, io.EOF
	}
	return trimEnd(l.long), nil
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}
