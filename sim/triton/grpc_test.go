package triton

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tokamak-bench/tokamak/sim/face"
)

const base = "/inference.GRPCInferenceService/"

func TestModelInfer(t *testing.T) {
	s := service(t, time.Millisecond)
	c := dial(t, s)
	var b []byte
	ask := request{model: "m", id: "7", text: "hello world", tokens: 3, asked: []string{"num_output_tokens", "text_output"}}
	if err := c.Invoke(t.Context(), base+"ModelInfer", ask.message(), &b); err != nil {
		t.Fatal(err)
	}
	h := hear(t, b)
	if h.id != "7" || strings.Join(h.names, ",") != "text_output BYTES,num_output_tokens UINT32" || len(h.raw) != 2 || h.raw[1] != "\x03\x00\x00\x00" || h.final != "" {
		t.Errorf("%+v", h)
	}
	for _, x := range []struct {
		ask  request
		code codes.Code
	}{{request{model: "other", text: "x", tokens: 1}, codes.NotFound}, {request{model: "m", text: "x", tokens: -1}, codes.InvalidArgument},
		{request{model: "m", text: "x", tokens: 5000}, codes.InvalidArgument}, {request{model: "m", text: "", tokens: 1}, codes.InvalidArgument},
		{request{model: "m", text: "x", tokens: 1, stream: true}, codes.Unimplemented},
		{request{model: "m", text: "x", tokens: 1, asked: []string{"nothing"}}, codes.InvalidArgument}} {
		if err := c.Invoke(t.Context(), base+"ModelInfer", x.ask.message(), &b); status.Code(err) != x.code {
			t.Errorf("%+v: %v, want %v", x.ask, err, x.code)
		}
	}
	if err := c.Invoke(t.Context(), base+"ModelInfer", reply("\xff\xff\xff"), &b); status.Code(err) != codes.Internal {
		t.Errorf("a message of noise: %v", err)
	}
	if err := c.Invoke(t.Context(), base+"Nothing", reply{}, &b); status.Code(err) != codes.Unimplemented {
		t.Errorf("a method that does not exist: %v", err)
	}
}

// open opens a ModelStreamInfer.
func open(t *testing.T, ctx context.Context, c *grpc.ClientConn) grpc.ClientStream {
	t.Helper()
	s, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, base+"ModelStreamInfer")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two requests of a stream are answered beside each other, each in its order;
// one that is refused leaves the stream as it is.
func TestModelStreamInfer(t *testing.T) {
	s := service(t, time.Millisecond)
	stream := open(t, t.Context(), dial(t, s))
	for _, ask := range []request{{model: "m", id: "a", text: "hello world", tokens: 20, stream: true}, {model: "other", id: "x", text: "y", tokens: 1},
		{model: "m", id: "b", text: "hello world", tokens: 20, stream: true, empty: true}, {model: "m", id: "c", text: "hello world", tokens: 20}} {
		if err := stream.SendMsg(ask.message()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	said, finals, count := map[string]string{}, map[string]string{}, map[string]int{}
	for {
		var b []byte
		err := stream.RecvMsg(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		h := hearStream(t, b)
		if h.id == "x" {
			if !strings.Contains(h.err, "unknown model") {
				t.Errorf("%+v", h)
			}
			continue
		}
		if h.err != "" || finals[h.id] == "true" {
			t.Errorf("after its end, or an error: %+v", h)
		}
		finals[h.id] = h.final
		count[h.id]++
		for _, r := range h.raw {
			said[h.id] += r[4:]
		}
	}
	if said["a"] == "" || said["a"] != said["b"] || said["a"] != said["c"] || count["a"] != 20 || count["b"] != 21 || count["c"] != 1 {
		t.Errorf("%v %v", said, count)
	}
	for _, id := range []string{"a", "b", "c"} {
		if finals[id] != "true" {
			t.Errorf("%s has no end", id)
		}
	}
}

// A stream that its client leaves takes its requests out of the engine.
func TestAStreamThatIsLeft(t *testing.T) {
	s := service(t, time.Millisecond)
	ctx, leave := context.WithCancel(t.Context())
	stream := open(t, ctx, dial(t, s))
	if err := stream.SendMsg(request{model: "m", id: "a", text: "hello world", tokens: 4000, stream: true}.message()); err != nil {
		t.Fatal(err)
	}
	var b []byte
	if err := stream.RecvMsg(&b); err != nil {
		t.Fatal(err)
	}
	leave()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		snap := s.Snapshot()
		if snap.Finished["abort"] == 1 && snap.Running == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running: %+v", snap)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, x := range []struct {
		p    face.Problem
		code codes.Code
		http int
	}{{face.Problem{Kind: face.Injected, Status: 429}, codes.ResourceExhausted, 429}, {face.Problem{Kind: face.Injected, Status: 500}, codes.Internal, 500},
		{face.Problem{Kind: face.Stopping}, codes.Unavailable, 503}, {face.Problem{Kind: face.TooLong}, codes.InvalidArgument, 400},
		{face.Problem{Kind: face.TooLarge}, codes.InvalidArgument, 413}, {face.Problem{Kind: face.Overloaded}, codes.Unavailable, 503}} {
		if c, h := code(&x.p), httpStatus(&x.p); c != x.code || h != x.http {
			t.Errorf("%+v: %v and %d, want %v and %d", x.p, c, h, x.code, x.http)
		}
	}
}
