package record

import (
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// optional is an integer that may be absent.
type optional[R any] func(*R) *Int

func (optional[R]) dataType() arrow.DataType { return arrow.PrimitiveTypes.Int64 }

func (f optional[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.Int64Builder)
	return func(r *R) {
		if v := f(r); v.ok {
			into.Append(v.v)
		} else {
			into.AppendNull()
		}
	}
}

func (f optional[R]) setter(a arrow.Array) func(int, *R) {
	from := a.(*array.Int64)
	values := from.Int64Values()
	if from.NullN() == 0 {
		return func(i int, r *R) { *f(r) = Some(values[i]) }
	}
	return func(i int, r *R) {
		if from.IsNull(i) {
			*f(r) = Int{}
		} else {
			*f(r) = Some(values[i])
		}
	}
}

// integer is an integer that is always there.
type integer[R any] func(*R) *int64

func (integer[R]) dataType() arrow.DataType { return arrow.PrimitiveTypes.Int64 }

func (f integer[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.Int64Builder)
	return func(r *R) { into.Append(*f(r)) }
}

func (f integer[R]) setter(a arrow.Array) func(int, *R) {
	values := a.(*array.Int64).Int64Values()
	return func(i int, r *R) { *f(r) = values[i] }
}

// float is a number that is always there.
type float[R any] func(*R) *float64

func (float[R]) dataType() arrow.DataType { return arrow.PrimitiveTypes.Float64 }

func (f float[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.Float64Builder)
	return func(r *R) { into.Append(*f(r)) }
}

func (f float[R]) setter(a arrow.Array) func(int, *R) {
	values := a.(*array.Float64).Float64Values()
	return func(i int, r *R) { *f(r) = values[i] }
}

// maxText bounds a text in a column: a hostile server decides on some of them.
const maxText = 4096

// tame returns s as valid UTF-8 of at most maxText bytes, since readers of
// Parquet refuse a file with anything else.
func tame(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
		for !utf8.ValidString(s) && len(s) > maxText-utf8.UTFMax {
			s = s[:len(s)-1]
		}
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// text is a string; the empty string is null.
type text[R any] func(*R) *string

func (text[R]) dataType() arrow.DataType { return arrow.BinaryTypes.String }

func (f text[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.StringBuilder)
	return func(r *R) {
		if s := *f(r); s != "" {
			into.Append(tame(s))
		} else {
			into.AppendNull()
		}
	}
}

func (f text[R]) setter(a arrow.Array) func(int, *R) {
	from := a.(*array.String)
	return func(i int, r *R) {
		if from.IsNull(i) {
			*f(r) = ""
		} else {
			*f(r) = from.Value(i)
		}
	}
}

// truth is a boolean that is null where known says that it means nothing.
type truth[R any] struct {
	at    func(*R) *bool
	known func(*R) bool
}

func (truth[R]) dataType() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

func (f truth[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.BooleanBuilder)
	return func(r *R) {
		if v := *f.at(r); v || f.known(r) {
			into.Append(v)
		} else {
			into.AppendNull()
		}
	}
}

func (f truth[R]) setter(a arrow.Array) func(int, *R) {
	from := a.(*array.Boolean)
	return func(i int, r *R) { *f.at(r) = from.IsValid(i) && from.Value(i) }
}

// span returns the bounds of list i in the values of a.
func span(a *array.List, i int) (from, to int, ok bool) {
	if a.IsNull(i) {
		return 0, 0, false
	}
	start, end := a.ValueOffsets(i)
	return int(start), int(end), true
}

// list is a list of numbers; a nil list is null where null says so, else empty.
type list[R any, E any] struct {
	at     func(*R) *[]E
	null   func(*R) bool
	elem   arrow.DataType
	add    func(b array.Builder, v []E)
	values func(a arrow.Array) []E
}

func (f list[R, E]) dataType() arrow.DataType { return arrow.ListOfNonNullable(f.elem) }

func (f list[R, E]) appender(b array.Builder) func(*R) {
	into := b.(*array.ListBuilder)
	elems := into.ValueBuilder()
	return func(r *R) {
		v := *f.at(r)
		if v == nil && f.null(r) {
			into.AppendNull()
			return
		}
		into.Append(true)
		f.add(elems, v)
	}
}

func (f list[R, E]) setter(a arrow.Array) func(int, *R) {
	from := a.(*array.List)
	values := f.values(from.ListValues())
	return func(i int, r *R) {
		if start, end, ok := span(from, i); ok {
			*f.at(r) = values[start:end:end]
		} else {
			*f.at(r) = nil
		}
	}
}

func int64s[R any](null func(*R) bool, at func(*R) *[]int64) field[R] {
	return list[R, int64]{at: at, null: null, elem: arrow.PrimitiveTypes.Int64,
		add:    func(b array.Builder, v []int64) { b.(*array.Int64Builder).AppendValues(v, nil) },
		values: func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() }}
}

func int32s[R any](null func(*R) bool, at func(*R) *[]int32) field[R] {
	return list[R, int32]{at: at, null: null, elem: arrow.PrimitiveTypes.Int32,
		add:    func(b array.Builder, v []int32) { b.(*array.Int32Builder).AppendValues(v, nil) },
		values: func(a arrow.Array) []int32 { return a.(*array.Int32).Int32Values() }}
}

func uint8s[R any](null func(*R) bool, at func(*R) *[]uint8) field[R] {
	return list[R, uint8]{at: at, null: null, elem: arrow.PrimitiveTypes.Uint8,
		add:    func(b array.Builder, v []uint8) { b.(*array.Uint8Builder).AppendValues(v, nil) },
		values: func(a arrow.Array) []uint8 { return a.(*array.Uint8).Uint8Values() }}
}

// texts is a list of strings; nil is the empty list.
type texts[R any] func(*R) *[]string

func (texts[R]) dataType() arrow.DataType { return arrow.ListOfNonNullable(arrow.BinaryTypes.String) }

func (f texts[R]) appender(b array.Builder) func(*R) {
	into := b.(*array.ListBuilder)
	elems := into.ValueBuilder().(*array.StringBuilder)
	return func(r *R) {
		into.Append(true)
		for _, s := range *f(r) {
			elems.Append(tame(s))
		}
	}
}

func (f texts[R]) setter(a arrow.Array) func(int, *R) {
	from := a.(*array.List)
	values := from.ListValues().(*array.String)
	return func(i int, r *R) {
		*f(r) = nil
		start, end, _ := span(from, i)
		for j := start; j < end; j++ {
			*f(r) = append(*f(r), values.Value(j))
		}
	}
}
