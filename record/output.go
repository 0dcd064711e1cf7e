package record

import (
	"bytes"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// output is the text of an answer, of any length; nil is null. What is no
// UTF-8 becomes U+FFFD: a violation says so, and output_sha256 is of the
// bytes as they came.
type output struct{}

func (output) dataType() arrow.DataType { return arrow.BinaryTypes.String }

func (output) appender(b array.Builder) func(*Attempt) {
	into := b.(*array.StringBuilder)
	return func(a *Attempt) {
		switch {
		case a.Output == nil:
			into.AppendNull()
		case utf8.Valid(a.Output):
			into.BinaryBuilder.Append(a.Output)
		default:
			into.BinaryBuilder.Append(bytes.ToValidUTF8(a.Output, []byte("\uFFFD")))
		}
	}
}

func (output) setter(a arrow.Array) func(int, *Attempt) {
	from := a.(*array.String)
	return func(i int, a *Attempt) {
		a.Output = nil
		if from.IsValid(i) {
			a.Output = []byte(from.Value(i))
		}
	}
}
