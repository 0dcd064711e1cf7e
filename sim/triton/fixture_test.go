package triton

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// pieces is a codec without a vocabulary.
type pieces struct{ text.Pieces }

func (pieces) Decode(b []byte, _ []uint32) ([]byte, error) { return b, nil }

// step is a timer that always says the same.
type step int64

func (s step) StepTime(*core.Step) int64 { return int64(s) }

// service is an engine of 1 ms steps on the machine's clock.
func service(t testing.TB, took time.Duration) *face.Service {
	t.Helper()
	c := clock.NewReal()
	loop := clock.NewRealLoop(c)
	s, err := face.New(face.Config{Engine: core.Config{MaxSeqs: 8, MaxTokens: 512, MaxModelLen: 4096, BlockSize: 16, Blocks: 1000, Timer: step(took)},
		Served: "m", Seed: 1, MeanOutput: 10, LoadCodec: func() (face.Codec, error) { return pieces{}, nil }}, loop, c.Epoch())
	if err != nil {
		t.Fatal(err)
	}
	s.Warm()
	t.Cleanup(func() {
		s.Stop()
		loop.Close()
		c.Close()
	})
	return s
}

// bytesCodec sends and takes messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error) {
	if b, ok := v.(reply); ok {
		return b, nil
	}
	return nil, fmt.Errorf("%T", v)
}
func (bytesCodec) Unmarshal(b []byte, v any) error {
	if to, ok := v.(*[]byte); ok {
		*to = append([]byte(nil), b...)
		return nil
	}
	return fmt.Errorf("%T", v)
}

// dial serves a service over gRPC and connects to it.
func dial(t *testing.T, s *face.Service) *grpc.ClientConn { return dialFaulty(t, s, nil) }

// dialFaulty is dial with faults.
func dialFaulty(t *testing.T, s *face.Service, faults *fault.Set) *grpc.ClientConn {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	g := NewGRPC(func() *face.Service { return s }, faults)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	c, err := grpc.NewClient("passthrough:///sim", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// request is a ModelInferRequest with typed contents.
type request struct {
	model, id, text string
	tokens          int64
	stream, empty   bool
	asked           []string
}

func (q request) message() reply {
	var r reply
	r.text(1, q.model)
	r.text(3, q.id)
	if q.empty {
		r.parameter(4, "triton_enable_empty_final_response", true)
	}
	input := func(name, datatype string, contents reply) {
		var x reply
		x.text(1, name)
		x.text(2, datatype)
		x.list(3, []int64{1})
		x.bytes(5, contents)
		r.bytes(5, x)
	}
	var words, limit, flag reply
	words.bytes(8, []byte(q.text))
	input("text_input", "BYTES", words)
	limit.list(2, []int64{q.tokens})
	input("max_tokens", "INT32", limit)
	flag.flag(1, q.stream)
	input("stream", "BOOL", flag)
	flag = nil
	flag.flag(1, true)
	input("ignore_eos", "BOOL", flag)
	for _, o := range q.asked {
		var x reply
		x.text(1, o)
		r.bytes(6, x)
	}
	return r
}

// heard is a ModelInferResponse, read.
type heard struct {
	id, err string
	names   []string
	raw     []string
	final   string
}

func hear(t *testing.T, b []byte) heard {
	t.Helper()
	var h heard
	err := fields(b, func(x *field) error {
		switch x.number {
		case 3:
			h.id = string(x.bytes)
		case 4:
			in := inference{form: form{}}
			if err := in.parameter(x.bytes); err != nil {
				return err
			}
			h.final = fmt.Sprint(in.form["triton_final_response"])
		case 5:
			var o named
			if err := o.parse(x.bytes); err != nil {
				return err
			}
			h.names = append(h.names, o.name+" "+o.version)
		case 6:
			h.raw = append(h.raw, string(x.bytes))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hearStream reads a ModelStreamInferResponse.
func hearStream(t *testing.T, b []byte) heard {
	t.Helper()
	var h heard
	message := ""
	err := fields(b, func(x *field) error {
		if x.number == 1 {
			message = string(x.bytes)
		} else {
			h = hear(t, x.bytes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.err = message
	return h
}

func language() *face.Language { return face.NewLanguage(pieces{}) }
