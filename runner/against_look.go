package runner

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/scenario"
)

// lookLimit bounds how long a target may take to accept a connection where the
// scenario has no limit of its own.
const lookLimit = 10 * time.Second

// look finds out before the first block whether both targets can be used: each
// is made ready as for a block, and a connection to it opened and closed.
// The simulated engine is started with each block and needs no looking at.
func (p *Against) look(ctx context.Context) error {
	for _, other := range []bool{false, true} {
		s := p.block(1, other)
		if s.Target.Virtual || s.Target.Sim() {
			continue
		}
		if err := p.lookAt(ctx, s); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s (%s): %w", scenario.Redacted(s.Target.URLs[0]), side(other), err)
		}
	}
	return nil
}

func (p *Against) lookAt(ctx context.Context, s *scenario.Scenario) error {
	r, err := New(ctx, s, p.opt)
	if err != nil {
		return err
	}
	r.Close()
	for _, u := range s.Target.URLs {
		if err := reach(ctx, s, u); err != nil {
			return exit.With(exit.Target, fmt.Errorf("the target cannot be reached: %w", err))
		}
	}
	return nil
}

// reach opens a connection to a target and closes it. What is behind a proxy is for
// the proxy to say.
func reach(ctx context.Context, s *scenario.Scenario, u *url.URL) error {
	if via, err := s.Target.Proxy.For(u); via != nil || err != nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	network, address := "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(port, "80"))
	if s.Target.UnixSocket != "" {
		network, address = "unix", s.Target.UnixSocket
	}
	d := net.Dialer{Timeout: cmp.Or(s.Target.Timeouts.Connect, lookLimit)}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return c.Close()
}
