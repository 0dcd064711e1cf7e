package record

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// output is the text of an answer; nil is null. Bytes that are no UTF-8 are
// kept as they came, which is why the type is binary.
type output struct{}

func (output) dataType() arrow.DataType { return arrow.BinaryTypes.Binary }

func (output) appender(b array.Builder) func(*Attempt) {
	into := b.(*array.BinaryBuilder)
	return func(a *Attempt) {
		if a.Output == nil {
			into.AppendNull()
		} else {
			into.Append(a.Output)
		}
	}
}

func (output) setter(a arrow.Array) func(int, *Attempt) {
	from := a.(*array.Binary)
	return func(i int, a *Attempt) {
		a.Output = nil
		if from.IsValid(i) {
			a.Output = from.Value(i)
		}
	}
}
