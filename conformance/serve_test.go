package conformance_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/wire"
)

// pipes is a listener in memory, so that fake time can pass.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// asked is how the battery is asked for.
type asked struct{ api, model, key string }

// onSim runs the battery in fake time against a simulated engine.
func (a asked) onSim(t *testing.T, target string) (report *conformance.Report) {
	return a.through(t, target, nil)
}

// through puts something between the battery and the engine.
func (a asked) through(t *testing.T, target string, between func(http.RoundTripper) http.Handler) (report *conformance.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		l := newPipes()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- sim.Serve(ctx, l, o, sim.ServeOptions{Clock: clock.NewPortable()}) }()
		synctest.Wait() // the tokenizer is loaded
		front := l
		if between != nil {
			front = newPipes()
			rt := &http.Transport{DialContext: l.dial, DisableCompression: true}
			server := &http.Server{Handler: between(rt)}
			go func() { _ = server.Serve(front) }()
			defer func() {
				_ = server.Close()
				rt.CloseIdleConnections()
			}()
		}
		report = a.ask(t, front)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return report
}

// ask runs the battery against what listens on l.
func (a asked) ask(t *testing.T, l *pipes) *conformance.Report {
	t.Helper()
	r, err := a.until(context.Background(), l, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until asks while ctx lasts, each question within the limits.
func (a asked) until(ctx context.Context, l *pipes, limits wire.Limits) (*conformance.Report, error) {
	c := clock.NewPortable()
	defer c.Close()
	tr := wire.NewNetHTTP(wire.Config{Clock: c, Dial: l.dial})
	defer tr.Close()
	o := openai.Options{Base: &url.URL{Scheme: "http", Host: "engine"}, Model: a.model, Limits: limits}
	if a.key != "" {
		o.Auth = wire.Field{Name: "Authorization", Value: "Bearer " + a.key}
	}
	return conformance.Run(ctx, conformance.Options{Transport: tr, API: a.api, OpenAI: o})
}
