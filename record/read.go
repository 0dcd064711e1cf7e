package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// extent says how much of an .arrows file is whole.
type extent struct {
	ended       bool // the end mark is there
	whole, size int64
}

// torn returns the number of bytes after the last whole batch.
func (e extent) torn() int64 { return e.size - e.whole }

// arrowBatches hands every whole batch of an .arrows file to yield, which
// returns false to stop. A file that ends in the middle of a batch, is empty
// or does not exist is read up to there: it grows still, or its writer died.
func arrowBatches(path string, yield func(arrow.RecordBatch) bool) (e extent, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return extent{}, nil
	}
	if err != nil {
		return extent{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return extent{}, err
	}
	e, err = wholeBatches(bufio.NewReaderSize(f, 256<<10), info.Size(), yield)
	if err != nil {
		return e, fmt.Errorf("%s: after byte %d: %w", path, e.whole, err)
	}
	return e, nil
}

// wholeBatches is arrowBatches on a reader of size bytes.
func wholeBatches(r io.Reader, size int64, yield func(arrow.RecordBatch) bool) (extent, error) {
	src := &tail{r: r}
	e, err := readStream(src, size, yield)
	if src.ended {
		return e, nil // torn, not broken
	}
	return e, err
}

// slack is how far beyond its file a torn batch may reach.
const slack = 64 << 20

func readStream(src *tail, size int64, yield func(arrow.RecordBatch) bool) (e extent, err error) {
	e.size = size
	r, err := ipc.NewReader(src, ipc.WithBodySizeLimit(size+slack), ipc.WithMetadataSizeLimit(size+slack))
	if err != nil {
		return e, err
	}
	defer r.Release()
	e.whole = src.n
	for r.Next() {
		e.whole = src.n
		if !yield(r.RecordBatch()) {
			return e, nil
		}
	}
	if r.Err() == nil && !src.ended {
		e.ended, e.whole = true, src.n
	}
	return e, r.Err()
}

// tail counts what is read and remembers whether it came to the end.
type tail struct {
	r     io.Reader
	n     int64
	ended bool
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if err == io.EOF {
		t.ended = true
	}
	return n, err
}

// scanner hands over the batches of one file.
type scanner func(yield func(arrow.RecordBatch) bool) error

// rows turns batches into rows. One R is used for all of them.
func rows[R any](t table[R], scan scanner) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		var row R
		var bad error
		stopped := false
		err := scan(func(batch arrow.RecordBatch) bool {
			bad = eachRow(t, batch, &row, func(r *R) bool {
				stopped = !yield(r, nil)
				return !stopped
			})
			return bad == nil && !stopped
		})
		if err = errors.Join(err, bad); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// eachRow calls yield for the rows of a batch until it returns false.
func eachRow[R any](t table[R], batch arrow.RecordBatch, row *R, yield func(*R) bool) error {
	var setters []func(int, *R)
	if err := guarded(func() { setters = t.setters(batch) }); err != nil {
		return err
	}
	for i := range int(batch.NumRows()) {
		if err := set(setters, i, row); err != nil {
			return err
		}
		if !yield(row) {
			return nil
		}
	}
	return nil
}

func set[R any](setters []func(int, *R), i int, row *R) (err error) {
	defer unreadable(&err)
	for _, f := range setters {
		f(i, row)
	}
	return nil
}

// guarded calls f, whose panic on inconsistent data becomes an error.
func guarded(f func()) (err error) {
	defer unreadable(&err)
	f()
	return nil
}

func unreadable(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("inconsistent data: %v", p)
	}
}
