package scenario

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxy says which proxy to use.
type Proxy struct {
	URL     *url.URL // as asked for; nil: as the environment says
	NoProxy string   // hosts without proxy, comma separated; empty: as the environment says
	// environment is what the environment says, read as curl reads it: of the
	// proxy for http only the lower-case variable counts.
	environment httpproxy.Config
}

func (r *resolver) proxy() Proxy {
	p := Proxy{NoProxy: r.text("target.no-proxy", "a list of hosts"), environment: r.proxyEnvironment()}
	v, ok := r.set["target.proxy"]
	if !ok {
		return p
	}
	u, err := url.Parse(r.text("target.proxy", "the URL of a proxy"))
	schemes := []string{"http", "https", "socks5", "socks5h"}
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Host == "" {
		r.fail(v.errorf("expected the URL of a proxy, such as http://proxy:3128"))
		return p
	}
	p.URL = u
	return p
}

func (r *resolver) proxyEnvironment() httpproxy.Config {
	get := func(names ...string) string {
		for _, n := range names {
			if v, _ := r.env.lookup(n); v != "" {
				return v
			}
		}
		return ""
	}
	all := []string{"all_proxy", "ALL_PROXY"}
	return httpproxy.Config{HTTPProxy: get(append([]string{"http_proxy"}, all...)...),
		HTTPSProxy: get(append([]string{"https_proxy", "HTTPS_PROXY"}, all...)...), NoProxy: get("no_proxy", "NO_PROXY")}
}

// Any tells whether there may be a proxy for some URL.
func (p *Proxy) Any() bool {
	return p.URL != nil || p.environment.HTTPProxy != "" || p.environment.HTTPSProxy != ""
}

// For returns the proxy for a URL, nil for none. The environment's is never
// used for this machine's own addresses, one that was asked for is.
func (p *Proxy) For(u *url.URL) (*url.URL, error) {
	c := p.environment
	c.NoProxy = cmp.Or(p.NoProxy, c.NoProxy)
	if p.URL == nil {
		return c.ProxyFunc()(u)
	}
	c.HTTPProxy, c.HTTPSProxy = p.URL.String(), p.URL.String()
	found, err := c.ProxyFunc()(u)
	if found == nil && err == nil && local(u) && !slices.Contains(strings.Split(c.NoProxy, ","), u.Hostname()) {
		return p.URL, nil
	}
	return found, err
}

// local tells whether a URL is of this machine.
func local(u *url.URL) bool {
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && a.IsLoopback()
}
