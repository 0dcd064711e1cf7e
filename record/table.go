package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Column describes one column of a file of the run directory.
type Column struct {
	Name  string
	Group string
	Type  string // type in SQL, as DuckDB names it
	Unit  string // empty where there is none
	Null  string // when it is null; empty: never
	Doc   string
}

// column is one column of the table of rows R: what it is, and how it is read
// from a row and put into one. Everything else about the files derives from it.
type column[R any] struct {
	group, name, unit, null, doc string
	field                        field[R]
}

// field moves one value between a row and an array.
type field[R any] interface {
	dataType() arrow.DataType
	// appender returns a function that appends a row's value to b.
	appender(b array.Builder) func(r *R)
	// setter returns a function that puts value i of a into a row. Texts and
	// lists share the memory of a.
	setter(a arrow.Array) func(i int, r *R)
}

// table is the declaration of one kind of file.
type table[R any] []column[R]

func (t table[R]) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t))
	for i, c := range t {
		fields[i] = arrow.Field{Name: c.name, Type: c.field.dataType(), Nullable: c.null != ""}
	}
	return arrow.NewSchema(fields, nil)
}

func (t table[R]) columns() []Column {
	out := make([]Column, len(t))
	for i, c := range t {
		out[i] = Column{Name: c.name, Group: c.group, Type: sqlType(c.field.dataType()), Unit: c.unit, Null: c.null, Doc: c.doc}
	}
	return out
}

func sqlType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.Int64Type:
		return "BIGINT"
	case *arrow.Int32Type:
		return "INTEGER"
	case *arrow.Uint8Type:
		return "UTINYINT"
	case *arrow.Float64Type:
		return "DOUBLE"
	case *arrow.BooleanType:
		return "BOOLEAN"
	case *arrow.ListType:
		return sqlType(t.Elem()) + "[]"
	default:
		return "VARCHAR"
	}
}

// appenders binds every column of t to its builder in b.
func (t table[R]) appenders(b *array.RecordBuilder) []func(*R) {
	out := make([]func(*R), len(t))
	for i, c := range t {
		out[i] = c.field.appender(b.Field(i))
	}
	return out
}

// setters binds every column of t that batch has, by name. A column that the
// batch lacks (a file of an older version) leaves the row's zero value.
func (t table[R]) setters(batch arrow.RecordBatch) []func(int, *R) {
	out := make([]func(int, *R), 0, len(t))
	schema := batch.Schema()
	for _, c := range t {
		at := schema.FieldIndices(c.name)
		if len(at) == 0 || !arrow.TypeEqual(schema.Field(at[0]).Type, c.field.dataType(), arrow.CheckMetadata()) {
			continue
		}
		out = append(out, c.field.setter(batch.Column(at[0])))
	}
	return out
}
