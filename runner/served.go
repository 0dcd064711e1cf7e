package runner

import (
	"context"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/wire"
)

// buildServed makes servers behind sockets the target: those of the URLs, or
// the simulated engine started for the run.
func (r *Run) buildServed(ctx context.Context) error {
	bases, err := r.bases(ctx)
	if err != nil {
		return err
	}
	cfg, err := r.wireConfig()
	if err != nil {
		return err
	}
	var replicas Replicas
	for _, base := range bases {
		t, err := r.server(ctx, base, cfg)
		if err != nil {
			return err
		}
		replicas = append(replicas, t)
	}
	r.target = replicas
	if len(replicas) == 1 {
		r.target = replicas[0]
	}
	return nil
}

// bases are the base URLs to drive.
func (r *Run) bases(ctx context.Context) ([]*url.URL, error) {
	t := &r.scenario.Target
	if !t.Sim() {
		return t.URLs, nil
	}
	name := t.URLs[0].String()
	o, err := sim.ParseTarget(name)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	r.model = o.Served
	r.unbacked(o)
	if r.opt.DryRun {
		return []*url.URL{{Scheme: "http", Host: "127.0.0.1", Path: "/v1"}}, nil
	}
	if r.child, err = StartChild(ctx, r.opt.Executable, name); err != nil {
		return nil, exit.With(exit.Target, err)
	}
	return []*url.URL{r.child.URL}, nil
}

// wireConfig is how connections are made.
func (r *Run) wireConfig() (wire.Config, error) {
	t := &r.scenario.Target
	cfg := wire.Config{Clock: r.real, HTTP2: t.HTTP2, UnixSocket: t.UnixSocket, Open: r.openAhead()}
	switch {
	case t.Connections.Fresh:
		cfg.Reuse = wire.Fresh
	case t.Connections.MaxIdle > 0:
		cfg.Reuse, cfg.MaxIdle = wire.Limit, t.Connections.MaxIdle
	}
	var err error
	if t.TLS != (scenario.TLS{}) {
		if cfg.TLS, err = wire.TLSFiles(t.TLS.CA, t.TLS.Cert, t.TLS.Key, t.TLS.Insecure); err != nil {
			return cfg, exit.With(exit.Usage, err)
		}
	}
	if !t.Sim() && t.Proxy.Any() {
		cfg.Proxy = t.Proxy.For
	}
	return cfg, err
}

// openAhead is how many connections are opened before the first request: one
// for each user of a closed loop, a few for an open one.
func (r *Run) openAhead() int {
	s := r.plan.Describe()
	if s.PeakUsers > 0 {
		return int(s.PeakUsers)
	}
	return min(max(int(s.PeakRate), 1), 64)
}

// server makes one base URL a target.
func (r *Run) server(ctx context.Context, base *url.URL, cfg wire.Config) (Target, error) {
	opt := r.driverOptions(base)
	endpoint, err := openai.Endpoint(base.String(), r.scenario.Target.API)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	t, err := wire.New(cfg)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if r.opt.DryRun || cfg.Reuse != wire.Warm {
		endpoint = nil
	}
	r.transport = append(r.transport, connected{t, endpoint, cfg.Open})
	if err := r.findModel(ctx, t, opt); err != nil {
		return nil, err
	}
	opt.Model = r.model
	d, err := openai.New(r.scenario.Target.API, opt)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	r.drivers = append(r.drivers, d)
	facts := record.TargetFacts{Name: scenario.Redacted(base), URL: scenario.Redacted(base), API: d.Name(), Model: r.model}
	if r.scenario.Target.Sim() {
		facts.Name, facts.Engine = r.scenario.Target.URLs[0].String(), "sim"
	}
	r.facts = append(r.facts, facts)
	h := &HTTP{Name: facts.Name, Run: r.id, Driver: d, Transport: t, Texts: r.texts, Counter: r.counter, Prompts: r.prompts,
		Own: r.ownTokens, SaveOutputs: r.scenario.Out.SaveOutputs, Reasoning: r.scenario.Workload.Reasoning != nil}
	r.servers = append(r.servers, h)
	return h, nil
}

// connected is a transport with the connections to open ahead.
type connected struct {
	wire.Transport
	ahead *url.URL // nil: none
	open  int
}

// warmLimit bounds the wait for connections that are opened ahead: a target
// that is slower to accept than this shows it in the rows.
const warmLimit = 2 * time.Second

// warm waits until the connections asked for are open.
func (r *Run) warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	for _, t := range r.transport {
		w, ok := t.Transport.(wire.Warmer)
		if !ok {
			continue
		}
		if t.ahead != nil {
			// Requests find out by themselves what is wrong.
			_ = w.Warm(ctx, t.ahead, t.open)
		}
	}
}

// driverOptions are what all calls to one server have in common.
func (r *Run) driverOptions(base *url.URL) openai.Options {
	s := r.scenario
	t := s.Target.Timeouts
	o := openai.Options{
		Base: base, Model: r.model, NoStream: !s.Target.Stream, OutputMode: string(s.Workload.OutputMode),
		Extra: s.Workload.Body, Temperature: s.Workload.Temperature, Switch: s.Workload.Reasoning,
		Limits: wire.Limits{Connect: t.Connect, FirstByte: t.FirstByte, FirstToken: t.FirstToken, Stall: t.Stall, Total: t.Total},
	}
	r.secrets = append(r.secrets, openai.URLSecrets(base)...)
	o.Header = r.fields()
	for _, f := range o.Header {
		r.keepSecret(f.Value)
	}
	if !r.auth.Value.Empty() {
		o.Auth = wire.Field{Name: r.auth.Name, Value: r.auth.Value.Reveal()}
		r.keepSecret(r.auth.Value.Reveal())
	}
	return o
}

// keepSecret has a header value replaced wherever a record would show it: as
// it is, without its scheme, and as a server may echo it encoded.
func (r *Run) keepSecret(value string) {
	_, bare, _ := strings.Cut(value, " ")
	for _, s := range []string{value, bare} {
		if len(s) >= shortSecret {
			r.secrets = append(r.secrets, s, base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
				url.QueryEscape(s))
		}
	}
}

// shortSecret is from how many bytes on a header value counts as a secret:
// shorter ones (a version, a flag) stand in every other text.
const shortSecret = 6
