package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/spans"
)

// simPorts are what a simulated engine serves and sends beside its API.
type simPorts struct {
	GRPC    string `name:"grpc-listen" placeholder:"HOST:PORT" help:"Serve KServe's gRPC API here (engine triton; Triton's own port is 8001)."`
	Metrics string `name:"metrics-listen" placeholder:"HOST:PORT" help:"Serve the metrics on a port of their own (engine triton; Triton's own is 8002)."`
	DCGM    string `name:"dcgm-listen" placeholder:"HOST:PORT" help:"Serve the accelerators' metrics as dcgm-exporter does (its own port is 9400)."`
	OTLP    string `name:"otlp-endpoint" placeholder:"URL" help:"Post a span for each request to this OTLP/HTTP collector."`
}

// spansWait is how long the last spans may take after the engine has ended.
const spansWait = 2 * time.Second

// open listens on the ports and connects to the collector.
func (c *simPorts) open(ctx context.Context, o *sim.Options, so *sim.ServeOptions) (err error) {
	triton := o.Engine == "triton"
	for _, p := range []struct {
		flag, at string
		to       *net.Listener
		ok       bool
		why      string
	}{{"--grpc-listen", c.GRPC, &so.GRPC, triton, "only the engine triton has a gRPC API"},
		{"--metrics-listen", c.Metrics, &so.Metrics, triton, "only the engine triton has a port of its own for its metrics"},
		{"--dcgm-listen", c.DCGM, &so.DCGM, o.GPU.Vendor != "amd", "dcgm-exporter knows NVIDIA devices alone, " + o.GPU.Name + " is none"}} {
		if p.at == "" {
			continue
		}
		if !p.ok {
			err = errors.New(p.why)
		} else {
			*p.to, err = new(net.ListenConfig).Listen(ctx, "tcp", p.at)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", p.flag, err), c.closeAll(so))
		}
	}
	if c.OTLP != "" {
		if so.Spans, err = spans.New(c.OTLP, "tokamak-sim"); err != nil {
			return errors.Join(fmt.Errorf("--otlp-endpoint: %w", err), c.closeAll(so))
		}
	}
	return nil
}

func (c *simPorts) closeAll(so *sim.ServeOptions) (err error) {
	for _, l := range []net.Listener{so.GRPC, so.Metrics, so.DCGM} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// addresses are where the engine can be reached, by what is there.
func (c *simPorts) addresses(base string, so *sim.ServeOptions) map[string]string {
	m := map[string]string{}
	if base != "" {
		m["url"] = base
	}
	if so.GRPC != nil {
		m["grpc"] = so.GRPC.Addr().String()
	}
	if so.Metrics != nil {
		m["metrics"] = "http://" + so.Metrics.Addr().String() + "/metrics"
	}
	if so.DCGM != nil {
		m["dcgm"] = "http://" + so.DCGM.Addr().String() + "/metrics"
	}
	return m
}

// closeSpans sends what is left and tells what could not be sent.
func (c *simPorts) closeSpans(ctx context.Context, e *spans.Exporter, std streams) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spansWait)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		tell(std.err, "%v", err)
	}
}
