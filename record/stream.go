package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// file is what a stream is written to.
type file interface {
	io.Writer
	io.Closer
	Truncate(size int64) error
}

// batch collects rows until they are written. It is owned by one goroutine at
// a time: the one that appends, or the one that writes.
type batch[R any] struct {
	builder *array.RecordBuilder
	append  []func(*R)
	rows    int
}

func newBatch[R any](t table[R]) *batch[R] {
	b := &batch[R]{builder: array.NewRecordBuilder(&pool{}, t.schema())}
	b.append = t.appenders(b.builder)
	return b
}

func (b *batch[R]) add(r *R) {
	for _, f := range b.append {
		f(r)
	}
	b.rows++
}

// stream is one .arrows file that grows: an Arrow IPC stream, written batch by
// batch, each with one write.
type stream[R any] struct {
	name    string
	file    file
	written int64 // bytes of whole batches in the file
	rows    int64

	filling *batch[R] // guarded by the writer's lock
	spare   *batch[R] // nil while a flush is under way

	ipc     *ipc.Writer
	encoded bytes.Buffer // what is not in the file yet
	failed  bool         // a write failed: the file may end in a torn batch
}

func newStream[R any](name string, f file, t table[R]) *stream[R] {
	s := &stream[R]{name: name, file: f, filling: newBatch(t), spare: newBatch(t)}
	s.ipc = ipc.NewWriter(&s.encoded, ipc.WithSchema(t.schema()))
	return s
}

// take swaps the filled batch against an empty one; nil: nothing to write.
func (s *stream[R]) take() *batch[R] {
	if s.filling.rows == 0 || s.spare == nil {
		return nil
	}
	full := s.filling
	s.filling, s.spare = s.spare, nil
	return full
}

// encode turns a batch into bytes to be written and empties it.
func (s *stream[R]) encode(b *batch[R]) error {
	rows := b.rows
	rec := b.builder.NewRecordBatch()
	defer rec.Release()
	b.rows = 0
	if err := s.ipc.Write(rec); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.rows += int64(rows)
	return nil
}

// flush writes what is encoded. After a failure the file is cut back to its
// last whole batch, and the bytes are kept for another try.
func (s *stream[R]) flush() error {
	if s.encoded.Len() == 0 {
		return nil
	}
	if s.failed {
		if err := s.file.Truncate(s.written); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		s.failed = false
	}
	n, err := s.file.Write(s.encoded.Bytes())
	if err == nil && n < s.encoded.Len() {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.failed = true
		if terr := s.file.Truncate(s.written); terr == nil {
			s.failed = false
		}
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.written += int64(n)
	s.encoded.Reset()
	return nil
}

// close ends the stream with its end mark.
func (s *stream[R]) close() error {
	err := s.ipc.Close()
	return errors.Join(err, s.flush(), s.file.Close())
}
