package triton

import (
	"context"
	"net/http"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tokamak-bench/tokamak/sim/fault"
)

// faultKey is the metadata that names faults for the requests of a call, as
// the HTTP field does.
const faultKey = "x-sim-fault"

// struck is the faults that strike one request over gRPC.
type struck struct {
	hits []fault.Hit
	sent int // parts with text
	held []part
}

// arrive counts a request and returns what strikes it. An error is the status
// that ends the call.
func arrive(ctx context.Context, set *fault.Set, size int, fields func(metadata.MD) error) (*struck, error) {
	if set == nil {
		return &struck{}, nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	header := ""
	if v := md.Get(faultKey); len(v) > 0 {
		header = v[0]
	}
	hits, err := set.ArriveNow(header, int64(size)/4)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, faultKey+": "+err.Error())
	}
	told := metadata.MD{}
	for _, h := range hits {
		for i := 0; i+1 < len(h.Fields); i += 2 {
			told.Set(h.Fields[i], h.Fields[i+1])
		}
	}
	no := fault.Refused(hits)
	if no != nil && no.RetryAfter > 0 {
		told.Set("retry-after", strconv.FormatInt(no.RetryAfter, 10))
	}
	if len(told) > 0 {
		if err := fields(told); err != nil && no == nil {
			return nil, err
		}
	}
	if no != nil {
		return nil, status.Error(refusalCode(no.Status), no.Message)
	}
	return &struck{hits: hits}, nil
}

// refusalCode is gRPC's for a fault's HTTP status, as gateways translate them.
func refusalCode(s int) codes.Code {
	switch s {
	case http.StatusTooManyRequests:
		return codes.ResourceExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return codes.Unavailable
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusNotFound:
		return codes.NotFound
	}
	if s < http.StatusInternalServerError {
		return codes.InvalidArgument
	}
	return codes.Internal
}

// loading refuses every call while the model is being loaded.
func loading(set *fault.Set) error {
	if set == nil || !set.Loading() {
		return nil
	}
	return status.Error(codes.Unavailable, "the model is being loaded")
}

// errCut ends a call as a connection that breaks does.
var errCut = status.Error(codes.Unavailable, "the connection was cut on purpose")

// errFailed ends an answer; the stream goes on.
var errFailed = status.Error(codes.Internal, "the engine failed on purpose")

// wrap returns each as the faults change it.
func (s *struck) wrap(each func(*part) error) func(*part) error {
	if s == nil || len(s.hits) == 0 {
		return each
	}
	return func(p *part) error {
		out, err := s.change(*p)
		if fault.Has(s.hits, "buffered") != nil && err == nil {
			s.held = append(s.held, out...)
			if out = nil; p.last {
				out = s.held
			}
		}
		for i := range out {
			if err := each(&out[i]); err != nil {
				return err
			}
		}
		return err
	}
}

// change returns what comes in the place of a part.
func (s *struck) change(p part) ([]part, error) {
	if p.failed() {
		return []part{p}, nil
	}
	if p.text != "" {
		for _, name := range []string{"error_after_200", "cut"} {
			if h := fault.Has(s.hits, name); h != nil && s.sent >= int(h.Value("after")) {
				if name == "cut" {
					return nil, errCut
				}
				return nil, errFailed
			}
		}
		s.sent++
	}
	if fault.Has(s.hits, "garbage") != nil && p.text != "" {
		p.text = "!!!"
	}
	if p.last && fault.Has(s.hits, "no_end") != nil {
		return nil, nil
	}
	if h := fault.Has(s.hits, "chunk_missing"); h != nil && s.sent == int(h.Value("chunk")) {
		return nil, nil
	}
	if h := fault.Has(s.hits, "chunk_duplicate"); h != nil && s.sent == int(h.Value("chunk")) {
		twin := p
		twin.last, twin.finish = false, ""
		return []part{twin, p}, nil
	}
	return []part{p}, nil
}

// header is how a call's fields are told.
func header(ctx context.Context) func(metadata.MD) error {
	return func(md metadata.MD) error { return grpc.SetHeader(ctx, md) }
}
