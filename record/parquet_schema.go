package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"
)

// ordered is a group whose columns keep their order; the library's own sorts
// them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

// parquetSchema translates a flat schema with lists.
func parquetSchema(s *arrow.Schema) *parquet.Schema {
	o := ordered{Group: parquet.Group{}}
	for _, f := range s.Fields() {
		n := parquetNode(f.Type)
		if f.Nullable {
			n = parquet.Optional(n)
		}
		o.Group[f.Name] = n
		o.fields = append(o.fields, parquet.Group{f.Name: n}.Fields()[0])
	}
	return parquet.NewSchema("tokamak", o)
}

// parquetNode chooses encodings: differences for moments and counters, a
// dictionary for what repeats.
func parquetNode(t arrow.DataType) parquet.Node {
	switch t := t.(type) {
	case *arrow.Int64Type:
		return parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case *arrow.Int32Type:
		return parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)
	case *arrow.Uint8Type:
		return parquet.Encoded(parquet.Uint(8), &parquet.RLEDictionary)
	case *arrow.Float64Type:
		return parquet.Leaf(parquet.DoubleType)
	case *arrow.BooleanType:
		return parquet.Leaf(parquet.BooleanType)
	case *arrow.StringType:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case *arrow.ListType:
		return parquet.List(parquetNode(t.Elem()))
	}
	panic("record: no Parquet form of " + t.String())
}
