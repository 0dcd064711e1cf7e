package record

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
)

// appendRows appends rows from to to-1 of a with their repetition and
// definition levels; nullable is the definition level of a row that is not null.
func appendRows(dst []parquet.Value, a arrow.Array, from, to, nullable int) []parquet.Value {
	if l, ok := a.(*array.List); ok {
		elems := valuesOf(l.ListValues())
		for i := from; i < to; i++ {
			start, end, valid := span(l, i)
			switch {
			case start < end:
				dst = elems(dst, start, end, nullable+1)
			case valid:
				dst = append(dst, parquet.Value{}.Level(0, nullable, 0))
			default:
				dst = append(dst, parquet.Value{}.Level(0, 0, 0))
			}
		}
		return dst
	}
	one := valuesOf(a)
	for i := from; i < to; i++ {
		if a.IsNull(i) {
			dst = append(dst, parquet.Value{}.Level(0, 0, 0))
		} else {
			dst = one(dst, i, i+1, nullable)
		}
	}
	return dst
}

// valuesOf returns a function that appends the values start to end-1 of an
// array as one row, all of one definition level.
func valuesOf(a arrow.Array) func(dst []parquet.Value, start, end, level int) []parquet.Value {
	switch a := a.(type) {
	case *array.Int64:
		return longs(a.Int64Values())
	case *array.Int32:
		return small(a.Int32Values())
	case *array.Uint8:
		return small(a.Uint8Values())
	case *array.Float64:
		return row(a.Float64Values(), parquet.DoubleValue)
	case *array.Boolean:
		return func(dst []parquet.Value, start, _, level int) []parquet.Value {
			return append(dst, parquet.BooleanValue(a.Value(start)).Level(0, level, 0))
		}
	case *array.String:
		return texted(func(i int) []byte {
			s := a.Value(i)
			return unsafe.Slice(unsafe.StringData(s), len(s))
		})
	}
	panic("record: no Parquet form of " + a.DataType().String())
}

func row[T any](v []T, value func(T) parquet.Value) func(dst []parquet.Value, start, end, level int) []parquet.Value {
	return func(dst []parquet.Value, start, end, level int) []parquet.Value {
		dst = append(dst, value(v[start]).Level(0, level, 0))
		for _, x := range v[start+1 : end] {
			dst = append(dst, value(x).Level(1, level, 0))
		}
		return dst
	}
}

// longs is row for the commonest type, without a call for each value.
func longs(v []int64) func(dst []parquet.Value, start, end, level int) []parquet.Value {
	return func(dst []parquet.Value, start, end, level int) []parquet.Value {
		dst = append(dst, parquet.Int64Value(v[start]).Level(0, level, 0))
		for _, x := range v[start+1 : end] {
			dst = append(dst, parquet.Int64Value(x).Level(1, level, 0))
		}
		return dst
	}
}

// small is row for numbers that are mostly small and equal to their neighbours:
// runs of them are made once.
func small[T int32 | uint8](v []T) func(dst []parquet.Value, start, end, level int) []parquet.Value {
	const most = 256
	var ready [64][]parquet.Value // of each number as many as a run has had
	made := -1
	return func(dst []parquet.Value, start, end, level int) []parquet.Value {
		if made != level {
			made, ready = level, [64][]parquet.Value{}
		}
		dst = append(dst, parquet.Int32Value(int32(v[start])).Level(0, level, 0))
		for i := start + 1; i < end; {
			x, j := v[i], i+1
			for j < end && j-i < most && v[j] == x {
				j++
			}
			if uint32(x) >= uint32(len(ready)) {
				for ; i < j; i++ {
					dst = append(dst, parquet.Int32Value(int32(x)).Level(1, level, 0))
				}
				continue
			}
			for len(ready[x]) < j-i {
				ready[x] = append(ready[x], parquet.Int32Value(int32(x)).Level(1, level, 0))
			}
			dst = append(dst, ready[x][:j-i]...)
			i = j
		}
		return dst
	}
}

func texted(at func(i int) []byte) func(dst []parquet.Value, start, end, level int) []parquet.Value {
	return func(dst []parquet.Value, start, end, level int) []parquet.Value {
		for i := start; i < end; i++ {
			dst = append(dst, parquet.ByteArrayValue(at(i)).Level(min(i-start, 1), level, 0))
		}
		return dst
	}
}
