package interop

import (
	"bufio"
	"encoding/json"
	"math"
	"strconv"

	"github.com/tokamak-bench/tokamak/measure"
)

// object writes a JSON object field by field, so that arrays of any length need
// no memory. The first error of the writer is kept.
type object struct {
	w     *bufio.Writer
	first bool
	err   error
}

func newObject(w *bufio.Writer) *object {
	o := &object{w: w, first: true}
	o.put("{")
	return o
}

func (o *object) put(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

// raw writes a field whose value is JSON already.
func (o *object) raw(name, value string) {
	if !o.first {
		o.put(", ")
	}
	o.first = false
	o.put(quote(name) + ": " + value)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func (o *object) text(name, value string) {
	if value == "" {
		o.raw(name, "null")
		return
	}
	o.raw(name, quote(value))
}

func (o *object) int(name string, n int64) { o.raw(name, strconv.FormatInt(n, 10)) }

// figure writes a number where there is one that JSON can hold.
func (o *object) figure(name string, v measure.Value) {
	if x, ok := v.Get(); ok && !math.IsInf(x, 0) {
		o.raw(name, floatText(x))
	}
}

func floatText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// array writes a field of many elements; each is called with the function that
// adds one.
func (o *object) array(name string, each func(add func(value string))) {
	o.raw(name, "[")
	first := true
	each(func(value string) {
		if !first {
			o.put(", ")
		}
		first = false
		o.put(value)
	})
	o.put("]")
}

func (o *object) end() error {
	o.put("}\n")
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}
