package triton

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/fault"
)

const (
	maxMessage = 64 << 20
	maxFlights = 128 // requests of a stream that may be under way
)

// NewGRPC returns a gRPC server of KServe's v2 protocol; current is the service
// of the engine that lives, and faults, where not nil, strike its requests.
func NewGRPC(current func() *face.Service, faults *fault.Set) *grpc.Server {
	g := grpc.NewServer(grpc.ForceServerCodec(codec{}), grpc.MaxRecvMsgSize(maxMessage))
	desc := grpc.ServiceDesc{ServiceName: "inference.GRPCInferenceService", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{
		{StreamName: "ModelStreamInfer", ServerStreams: true, ClientStreams: true, Handler: func(srv any, s grpc.ServerStream) error {
			if err := loading(faults); err != nil {
				return err
			}
			return (&server{current()}).stream(s, faults)
		}}}}
	unary := func(name string, in func() parser, answer func(ctx context.Context, t *server, in parser) (reply, *face.Problem)) {
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := in()
			if err := decode(m); err != nil {
				return nil, err
			}
			if err := loading(faults); err != nil {
				return nil, err
			}
			if in, ok := m.(*inference); ok {
				hit, err := arrive(ctx, faults, in.size, header(ctx))
				if err != nil {
					return nil, err
				}
				in.struck = hit
			}
			r, problem := answer(ctx, &server{current()}, m)
			if problem != nil {
				return nil, status.Error(code(problem), problem.Message)
			}
			return r, nil
		}})
	}
	nothing := func() parser { return &empty{} }
	name := func() parser { return &named{} }
	unary("ServerLive", nothing, func(context.Context, *server, parser) (reply, *face.Problem) { return yes(true), nil })
	unary("ServerReady", nothing, func(_ context.Context, t *server, _ parser) (reply, *face.Problem) { return yes(t.s.Ready()), nil })
	unary("ServerMetadata", nothing, func(_ context.Context, t *server, _ parser) (reply, *face.Problem) { return t.serverReply(), nil })
	unary("RepositoryIndex", nothing, func(_ context.Context, t *server, _ parser) (reply, *face.Problem) { return t.indexReply(), nil })
	for method, of := range map[string]func(*server) reply{"ModelReady": func(t *server) reply { return yes(t.s.Ready()) },
		"ModelMetadata": (*server).metadataReply, "ModelConfig": (*server).configReply, "ModelStatistics": (*server).statisticsReply} {
		unary(method, name, func(_ context.Context, t *server, in parser) (reply, *face.Problem) {
			m, ok := in.(*named)
			if !ok || method == "ModelStatistics" && m.name == "" {
				return of(t), nil
			}
			if problem := t.known(m.name, m.version); problem != nil {
				return nil, problem
			}
			return of(t), nil
		})
	}
	unary("ModelInfer", func() parser { return &inference{} }, func(ctx context.Context, t *server, in parser) (reply, *face.Problem) {
		m, ok := in.(*inference)
		if !ok {
			return nil, face.Bad("", "no request")
		}
		list, problem := t.infer(httpRequest(ctx), m)
		if problem != nil {
			return nil, problem
		}
		return t.inferReply(m.id, list, nil), nil
	})
	g.RegisterService(&desc, struct{}{})
	return g
}

// parser is a message that is read.
type parser interface{ parse(b []byte) error }

// codec reads parsers and writes replies.
type codec struct{}

// Name is the content subtype.
func (codec) Name() string { return "proto" }

// Marshal returns a reply as it is.
func (codec) Marshal(v any) ([]byte, error) {
	if r, ok := v.(reply); ok {
		return r, nil
	}
	return nil, fmt.Errorf("%T is no reply", v)
}

// Unmarshal reads a request. The error that gRPC makes of a malformed one is
// Internal, as everywhere.
func (codec) Unmarshal(b []byte, v any) error {
	if p, ok := v.(parser); ok {
		return p.parse(b)
	}
	return fmt.Errorf("%T is no request", v)
}

