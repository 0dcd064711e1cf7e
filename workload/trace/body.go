package trace

import (
	"encoding/json"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// body keeps a recorded request body, given as an object or as the text of
// one, and reads from it what it says about the request.
func (o object) body(r *Row, v *fastjson.Value) {
	var b []byte
	switch v.Type() {
	case fastjson.TypeObject:
		b = v.MarshalTo(nil)
	case fastjson.TypeString:
		b = append(b, v.GetStringBytes()...)
	default:
		o.fail("expected a body to be an object, found %s", kind(v))
		return
	}
	o.rawBody(r, b)
}

// keep sets a row's body, which must be JSON to the letter: it is sent as it
// is.
func (o object) keep(r *Row, b []byte) {
	if !json.Valid(b) {
		o.fail("expected a body to be JSON (of %d bytes)", len(b))
		return
	}
	r.Body = b
}

// rawBody is the same for the bytes of a body.
func (o object) rawBody(r *Row, b []byte) {
	if o.keep(r, b); r.Body == nil {
		return
	}
	var p fastjson.Parser
	v, err := p.ParseBytes(b)
	if err != nil || v.Type() != fastjson.TypeObject {
		o.fail("expected a body to be a JSON object")
		return
	}
	body := object{v: v, path: o.path + "body.", err: o.err, scratch: o.scratch}
	body.asked(r)
}

// asked reads what a request body says: its model, the most it lets an answer have, tools
// and content that is no text.
func (o object) asked(r *Row) {
	if v := o.get("model"); v != nil && r.Model == "" && v.Type() == fastjson.TypeString {
		r.Model = string(v.GetStringBytes())
	}
	if n := o.limit(limitFields()...); n > 0 {
		r.Limit = n
	}
	if v := o.get("tools"); v != nil && v.Type() == fastjson.TypeArray {
		r.Tools = int64(len(v.GetArray()))
	}
	for _, p := range media.Places(o.v) {
		r.has(p.Kind, 1)
	}
}
