package triton

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// reply is a protocol buffer being written.
type reply []byte

func (r *reply) text(n protowire.Number, s string) {
	if s != "" {
		*r = protowire.AppendString(protowire.AppendTag(*r, n, protowire.BytesType), s)
	}
}

// bytes is also written when it is empty: an element of a repeated field.
func (r *reply) bytes(n protowire.Number, b []byte) {
	*r = protowire.AppendBytes(protowire.AppendTag(*r, n, protowire.BytesType), b)
}

func (r *reply) integer(n protowire.Number, v int64) {
	if v != 0 {
		*r = protowire.AppendVarint(protowire.AppendTag(*r, n, protowire.VarintType), uint64(v))
	}
}

func (r *reply) flag(n protowire.Number, v bool) {
	*r = protowire.AppendVarint(protowire.AppendTag(*r, n, protowire.VarintType), protowire.EncodeBool(v))
}

// list is a repeated integer, packed.
func (r *reply) list(n protowire.Number, list []int64) {
	var b []byte
	for _, v := range list {
		b = protowire.AppendVarint(b, uint64(v))
	}
	r.bytes(n, b)
}

// parameter is an entry of a map of InferParameter that holds a boolean.
func (r *reply) parameter(n protowire.Number, key string, v bool) {
	var value, entry reply
	value.flag(1, v)
	entry.text(1, key)
	entry.bytes(2, value)
	r.bytes(n, entry)
}

// inferReply is a ModelInferResponse; final is nil outside a stream.
func (t *server) inferReply(id string, list []output, final *bool) reply {
	var r reply
	r.text(1, t.s.Served)
	r.text(2, version)
	r.text(3, id)
	if final != nil {
		r.parameter(4, "triton_final_response", *final)
	}
	for _, o := range list {
		var x reply
		x.text(1, o.name)
		x.text(2, o.datatype())
		x.list(3, o.shape())
		r.bytes(5, x)
	}
	for _, o := range list {
		r.bytes(6, o.raw())
	}
	return r
}

// streamReply is a ModelStreamInferResponse.
func streamReply(message string, response reply) reply {
	var r reply
	r.text(1, message)
	if response != nil {
		r.bytes(2, response)
	}
	return r
}

func (t *server) metadataReply() reply {
	var r reply
	r.text(1, t.s.Served)
	r.text(2, version)
	r.text(3, "python")
	for n, list := range map[protowire.Number][]tensor{4: inputs(), 5: outputs()} {
		for _, x := range list {
			var d reply
			d.text(1, x.Name)
			d.text(2, x.Datatype)
			d.list(3, x.Shape)
			r.bytes(n, d)
		}
	}
	return r
}

// kinds are the numbers of the configuration's data types.
func kinds(datatype string) int64 {
	return map[string]int64{"BOOL": 1, "UINT32": 4, "UINT64": 5, "INT32": 8, "INT64": 9, "FP32": 11, "BYTES": 13}[datatype]
}

// configReply is a ModelConfigResponse.
func (t *server) configReply() reply {
	var c, policy reply
	c.text(1, t.s.Served)
	for _, x := range inputs() {
		var d reply
		d.text(1, x.Name)
		d.integer(2, kinds(x.Datatype))
		d.list(4, x.Shape)
		c.bytes(5, d)
	}
	for _, x := range outputs() {
		var d reply
		d.text(1, x.Name)
		d.integer(2, kinds(x.Datatype))
		d.list(3, x.Shape)
		c.bytes(6, d)
	}
	c.text(17, "vllm")
	policy.flag(1, true)
	c.bytes(19, policy)
	var r reply
	r.bytes(1, c)
	return r
}

func (t *server) serverReply() reply {
	var r reply
	r.text(1, "triton")
	r.text(2, Version)
	for _, e := range extensions() {
		r.text(3, e)
	}
	return r
}

// statisticsReply is a ModelStatisticsResponse.
func (t *server) statisticsReply() reply {
	snap := t.s.Snapshot()
	n := totalsOf(&snap)
	var times, m, r reply
	for i, d := range []duration{{n.success, n.time}, {n.failed, 0}, {n.success, n.queue}, {n.success, 0}, {n.success, n.infer}, {n.success, 0}} {
		var x reply
		x.integer(1, d.Count)
		x.integer(2, d.NS)
		times.bytes(protowire.Number(i+1), x)
	}
	m.text(1, t.s.Served)
	m.text(2, version)
	m.integer(3, t.lastInference(&snap))
	m.integer(4, n.success)
	m.integer(5, n.steps)
	m.bytes(6, times)
	r.bytes(1, m)
	return r
}

// indexReply is a RepositoryIndexResponse.
func (t *server) indexReply() reply {
	var m, r reply
	m.text(1, t.s.Served)
	m.text(2, version)
	m.text(3, t.state())
	r.bytes(1, m)
	return r
}

// yes is a response whose one field is a boolean.
func yes(v bool) reply {
	var r reply
	r.flag(1, v)
	return r
}
