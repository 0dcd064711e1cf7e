package record

import (
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

// columnReader gathers the pages of one column chunk into an array.
type columnReader struct {
	typ      arrow.DataType
	nullable bool

	rows    int
	valid   []byte // a bit a row; used if nullable
	nulls   int
	offsets []int32 // of a list: where each row's values end
	values  values
}

func (c *columnReader) read(chunk parquet.ColumnChunk) error {
	elem := c.typ
	l, isList := c.typ.(*arrow.ListType)
	if isList {
		elem = l.Elem()
		c.offsets = append(c.offsets, 0)
	}
	c.values = newValues(elem, int(min(chunk.NumValues(), 1<<20)))
	pages := chunk.Pages()
	defer func() { _ = pages.Close() }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.values.open(page)
		switch {
		case isList:
			c.lists(page.RepetitionLevels(), page.DefinitionLevels())
		case c.nullable:
			c.optionals(page.DefinitionLevels())
		default:
			n := int(page.NumValues())
			c.values.take(n)
			c.rows += n
		}
		parquet.Release(page)
	}
}

// optionals places a page's values among its nulls, run by run.
func (c *columnReader) optionals(levels []byte) {
	for i := 0; i < len(levels); {
		j := i
		for j < len(levels) && levels[j] == levels[i] {
			j++
		}
		if levels[i] == 0 {
			c.values.skip(j - i)
		} else {
			c.values.take(j - i)
		}
		for ; i < j; i++ {
			c.mark(levels[i] != 0)
		}
	}
}

// lists cuts a page's values into rows.
func (c *columnReader) lists(repetition, definition []byte) {
	null, full := -1, 1 // definition levels of a null list and of a value
	if c.nullable {
		null, full = 0, 2
	}
	count, end := 0, c.offsets[len(c.offsets)-1]
	for i, level := range definition {
		if repetition[i] == 0 {
			if i > 0 {
				c.offsets = append(c.offsets, end)
			}
			c.mark(int(level) != null)
		}
		if int(level) == full {
			end++
			count++
		}
	}
	if len(definition) > 0 {
		c.offsets = append(c.offsets, end)
	}
	c.values.take(count)
}

func (c *columnReader) mark(valid bool) {
	if c.rows%8 == 0 {
		c.valid = append(c.valid, 0)
	}
	if valid {
		bitutil.SetBit(c.valid, c.rows)
	} else {
		c.nulls++
	}
	c.rows++
}

func (c *columnReader) array() arrow.Array {
	var valid *memory.Buffer
	if c.nulls > 0 {
		valid = memory.NewBufferBytes(c.valid)
	}
	if _, isList := c.typ.(*arrow.ListType); !isList {
		return array.MakeFromData(array.NewData(c.typ, c.rows, append([]*memory.Buffer{valid}, c.values.buffers()...), nil, c.nulls, 0))
	}
	l := c.typ.(*arrow.ListType)
	n := int(c.offsets[len(c.offsets)-1])
	elems := array.NewData(l.Elem(), n, append([]*memory.Buffer{nil}, c.values.buffers()...), nil, 0, 0)
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.offsets))
	return array.MakeFromData(array.NewData(c.typ, c.rows, []*memory.Buffer{valid, offsets}, []arrow.ArrayData{elems}, c.nulls, 0))
}
