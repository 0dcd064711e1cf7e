package record

import (
	"fmt"
	"iter"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
)

// parquetBatches hands every row group of a Parquet file to yield as one
// batch. Columns whose type is none of ours are left out.
func parquetBatches(path string, yield func(arrow.RecordBatch) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p, err := openParquet(f, info.Size())
	if err != nil {
		return &Damaged{path, err}
	}
	groups := p.RowGroups()
	for r := range ahead(len(groups), func(i int) readGroup {
		b, err := readRowGroup(p.Root(), groups[i])
		return readGroup{b, err}
	}) {
		if r.err != nil {
			return &Damaged{path, r.err}
		}
		if !yield(r.batch) {
			return nil
		}
	}
	return nil
}

// readGroup is a row group, or why it cannot be read.
type readGroup struct {
	batch arrow.RecordBatch
	err   error
}

// ahead yields what read returns for 0 to n-1, in order, and reads
// [atOnce] of them ahead. When it returns nothing is being read.
func ahead[T any](n int, read func(i int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		var coming []chan T
		defer func() {
			for _, c := range coming {
				<-c
			}
		}()
		for next := 0; next < n || len(coming) > 0; {
			for ; next < n && len(coming) < atOnce(); next++ {
				i, c := next, make(chan T, 1)
				go func() { c <- read(i) }()
				coming = append(coming, c)
			}
			c := coming[0]
			coming = coming[1:]
			if !yield(<-c) {
				return
			}
		}
	}
}

func openParquet(f *os.File, size int64) (p *parquet.File, err error) {
	defer unreadable(&err)
	return parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

func readRowGroup(root *parquet.Column, g parquet.RowGroup) (b arrow.RecordBatch, err error) {
	defer unreadable(&err)
	var fields []arrow.Field
	var columns []arrow.Array
	chunks := g.ColumnChunks()
	for _, c := range root.Columns() {
		leaf, t := leafOf(c)
		if t == nil {
			continue
		}
		col := columnReader{typ: t, nullable: c.Optional()}
		if err := col.read(chunks[leaf.Index()]); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name(), err)
		}
		if int64(col.rows) != g.NumRows() {
			return nil, fmt.Errorf("column %s: %d rows, expected %d", c.Name(), col.rows, g.NumRows())
		}
		a := col.array()
		fields = append(fields, arrow.Field{Name: c.Name(), Type: a.DataType(), Nullable: c.Optional()})
		columns = append(columns, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, g.NumRows()), nil
}

// leafOf returns the column that holds the values of c and their type; nil
// where it is none of ours.
func leafOf(c *parquet.Column) (leaf *parquet.Column, t arrow.DataType) {
	if c.Leaf() && !c.Repeated() {
		return c, scalarType(c)
	}
	list := c.Columns()
	if len(list) != 1 || !list[0].Repeated() || list[0].Leaf() {
		return nil, nil
	}
	elem := list[0].Columns()
	if len(elem) != 1 || !elem[0].Leaf() || elem[0].Optional() {
		return nil, nil
	}
	if t = scalarType(elem[0]); t == nil {
		return nil, nil
	}
	return elem[0], arrow.ListOfNonNullable(t)
}

func scalarType(c *parquet.Column) arrow.DataType {
	name := c.Type().String()
	switch kind := c.Type().Kind(); {
	case kind == parquet.Int64:
		return arrow.PrimitiveTypes.Int64
	case kind == parquet.Int32 && name == "INT(8,false)":
		return arrow.PrimitiveTypes.Uint8
	case kind == parquet.Int32:
		return arrow.PrimitiveTypes.Int32
	case kind == parquet.Double:
		return arrow.PrimitiveTypes.Float64
	case kind == parquet.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case kind == parquet.ByteArray && name == "STRING":
		return arrow.BinaryTypes.String
	}
	return nil
}