// httpRequest carries the metadata that other faces have in headers.
func httpRequest(ctx context.Context) *http.Request {
	h := http.Header{}
	md, _ := metadata.FromIncomingContext(ctx)
	for _, k := range []string{"traceparent", "x-request-id"} {
		for _, v := range md.Get(k) {
			h.Add(k, v)
		}
	}
	return (&http.Request{Method: http.MethodPost, Header: h}).WithContext(ctx)
}

func code(p *face.Problem) codes.Code {
	switch p.Kind {
	case face.NoModel:
		return codes.NotFound
	case face.Stopping, face.Loading, face.Overloaded:
		return codes.Unavailable
	case face.NoSupport:
		return codes.Unimplemented
	case face.Injected:
		return refusalCode(p.Status)
	case face.Internal:
		return codes.Internal
	case face.Invalid, face.TooLong, face.TooLarge:
	}
	return codes.InvalidArgument
}

// stream answers ModelStreamInfer: each request's responses in their order,
// requests beside each other. A request that goes wrong gets a response with
// error_message; the stream goes on, unless a fault ends it.
func (t *server) stream(s grpc.ServerStream, faults *fault.Set) error {
	var flights sync.WaitGroup
	defer flights.Wait()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel() // before the wait: a stream that ends early ends its requests
	out := &replies{stream: s, broken: make(chan error, 1)}
	incoming, ended := receive(ctx, s)
	room := make(chan struct{}, maxFlights)
	for {
		select {
		case in := <-incoming:
			hit, err := arrive(ctx, faults, in.size, s.SetHeader)
			if err != nil {
				return err
			}
			in.struck = hit
			room <- struct{}{}
			flights.Go(func() {
				defer func() { <-room }()
				t.answer(ctx, in, out)
			})
		case err := <-ended:
			if ctx.Err() == nil && errors.Is(err, io.EOF) {
				flights.Wait()
				return out.failure()
			}
			return err
		case err := <-out.broken:
			return err
		}
	}
}

// receive reads a stream's requests until its end or until ctx is done.
func receive(ctx context.Context, s grpc.ServerStream) (<-chan *inference, <-chan error) {
	incoming, ended := make(chan *inference), make(chan error, 1)
	go func() {
		for {
			in := &inference{}
			if err := s.RecvMsg(in); err != nil {
				ended <- err
				return
			}
			select {
			case incoming <- in:
			case <-ctx.Done():
				return
			}
		}
	}()
	return incoming, ended
}

// answer runs one request of a stream.
func (t *server) answer(ctx context.Context, in *inference, out *replies) {
	problem := t.known(in.model, in.version)
	var q *query
	var failed error
	if problem == nil {
		q, problem = in.query()
	}
	if problem == nil {
		each := in.struck.wrap(func(p *part) error { return t.respond(in, q, p, out) })
		problem = t.run(ctx, httpRequest(ctx).Header, q, func(p *part) error {
			failed = each(p)
			return failed
		})
	}
	switch {
	case problem != nil:
		_ = out.send(streamReply(problem.Message, t.inferReply(in.id, nil, nil)))
	case errors.Is(failed, errFailed):
		final := true
		_ = out.send(streamReply(status.Convert(errFailed).Message(), t.inferReply(in.id, nil, &final)))
	case errors.Is(failed, errCut):
		out.cut(errCut)
	}
}

// respond writes what one part says.
func (t *server) respond(in *inference, q *query, p *part, out *replies) error {
	if p.failed() {
		return out.send(streamReply(broken, t.inferReply(in.id, nil, &p.last)))
	}
	final := p.last && !in.emptyFinal
	if err := out.send(streamReply("", t.inferReply(in.id, in.outputsOf(q, p), &final))); err != nil || !p.last || !in.emptyFinal {
		return err
	}
	return out.send(streamReply("", t.inferReply(in.id, nil, &p.last)))
}

// replies orders the writes to a stream.
type replies struct {
	mu     sync.Mutex
	stream grpc.ServerStream
	err    error
	broken chan error // why the call is to end at once
}

// cut ends the call.
func (r *replies) cut(err error) {
	select {
	case r.broken <- err:
	default:
	}
}

func (r *replies) send(m reply) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.stream.SendMsg(m)
	}
	return r.err
}

func (r *replies) failure() error {
	select {
	case err := <-r.broken:
		return err
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
