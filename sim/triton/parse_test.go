package triton

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestRawTensors(t *testing.T) {
	for _, x := range []struct {
		datatype, raw string
		want          any
	}{
		{"BYTES", "\x02\x00\x00\x00ab", "ab"}, {"BYTES", "\x01\x00\x00\x00a\x01\x00\x00\x00b", []string{"a", "b"}},
		{"BOOL", "\x01", true}, {"INT8", "\xff", int64(-1)}, {"UINT8", "\xff", int64(255)}, {"INT16", "\xfe\xff", int64(-2)}, {"UINT16", "\x01\x01", int64(257)},
		{"INT32", "\xff\xff\xff\xff", int64(-1)}, {"UINT32", "\xff\xff\xff\xff", int64(1<<32 - 1)}, {"INT64", "\x05\x00\x00\x00\x00\x00\x00\x00", int64(5)},
		{"FP32", "\x00\x00\x80\x3f", 1.0}, {"FP64", "\x00\x00\x00\x00\x00\x00\xf0\x3f", 1.0},
	} {
		f := form{}
		if problem := f.raw("x", x.datatype, []byte(x.raw)); problem != nil {
			t.Errorf("%s: %s", x.datatype, problem.Message)
		}
		if d := cmp.Diff(x.want, f["x"]); d != "" {
			t.Errorf("%s: %s", x.datatype, d)
		}
	}
	for _, x := range [][2]string{{"BYTES", "\x02\x00\x00\x00a"}, {"BYTES", "\x01\x00"}, {"INT32", "\x01\x00\x00"}, {"INT32", "\x01\x00\x00\x00\x02\x00\x00\x00"}, {"FP16", "\x00\x00"}, {"", "x"}} {
		if problem := (form{}).raw("x", x[0], []byte(x[1])); problem == nil {
			t.Errorf("%q of %s is taken", x[1], x[0])
		}
	}
}

// Typed contents arrive as raw ones do, packed or not.
func TestTypedContents(t *testing.T) {
	packed := protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), []byte("\x00\x00\x80\x3f"))
	plain := protowire.AppendFixed32(protowire.AppendTag(nil, 6, protowire.Fixed32Type), 0x3f800000)
	wide := protowire.AppendFixed64(protowire.AppendTag(nil, 7, protowire.Fixed64Type), 0x3ff0000000000000)
	number := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 7)
	for _, x := range []struct {
		b    []byte
		want any
	}{{packed, 1.0}, {plain, 1.0}, {wide, 1.0}, {number, int64(7)}} {
		var in grpcInput
		if err := fields(x.b, in.content); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]any{x.want}, in.contents); d != "" {
			t.Error(d)
		}
	}
}

// Nothing that arrives makes the parsers fail in another way than with a
// problem; what they take can be asked.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(request{model: "m", id: "7", text: "x", tokens: 3, stream: true, empty: true, asked: []string{"text_output"}}.message()))
	f.Add([]byte(`{"text_input":"x","max_tokens":3,"parameters":{"stream":true}}`))
	f.Add([]byte(`{"id":"7","inputs":[{"name":"text_input","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":5}}],"outputs":[{"name":"text_output"}]}` + "\x01\x00\x00\x00a"))
	f.Add([]byte(`{"text_input":"x","sampling_parameters":"{\"temperature\":\"0.1\"}","stop_words":[["a","b"]],"seed":-1,"end_id":-1}`))
	l := language()
	f.Fuzz(func(t *testing.T, b []byte) {
		ask := func(fm form) {
			q, problem := fm.query()
			if problem == nil {
				q.prompt = "x"
				_, _ = q.ask(l)
			}
		}
		var in inference
		if in.parse(b) == nil {
			_, _ = in.query()
			ask(in.form)
		}
		if fm, problem := generateForm(b); problem == nil {
			ask(fm)
		}
		for _, length := range []string{"", "0", "140", "x"} {
			if in, problem := inferRequest(b, length); problem == nil {
				_, _ = in.query()
				ask(in.form)
			}
		}
	})
}
