package triton

import (
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// field is one field of a message: bytes for length-delimited ones, n for all
// others.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte
	n      uint64
}

var errMessage = errors.New("the message is malformed")

// fields calls f with each field of a message.
func fields(b []byte, f func(x *field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errMessage
		}
		b = b[n:]
		x := field{number: number, kind: kind}
		switch kind {
		case protowire.BytesType:
			x.bytes, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			x.n, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			x.n, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			x.n = uint64(v)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return errMessage
		}
		b = b[n:]
		if err := f(&x); err != nil {
			return err
		}
	}
	return nil
}

// integers appends a repeated integer, packed or not.
func (x *field) integers(list []int64) ([]int64, error) {
	if x.kind == protowire.VarintType {
		return append(list, int64(x.n)), nil
	}
	for b := x.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, errMessage
		}
		list, b = append(list, int64(v)), b[n:]
	}
	return list, nil
}

// named is a request that names a model and its version.
type named struct{ name, version string }

func (m *named) parse(b []byte) error {
	return fields(b, func(x *field) error {
		switch x.number {
		case 1:
			m.name = string(x.bytes)
		case 2:
			m.version = string(x.bytes)
		}
		return nil
	})
}

// empty is a request without fields that matter.
type empty struct{}

func (*empty) parse([]byte) error { return nil }

// parse reads a ModelInferRequest.
func (in *inference) parse(b []byte) error {
	in.form, in.size = form{}, len(b)
	var tensors []grpcInput
	var raw [][]byte
	err := fields(b, func(x *field) error {
		switch x.number {
		case 1:
			in.model = string(x.bytes)
		case 2:
			in.version = string(x.bytes)
		case 3:
			in.id = string(x.bytes)
		case 4:
			return in.parameter(x.bytes)
		case 5:
			var t grpcInput
			if err := t.parse(x.bytes); err != nil {
				return err
			}
			tensors = append(tensors, t)
		case 6:
			var o named
			if err := o.parse(x.bytes); err != nil {
				return err
			}
			in.asked = append(in.asked, o.name)
		case 7:
			raw = append(raw, x.bytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	in.take(tensors, raw)
	return nil
}

// take reads the inputs, whose contents are all raw or all typed.
func (in *inference) take(tensors []grpcInput, raw [][]byte) {
	if len(raw) > 0 && len(raw) != len(tensors) {
		in.refused(face.Bad("raw_input_contents", "raw_input_contents must have one element for each input"))
		return
	}
	for i, t := range tensors {
		in.refused(checkShape(t.name, t.shape))
		if len(raw) > 0 {
			in.refused(in.form.raw(t.name, t.datatype, raw[i]))
		} else {
			in.refused(in.form.list(t.name, t.contents))
		}
	}
}

// refused keeps the first problem of a message that could be read.
func (in *inference) refused(p *face.Problem) {
	if in.problem == nil {
		in.problem = p
	}
}

// parameter reads an entry of a map of InferParameter.
func (in *inference) parameter(b []byte) error {
	var key string
	var v any
	err := fields(b, func(x *field) error {
		if x.number == 1 {
			key = string(x.bytes)
		}
		if x.number != 2 {
			return nil
		}
		return fields(x.bytes, func(x *field) error {
			switch x.number {
			case 1:
				v = x.n != 0
			case 2, 5:
				v = int64(x.n)
			case 3:
				v = string(x.bytes)
			case 4:
				v = math.Float64frombits(x.n)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if flag, ok := v.(bool); ok && key == "triton_enable_empty_final_response" {
		in.emptyFinal = flag
	}
	in.refused(in.form.value(key, v))
	return nil
}

// grpcInput is an InferInputTensor.
type grpcInput struct {
	name, datatype string
	shape          []int64
	contents       []any
}

func (t *grpcInput) parse(b []byte) error {
	return fields(b, func(x *field) (err error) {
		switch x.number {
		case 1:
			t.name = string(x.bytes)
		case 2:
			t.datatype = string(x.bytes)
		case 3:
			t.shape, err = x.integers(t.shape)
		case 5:
			err = fields(x.bytes, t.content)
		}
		return err
	})
}

// content reads a field of InferTensorContents.
func (t *grpcInput) content(x *field) error {
	switch x.number {
	case 1, 2, 3, 4, 5:
		list, err := x.integers(nil)
		for _, v := range list {
			if x.number == 1 {
				t.contents = append(t.contents, v != 0)
				continue
			}
			t.contents = append(t.contents, v)
		}
		return err
	case 6:
		return t.floats(x, 4)
	case 7:
		return t.floats(x, 8)
	case 8:
		t.contents = append(t.contents, string(x.bytes))
	}
	return nil
}

func (t *grpcInput) floats(x *field, size int) error {
	b := x.bytes
	if x.kind != protowire.BytesType {
		b = protowire.AppendFixed64(nil, x.n)[:size]
	}
	if len(b)%size != 0 {
		return errMessage
	}
	for ; len(b) > 0; b = b[size:] {
		t.contents = append(t.contents, scalar(map[int]string{4: "FP32", 8: "FP64"}[size], b))
	}
	return nil
}
