package sim

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/llamacpp"
	"github.com/tokamak-bench/tokamak/sim/ollama"
	"github.com/tokamak-bench/tokamak/sim/sglang"
	"github.com/tokamak-bench/tokamak/sim/spans"
	"github.com/tokamak-bench/tokamak/sim/tgi"
	"github.com/tokamak-bench/tokamak/sim/vllm"
	"github.com/tokamak-bench/tokamak/token"
)

// ServeOptions say how an engine is served.
type ServeOptions struct {
	// Log gets one JSON line for each ended request; nil: none.
	Log io.Writer
	// LogTokens adds the moment at which each token was written to the log.
	LogTokens bool
	// Clock, where set, is the engine's; Serve closes it. It defaults to the
	// machine's.
	Clock *clock.Real
	// DCGM, where set, serves the accelerators' metrics as dcgm-exporter does.
	DCGM net.Listener
	// GRPC and Metrics, where set, serve Triton's gRPC API and its metrics; only
	// for that engine. Serve closes these listeners as it does its own.
	GRPC, Metrics net.Listener
	// Emitted, where set, is told at the end how late tokens were written.
	Emitted func(face.Lateness)
	// Spans, where set, gets the spans of requests.
	Spans *spans.Exporter
}

// stopping is how long requests under way may go on after Serve was told to end.
const stopping = 500 * time.Millisecond

// writers is how many goroutines write streams: one a processor, as far as the
// engine's loop can keep them busy.
func writers() int { return min(runtime.NumCPU(), 8) }

// Serve answers on l as the engine that o describes, until ctx is done; then
// it returns nil. It closes l. It listens at once; requests that need the
// tokenizer wait until it is loaded.
func Serve(ctx context.Context, l net.Listener, o Options, so ServeOptions) error {
	defer so.close()
	cfg, err := o.Config()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	c := so.Clock
	if c == nil {
		c = clock.NewReal()
	}
	defer c.Close()
	loop := clock.NewRealLoop(c)
	defer loop.Close()
	emitter := face.NewEmitter(writers(), loop)
	defer func() {
		emitter.Close()
		if so.Emitted != nil {
			so.Emitted(emitter.Lateness())
		}
	}()
	gate, epoch, faults := o.Faults.Gate(), c.Epoch(), o.FaultSet(loop)
	beside := newSides(&o, &so, &cfg, loop, faults)
	faults.Refuse = refuser(o.Engine)
	p := &process{loop: loop, faults: faults, listener: fault.NewListener(l)}
	p.open = func(died func(int64)) (*face.Service, http.Handler, error) {
		core := cfg
		core.Disturbance, core.Died = faults, died
		of := face.Config{Engine: core, Gate: gate, Served: o.Served, ID: o.Model.ID, Seed: o.Seed, MeanOutput: o.MeanOutput,
			Utilization: o.MemoryUtilization, Adapters: o.Adapters, Hidden: o.Model.Hidden,
			LoadCodec: loadCodec, Log: so.Log, LogTokens: so.LogTokens, Emitter: emitter}
		if so.Spans != nil {
			of.Ended = so.Spans.Ended
		}
		service, err := face.New(of, loop, epoch)
		if err != nil {
			return nil, nil, err
		}
		go service.Warm()
		return service, faces(beside)[o.Engine](service), nil
	}
	if err := p.start(); err != nil {
		return errors.Join(err, l.Close())
	}
	beside.start(p)
	server := &http.Server{Handler: withEmission(emitter, faults.Wrap(p)), ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10}
	emitter.Attach(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(p.listener) }()
	select {
	case err := <-ended:
		now, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel()
		beside.stop(now)
		return err
	case <-ctx.Done():
	}
	quiet, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopping)
	defer cancel()
	if server.Shutdown(quiet) != nil {
		_ = server.Close()
	}
	beside.stop(quiet)
	<-ended  //nolint:errcheck // it was told to end
	p.stop() // cut requests leave the engine before its loop ends
	return nil
}

// faces are the engines by name.
func faces(beside *sides) map[string]func(*face.Service) http.Handler {
	return map[string]func(*face.Service) http.Handler{
		"vllm": vllm.New, "sglang": sglang.New, "tgi": tgi.New, "llamacpp": llamacpp.New, "ollama": ollama.New, tritonEngine: beside.triton}
}

// refuser is how an engine writes that a fault refuses a request; nil: the
// faults' own way.
func refuser(engine string) func(http.ResponseWriter, *http.Request, *fault.Refusal, bool) {
	plain := func(refuse func(http.ResponseWriter, *face.Problem)) func(http.ResponseWriter, *http.Request, *face.Problem) {
		return func(w http.ResponseWriter, _ *http.Request, p *face.Problem) { refuse(w, p) }
	}
	refuse, ok := map[string]func(http.ResponseWriter, *http.Request, *face.Problem){
		"vllm": plain(vllm.Refuse), "tgi": plain(tgi.Refuse), "llamacpp": plain(llamacpp.Refuse), "sglang": sglang.Refuse, "ollama": ollama.Refuse}[engine]
	if !ok {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, no *fault.Refusal, loading bool) {
		p := &face.Problem{Kind: face.Injected, Message: no.Message, Status: no.Status, RetryAfter: no.RetryAfter}
		if loading {
			p.Kind = face.Loading
		}
		refuse(w, r, p)
	}
}

// loadCodec returns the built-in tokenizer, whatever the model: its client
// counts with the same one.
func loadCodec() (face.Codec, error) { return token.Builtin(), nil }
