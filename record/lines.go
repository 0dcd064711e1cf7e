package record

import (
	"errors"
	"fmt"
	"os"
)

// lines is events.jsonl.
type lines struct {
	name             string
	file             file
	filling, writing []byte
	written          int64
}

func (l *lines) take() {
	l.writing = append(l.writing, l.filling...)
	l.filling = l.filling[:0]
}

func (l *lines) flush() error {
	if len(l.writing) == 0 {
		return nil
	}
	if _, err := l.file.Write(l.writing); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", l.name, err), l.file.Truncate(l.written))
	}
	l.written += int64(len(l.writing))
	l.writing = l.writing[:0]
	return nil
}

func (l *lines) close() error { return errors.Join(l.flush(), l.file.Close()) }

// replaceFile writes a file so that a reader sees the old content or the new.
func replaceFile(path string, content []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, content, 0o666); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}
