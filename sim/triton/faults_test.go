package triton

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/fault"
)

// faulty returns a service's client and the faults that strike it.
func faulty(t *testing.T, list string) (*grpc.ClientConn, *fault.Set) {
	t.Helper()
	faults, err := fault.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewReal()
	loop := clock.NewRealLoop(c)
	t.Cleanup(func() { loop.Close(); c.Close() })
	set := fault.NewSet(faults, loop, 1)
	return dialFaulty(t, service(t, time.Millisecond), set), set
}

// streamed is what a client of ModelStreamInfer sees of one answer of 5 tokens.
type streamed struct {
	texts []string
	at    []time.Time
	ends  int    // responses that say they are the last
	err   string // error_message
	code  codes.Code
}

func ask5(t *testing.T, c *grpc.ClientConn, faults string) (s streamed) {
	t.Helper()
	ctx := t.Context()
	if faults != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-sim-fault", faults)
	}
	stream := open(t, ctx, c)
	if err := stream.SendMsg(request{model: "m", id: "a", text: "hello world", tokens: 5, stream: true}.message()); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for {
		var b []byte
		err := stream.RecvMsg(&b)
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			s.code = status.Code(err)
			return s
		}
		h := hearStream(t, b)
		if h.err != "" {
			s.err = h.err
		}
		if h.final == "true" {
			s.ends++
		}
		for _, r := range h.raw {
			s.texts, s.at = append(s.texts, r[4:]), append(s.at, time.Now())
		}
	}
}

func TestFaultsOfStreamsOverGRPC(t *testing.T) {
	c, _ := faulty(t, "")
	honest := ask5(t, c, "")
	h := honest.texts
	if len(h) != 5 || honest.ends != 1 || honest.code != codes.OK {
		t.Fatalf("%+v", honest)
	}
	for faults, want := range map[string]streamed{
		"garbage":                    {texts: []string{"!!!", "!!!", "!!!", "!!!", "!!!"}, ends: 1},
		"chunk_missing:chunk=2":      {texts: []string{h[0], h[2], h[3], h[4]}, ends: 1},
		"chunk_duplicate:chunk=5":    {texts: []string{h[0], h[1], h[2], h[3], h[4], h[4]}, ends: 1},
		"no_end":                     {texts: h[:4]}, // the last token comes with the end
		"error_after_200:after=3":    {texts: h[:3], ends: 1, err: "the engine failed on purpose"},
		"cut:after=1":                {texts: h[:1], code: codes.Unavailable},
		"buffered":                   {texts: h, ends: 1},
		"refuse:status=503":          {code: codes.Unavailable},
		"refuse:status=429":          {code: codes.ResourceExhausted},
		"refuse:status=500":          {code: codes.Internal},
		"nonsense":                   {code: codes.InvalidArgument},
		"chunk_missing; cut:after=3": {texts: []string{h[0], h[2]}, code: codes.Unavailable},
	} {
		got := ask5(t, c, faults)
		got.at = nil
		if d := cmp.Diff(want, got, cmp.AllowUnexported(streamed{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", faults, d)
		}
	}
}

// A rate limit is told by code and metadata, loading by UNAVAILABLE of every call.
func TestLimitsOverGRPC(t *testing.T) {
	c, _ := faulty(t, "rate_limit:rpm=60,burst=1s")
	var got []codes.Code
	var told metadata.MD
	for range 3 {
		var b []byte
		err := c.Invoke(t.Context(), "/inference.GRPCInferenceService/ModelInfer", request{model: "m", text: "hi", tokens: 1}.message(), &b, grpc.Header(&told))
		got = append(got, status.Code(err))
	}
	if !slices.Equal(got, []codes.Code{codes.OK, codes.ResourceExhausted, codes.ResourceExhausted}) {
		t.Error(got)
	}
	if v := told.Get("retry-after"); !slices.Equal(v, []string{"1"}) {
		t.Error("retry-after", v)
	}
	if v := told.Get("x-ratelimit-limit-requests"); !slices.Equal(v, []string{"60"}) {
		t.Error("limit", v)
	}

	c, set := faulty(t, "loading:time=1h")
	call := func(ctx context.Context, method string) codes.Code {
		var b []byte
		return status.Code(c.Invoke(ctx, "/inference.GRPCInferenceService/"+method, reply{}, &b))
	}
	set.Begin(0)
	for _, m := range []string{"ServerLive", "ServerReady", "ModelInfer"} {
		if code := call(t.Context(), m); code != codes.Unavailable {
			t.Errorf("%s while loading: %v", m, code)
		}
	}
	if s := ask5(t, c, ""); s.code != codes.Unavailable {
		t.Errorf("a stream while loading: %+v", s)
	}
	set.Clear()
	if code := call(t.Context(), "ServerLive"); code != codes.OK {
		t.Errorf("ServerLive after loading: %v", code)
	}
}
