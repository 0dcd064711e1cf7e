package trace

import (
	"bytes"

	"github.com/valyala/fastjson"
)

// text returns the first of the fields that is there as a text; a number as it
// is written.
func (o object) text(keys ...string) string {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		switch v.Type() {
		case fastjson.TypeString:
			return string(v.GetStringBytes())
		case fastjson.TypeNumber:
			return string(o.raw(v))
		}
		o.wrong(v, key, "a text")
		return ""
	}
	return ""
}

// truth returns a field that is true or false.
func (o object) truth(key string) bool {
	v := o.get(key)
	if v == nil {
		return false
	}
	b, err := v.Bool()
	if err != nil {
		o.wrong(v, key, "true or false")
	}
	return b
}

// raw returns a number as it is written, or a text, valid until the next call.
func (o object) raw(v *fastjson.Value) []byte {
	if v.Type() == fastjson.TypeString {
		return bytes.TrimSpace(v.GetStringBytes())
	}
	*o.scratch = v.MarshalTo((*o.scratch)[:0])
	return *o.scratch
}

// none tells whether a text stands for nothing, as in access logs.
func none(b []byte) bool { return len(b) == 0 || len(b) == 1 && b[0] == '-' }

// whole returns the first of the fields that is there as a whole number from
// least to most; 0 where none is there. Numbers may be written as texts, as
// access logs do.
func (o object) whole(least, most int64, keys ...string) int64 {
	n, _ := o.found(least, most, keys...)
	return n
}

// reasoned sets how many tokens of a row's answer are reasoning, where a field
// tells.
func (o object) reasoned(r *Row, keys ...string) {
	r.Reasoning, r.ReasoningTold = o.found(0, MaxTokens, keys...)
}

// found is whole that tells whether any of the fields says a number.
func (o object) found(least, most int64, keys ...string) (n int64, there bool) {
	key, v, b := o.scalar("a number", keys)
	if v == nil {
		return 0, false
	}
	n, exact, ok := decimal(b, 0)
	if !ok || !exact || n < least || n > most {
		o.fail("expected %s%s from %d to %d, found %s", o.path, key, least, most, shown(v, b))
		return 0, false
	}
	return n, true
}

// scalar is the first of the fields that is there and stands for something, which
// has to be a number, or a text, and how it is written, valid until the next
// call; v is nil where there is none, or one of the wrong type, of what is
// expected.
func (o object) scalar(expected string, keys []string) (key string, v *fastjson.Value, b []byte) {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		if t := v.Type(); t != fastjson.TypeNumber && t != fastjson.TypeString {
			o.wrong(v, key, expected)
			return "", nil, nil
		}
		if b := o.raw(v); v.Type() == fastjson.TypeNumber || !none(b) {
			return key, v, b
		}
	}
	return "", nil, nil
}

// shown is a value for an error: a number, or of a text that it is one.
func shown(v *fastjson.Value, b []byte) string {
	if v.Type() == fastjson.TypeNumber && len(b) <= 40 {
		return string(b)
	}
	return kind(v)
}

// tokens returns a length.
func (o object) tokens(keys ...string) int64 { return o.whole(0, MaxTokens, keys...) }

// count returns a number of things.
func (o object) count(keys ...string) int64 { return o.whole(0, 1_000_000, keys...) }

// status sets a row's HTTP status and what follows from it.
func (o object) status(r *Row, keys ...string) {
	r.Status = int(o.whole(0, 999, keys...))
	r.Failed = r.Failed || r.Status >= 400
	r.Told = r.Told || r.Status > 0 || r.Failed
}
