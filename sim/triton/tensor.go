package triton

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// inference is a request of the v2 protocol, however it came.
type inference struct {
	model, version, id string
	form               form
	binary             bool // HTTP: outputs as bytes after the JSON
	asked              []string
	emptyFinal         bool          // gRPC: the end is told by a response of its own
	problem            *face.Problem // gRPC: of a message that could be read
	size               int           // gRPC: of the message in bytes
	struck             *struck       // gRPC: by faults; nil: by none
}

// output is a tensor of an answer: strings or numbers.
type output struct {
	name  string
	words []string // BYTES
	count []uint32 // UINT32
}

func (o *output) datatype() string {
	if o.words != nil {
		return "BYTES"
	}
	return "UINT32"
}

// shape is one-dimensional.
func (o *output) shape() []int64 { return []int64{int64(len(o.words) + len(o.count))} }

// raw is the tensor in Triton's binary form: little-endian, each string after
// its length.
func (o *output) raw() []byte {
	var b []byte
	for _, w := range o.words {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(w)))
		b = append(b, w...)
	}
	for _, n := range o.count {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// outputsOf are the tensors of a response. Where the request names outputs,
// those that it does not name are left out.
func (in *inference) outputsOf(q *query, p *part) []output {
	all := []output{{name: "text_output", words: []string{p.text}}}
	if q.finish {
		all = append(all, output{name: "finish_reason", words: []string{p.reason()}})
	}
	if q.in {
		all = append(all, output{name: "num_input_tokens", count: []uint32{uint32(p.in)}})
	}
	if q.out {
		all = append(all, output{name: "num_output_tokens", count: []uint32{uint32(p.out)}})
	}
	if len(in.asked) == 0 {
		return all
	}
	var out []output
	for _, o := range all {
		for _, name := range in.asked {
			if o.name == name {
				out = append(out, o)
				break
			}
		}
	}
	return out
}

// query reads the form; an asked output that does not exist is an error, and
// asking for one of the counts turns it on.
func (in *inference) query() (*query, *face.Problem) {
	if in.problem != nil {
		return nil, in.problem
	}
	q, problem := in.form.query()
	if problem != nil {
		return nil, problem
	}
	q.id = in.id
	for _, name := range in.asked {
		switch name {
		case "text_output":
		case "finish_reason":
			q.finish = true
		case "num_input_tokens":
			q.in = true
		case "num_output_tokens":
			q.out = true
		default:
			return nil, face.Bad("outputs", "unexpected inference output '%s' for model '%s'", name, in.model)
		}
	}
	return q, nil
}

// elements is how many elements a shape has.
func elements(shape []int64) (int64, bool) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > 1<<20 || n*d > 1<<20 {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// sizes are the bytes of an element.
func sizeOf(datatype string) int {
	switch datatype {
	case "BOOL", "INT8", "UINT8":
		return 1
	case "INT16", "UINT16":
		return 2
	case "INT32", "UINT32", "FP32":
		return 4
	case "INT64", "UINT64", "FP64":
		return 8
	}
	return 0
}

// raw adds an input in Triton's binary form.
func (f form) raw(name, datatype string, b []byte) *face.Problem {
	var list []any
	if datatype == "BYTES" {
		for len(b) > 0 {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return face.Bad(name, "input '%s': a string of its binary data is cut off", name)
			}
			n := int(binary.LittleEndian.Uint32(b))
			list, b = append(list, string(b[4:4+n])), b[4+n:]
		}
		return f.list(name, list)
	}
	size := sizeOf(datatype)
	if size == 0 {
		return face.Bad(name, "input '%s' has datatype '%s', which is not supported here", name, datatype)
	}
	if len(b)%size != 0 {
		return face.Bad(name, "input '%s': %d bytes are no whole number of %s", name, len(b), datatype)
	}
	for ; len(b) > 0; b = b[size:] {
		list = append(list, scalar(datatype, b))
	}
	return f.list(name, list)
}

func scalar(datatype string, b []byte) any {
	le := binary.LittleEndian
	switch datatype {
	case "BOOL":
		return b[0] != 0
	case "INT8":
		return int64(int8(b[0]))
	case "UINT8":
		return int64(b[0])
	case "INT16":
		return int64(int16(le.Uint16(b)))
	case "UINT16":
		return int64(le.Uint16(b))
	case "INT32":
		return int64(int32(le.Uint32(b)))
	case "UINT32":
		return int64(le.Uint32(b))
	case "FP32":
		return float64(math.Float32frombits(le.Uint32(b)))
	case "FP64":
		return math.Float64frombits(le.Uint64(b))
	}
	return int64(le.Uint64(b)) // INT64; of UINT64 only the bits count, as a seed
}

// checkShape refuses an input whose shape does not go with its elements.
func checkShape(name string, shape []int64) *face.Problem {
	if n, ok := elements(shape); !ok || n < 1 {
		return face.Bad(name, "input '%s' has the shape %s", name, fmt.Sprint(shape))
	}
	return nil
}
