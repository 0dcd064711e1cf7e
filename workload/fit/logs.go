package fit

import (
	"errors"
	"io"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Log is one file of a log, as [trace.Open] reads it.
type Log interface {
	Rows
	Skipped() (int64, []*trace.LineError)
	Close() error
}

// noter says about a log what no line of it shows.
type noter interface{ Notes() []string }

// Logs reads several files one behind the other as one log. It belongs to one
// goroutine.
type Logs struct {
	names   []string
	open    func(name string) (Log, error)
	at      Log
	opened  int
	skipped int64
	first   []*trace.LineError
	notes   []string
}

// NewLogs returns a reader of the named files, each opened when the one before
// has ended.
func NewLogs(names []string, open func(name string) (Log, error)) *Logs {
	return &Logs{names: names, open: open}
}

// Next returns the next row, valid until the next call; io.EOF after the last
// of the last file.
func (l *Logs) Next() (*trace.Row, error) {
	for {
		if l.at == nil {
			if len(l.names) == 0 {
				return nil, io.EOF
			}
			at, err := l.open(l.names[0])
			if err != nil {
				return nil, err
			}
			l.names, l.at = l.names[1:], at
			l.opened++
		}
		r, err := l.at.Next()
		if !errors.Is(err, io.EOF) {
			return r, err
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
}

// Opened returns how many files were opened so far.
func (l *Logs) Opened() int { return l.opened }

// Skipped returns how many lines of all files so far could not be used, and
// the first few.
func (l *Logs) Skipped() (int64, []*trace.LineError) {
	if l.at == nil {
		return l.skipped, l.first
	}
	n, first := l.at.Skipped()
	return l.skipped + n, append(l.first[:len(l.first):len(l.first)], first...)
}

// Notes are the sentences of all files read to their end, each once.
func (l *Logs) Notes() []string { return l.notes }

// Close ends the reading.
func (l *Logs) Close() error {
	if l.at == nil {
		return nil
	}
	l.skipped, l.first = l.Skipped()
	at := l.at
	if n, ok := at.(noter); ok {
		for _, words := range n.Notes() {
			if !slices.Contains(l.notes, words) {
				l.notes = append(l.notes, words)
			}
		}
	}
	l.at = nil
	return at.Close()
}
