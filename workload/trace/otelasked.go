package trace

import (
	"github.com/valyala/fastjson"
)

// asked reads what a span says of its request: the limit of the answer, and the
// model where no attribute names it. OpenInference writes the parameters of a
// request as a JSON text.
func (d *otel) asked(o object, r *Row, get func(keys ...string) *fastjson.Value) {
	if v := get("gen_ai.request.max_tokens"); v != nil {
		r.Limit = o.limitOf(v, "attribute gen_ai.request.max_tokens")
	}
	v := get("llm.invocation_parameters")
	if v == nil {
		return
	}
	if v.Type() == fastjson.TypeString {
		inner, err := d.text.fast.ParseBytes(v.GetStringBytes())
		if err != nil {
			return // the parameters in another language's words
		}
		v = inner
	}
	if v.Type() != fastjson.TypeObject {
		return
	}
	p := o
	p.v, p.path = v, "attribute llm.invocation_parameters."
	if n := p.limit(limitFields()...); r.Limit == 0 {
		r.Limit = n
	}
	for _, key := range []string{"model", "model_name"} {
		if r.Model == "" {
			r.Model = string(v.GetStringBytes(key))
		}
	}
}
