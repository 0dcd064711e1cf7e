package record

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
)

// rowGroupBytes returns the size in memory at which a row group is closed, for
// a stream of the given size: small for small runs, so that the end of a run
// takes no more memory than the run did, larger where there would be many.
func rowGroupBytes(stream int64) int64 { return min(max(stream/64, 4<<20), 32<<20) }

// convert makes a Parquet file from an .arrows file and extra rows. The file
// appears under its name when it is whole.
func convert[R any](arrows, path string, t table[R], extra []R) (err error) {
	tmp := path + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(tmp)
		}
	}()
	out := bufio.NewWriterSize(f, 256<<10)
	p := newParquetWriter(out, t.schema())
	if info, err := os.Stat(arrows); err == nil {
		p.group = rowGroupBytes(info.Size())
	}
	_, err = arrowBatches(arrows, func(b arrow.RecordBatch) bool { return p.write(b) == nil })
	if err != nil {
		return err
	}
	if len(extra) > 0 {
		b := newBatch(t)
		for i := range extra {
			b.add(&extra[i])
		}
		rec := b.builder.NewRecordBatch()
		_ = p.write(rec)
		rec.Release()
	}
	if err := p.close(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// parquetWriter writes batches column by column.
type parquetWriter struct {
	w        *parquet.GenericWriter[any]
	columns  []*parquet.ColumnWriter
	nullable []int             // definition levels that nullability takes: 0 or 1
	values   [][]parquet.Value // of each goroutine
	size     int64             // in memory, of the row group under way
	group    int64             // size at which it is closed
	err      error
}

func newParquetWriter(out *bufio.Writer, schema *arrow.Schema) *parquetWriter {
	// Snappy costs a tenth more space than zstd here, whose pooled coders hold
	// channels that testing/synctest ties to the bubble that made them.
	w := parquet.NewGenericWriter[any](out, parquetSchema(schema),
		parquet.Compression(&parquet.Snappy), parquet.CreatedBy("tokamak", "", ""),
		parquet.PageBufferSize(128<<10), parquet.DataPageStatistics(false))
	p := &parquetWriter{w: w, columns: w.ColumnWriters(), nullable: make([]int, schema.NumFields()),
		values: make([][]parquet.Value, atOnce()), group: rowGroupBytes(0)}
	for i, f := range schema.Fields() {
		if f.Nullable {
			p.nullable[i] = 1
		}
	}
	return p
}

// write adds a batch; after an error it does nothing but return it.
func (p *parquetWriter) write(b arrow.RecordBatch) error {
	if p.err != nil {
		return p.err
	}
	for _, c := range b.Columns() {
		p.size += int64(c.Data().SizeInBytes())
	}
	p.err = p.writeColumns(b)
	if p.err == nil && p.size >= p.group {
		p.err, p.size = p.w.Flush(), 0
	}
	return p.err
}

func (p *parquetWriter) close() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Close()
}

// atOnce is how many columns are written, or row groups read, at the same
// time. More would take more memory than it is worth.
func atOnce() int { return min(runtime.GOMAXPROCS(0), 4) }

// writeColumns writes the columns of a batch, each by one goroutine.
func (p *parquetWriter) writeColumns(b arrow.RecordBatch) error {
	errs := make([]error, len(p.values))
	var next atomic.Int64
	var all sync.WaitGroup
	for w := range p.values {
		all.Go(func() {
			var err error
			bad := guarded(func() {
				for i := int(next.Add(1)) - 1; i < len(b.Columns()) && err == nil; i = int(next.Add(1)) - 1 {
					p.values[w], err = writeColumn(p.columns[i], b.Column(i), p.nullable[i], p.values[w])
				}
			})
			errs[w] = errors.Join(err, bad)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// writeColumn writes one column with the help of scratch memory.
func writeColumn(to *parquet.ColumnWriter, a arrow.Array, nullable int, values []parquet.Value) ([]parquet.Value, error) {
	// Few values at a time, which stay in the processor's cache.
	const most = 1024
	for from := 0; from < a.Len(); {
		end := upTo(a, from, most)
		values = appendRows(values[:0], a, from, end, nullable)
		if _, err := to.WriteRowValues(values); err != nil {
			return values, err
		}
		from = end
	}
	return values, nil
}

// upTo is the end of the rows from one on that hold about n values: one at least.
func upTo(a arrow.Array, from, n int) int {
	l, ok := a.(*array.List)
	if !ok {
		return min(from+n, a.Len())
	}
	to := from
	for to < a.Len() && n > 0 {
		start, end, _ := span(l, to)
		n -= max(end-start, 1)
		to++
	}
	return to
}
