package sim

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/dcgm"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/hardware"
	"github.com/tokamak-bench/tokamak/sim/triton"
)

// sides are what an engine serves on ports of its own beside its API. Where
// none is asked for, none of it is set up.
type sides struct {
	so      *ServeOptions
	loop    clock.Loop
	board   *dcgm.Board                  // nil where nobody looks at the accelerators
	metrics atomic.Pointer[http.Handler] // Triton's, of the life under way
	servers []*http.Server
	grpc    *grpc.Server
}

// newSides prepares them; the board times the engine's steps.
func newSides(o *Options, so *ServeOptions, cfg *core.Config, loop clock.Loop, faults *fault.Set) *sides {
	s := &sides{so: so, loop: loop}
	if so.DCGM != nil || o.Engine == tritonEngine {
		s.board = dcgm.NewBoard(dcgm.Config{Setup: hardware.Setup{Model: o.Model, GPU: o.GPU, TP: o.TP, Weights: o.Weights, KV: o.KV},
			Blocks: cfg.Blocks, BlockSize: cfg.BlockSize, Replicas: o.DP, Seed: o.Seed, Leaked: faults.Leaked}, cfg.Timer)
		cfg.Timer = s.board
	}
	return s
}

const tritonEngine = "triton"

// triton returns the routes of Triton; its metrics are among them where they
// have no port of their own.
func (s *sides) triton(service *face.Service) http.Handler {
	api, metrics := triton.New(service), triton.Metrics(service, s.board, s.loop.Now)
	s.metrics.Store(&metrics)
	if s.so.Metrics != nil {
		return api
	}
	m := http.NewServeMux()
	m.Handle("/", api)
	m.Handle("/metrics", metrics)
	return m
}

// start serves until stop; p is the engine.
func (s *sides) start(p *process) {
	if s.so.DCGM != nil {
		s.serve(s.so.DCGM, s.board.Handler(s.loop.Now))
	}
	if s.so.Metrics != nil {
		s.serve(p.own(s.so.Metrics), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.metrics.Load()).ServeHTTP(w, r) }))
	}
	if s.so.GRPC != nil {
		s.grpc = triton.NewGRPC(func() *face.Service { return p.current.Load().service }, p.faults)
		l := p.own(s.so.GRPC)
		go func() { _ = s.grpc.Serve(l) }()
	}
}

func (s *sides) serve(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10}
	s.servers = append(s.servers, server)
	go func() { _ = server.Serve(l) }()
}

// stop ends them; requests under way may go on until ctx is done.
func (s *sides) stop(ctx context.Context) {
	if s.grpc != nil {
		cut := context.AfterFunc(ctx, s.grpc.Stop)
		s.grpc.GracefulStop()
		cut()
	}
	for _, server := range s.servers {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
}

// close closes the listeners, whether they were served or not.
func (so *ServeOptions) close() {
	for _, l := range []net.Listener{so.GRPC, so.Metrics, so.DCGM} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// own makes a listener die with the process.
func (p *process) own(l net.Listener) *fault.Listener {
	f := fault.NewListener(l)
	p.others = append(p.others, f)
	return f
}
