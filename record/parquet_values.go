package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// values gathers the values of one column in the form of an array's buffers.
type values interface {
	// open begins a page.
	open(page parquet.Page)
	// take appends the page's next n values; skip appends n that mean nothing.
	take(n int)
	skip(n int)
	buffers() []*memory.Buffer
}

func newValues(t arrow.DataType, n int) values {
	switch t.ID() {
	case arrow.INT64:
		return newNumbers(n, func(v encoding.Values) []int64 { return v.Int64() }, arrow.Int64Traits.CastToBytes)
	case arrow.INT32:
		return newNumbers(n, func(v encoding.Values) []int32 { return v.Int32() }, arrow.Int32Traits.CastToBytes)
	case arrow.FLOAT64:
		return newNumbers(n, func(v encoding.Values) []float64 { return v.Double() }, arrow.Float64Traits.CastToBytes)
	case arrow.UINT8:
		return &octets{}
	case arrow.BOOL:
		return &truths{}
	default:
		return &byteArrays{offsets: []int32{0}}
	}
}

// source is a page's values: plain, or a dictionary and indexes into it.
func source(page parquet.Page) (v encoding.Values, indexes []int32) {
	v = page.Data()
	if d := page.Dictionary(); d != nil {
		indexes = v.Int32()
		v = d.Page().Data()
	}
	return v, indexes
}

// numbers are values that Parquet and Arrow hold alike.
type numbers[T int32 | int64 | float64] struct {
	all     []T
	from    func(encoding.Values) []T
	bytes   func([]T) []byte
	page    []T
	indexes []int32
}

func newNumbers[T int32 | int64 | float64](n int, from func(encoding.Values) []T, bytes func([]T) []byte) *numbers[T] {
	return &numbers[T]{all: make([]T, 0, n), from: from, bytes: bytes}
}

func (v *numbers[T]) open(page parquet.Page) {
	data, indexes := source(page)
	v.page, v.indexes = v.from(data), indexes
}

func (v *numbers[T]) take(n int) {
	if v.indexes == nil {
		v.all = append(v.all, v.page[:n]...)
		v.page = v.page[n:]
		return
	}
	for _, i := range v.indexes[:n] {
		v.all = append(v.all, v.page[i])
	}
	v.indexes = v.indexes[n:]
}

func (v *numbers[T]) skip(n int) { v.all = append(v.all, make([]T, n)...) }

func (v *numbers[T]) buffers() []*memory.Buffer {
	return []*memory.Buffer{memory.NewBufferBytes(v.bytes(v.all))}
}

// octets are 8-bit numbers, which Parquet holds in 32 bits.
type octets struct {
	all     []byte
	page    []int32
	indexes []int32
}

func (v *octets) open(page parquet.Page) {
	data, indexes := source(page)
	v.page, v.indexes = data.Int32(), indexes
}

func (v *octets) take(n int) {
	if v.indexes == nil {
		for _, x := range v.page[:n] {
			v.all = append(v.all, byte(x))
		}
		v.page = v.page[n:]
		return
	}
	for _, i := range v.indexes[:n] {
		v.all = append(v.all, byte(v.page[i]))
	}
	v.indexes = v.indexes[n:]
}

func (v *octets) skip(n int) { v.all = append(v.all, make([]byte, n)...) }

func (v *octets) buffers() []*memory.Buffer { return []*memory.Buffer{memory.NewBufferBytes(v.all)} }

// truths are booleans, a bit each.
type truths struct {
	all     []byte
	n       int
	page    []byte
	at      int
	indexes []int32
}

func (v *truths) open(page parquet.Page) {
	data, indexes := source(page)
	v.page, v.indexes, v.at = data.Boolean(), indexes, 0
}

func (v *truths) take(n int) {
	for range n {
		i := v.at
		if v.indexes != nil {
			i = int(v.indexes[i])
		}
		v.put(bitutil.BitIsSet(v.page, i))
		v.at++
	}
}

func (v *truths) skip(n int) {
	for range n {
		v.put(false)
	}
}

func (v *truths) put(b bool) {
	if v.n%8 == 0 {
		v.all = append(v.all, 0)
	}
	bitutil.SetBitTo(v.all, v.n, b)
	v.n++
}

func (v *truths) buffers() []*memory.Buffer { return []*memory.Buffer{memory.NewBufferBytes(v.all)} }

// byteArrays are texts or bytes with their offsets.
type byteArrays struct {
	all         []byte
	offsets     []int32
	page        []byte
	pageOffsets []uint32
	indexes     []int32
	at          int
}

func (v *byteArrays) open(page parquet.Page) {
	data, indexes := source(page)
	v.page, v.pageOffsets = data.ByteArray()
	v.indexes, v.at = indexes, 0
}

func (v *byteArrays) take(n int) {
	for range n {
		i := v.at
		if v.indexes != nil {
			i = int(v.indexes[i])
		}
		v.all = append(v.all, v.page[v.pageOffsets[i]:v.pageOffsets[i+1]]...)
		v.offsets = append(v.offsets, int32(len(v.all)))
		v.at++
	}
}

func (v *byteArrays) skip(n int) {
	for range n {
		v.offsets = append(v.offsets, int32(len(v.all)))
	}
}

func (v *byteArrays) buffers() []*memory.Buffer {
	return []*memory.Buffer{
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.offsets)),
		memory.NewBufferBytes(v.all),
	}
}
