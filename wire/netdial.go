package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"syscall"
	"time"

	"golang.org/x/net/proxy"
)

// errTLS marks what failed in a TLS handshake.
var errTLS = errors.New("handshake")

// connKey names what a connection leads to.
func connKey(u *url.URL) string { return u.Scheme + "://" + hostPort(u) }

// hostPort returns host and port, the scheme's own port where none is given.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "socks5", u.Scheme == "socks5h":
		port = "1080"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// open makes a connection that leads to u: through the proxy and TLS.
func (t *netHTTP) open(ctx context.Context, u *url.URL) (*netConn, error) {
	via, err := t.proxyOf(u)
	if err != nil {
		return nil, err
	}
	c := &netConn{id: t.ids.Add(1), key: connKey(u)}
	switch {
	case via == nil:
		err = t.direct(ctx, c, hostPort(u))
	case via.Scheme == "socks5" || via.Scheme == "socks5h":
		err = t.socks(ctx, c, via, hostPort(u))
	default:
		err = t.viaHTTP(ctx, c, via, u)
	}
	if err == nil && u.Scheme == "https" {
		err = c.secure(ctx, t.cfg.TLS, u.Hostname())
	}
	if err != nil {
		if c.stamps != nil {
			c.cut()
		}
		return nil, err
	}
	return c, nil
}

func (t *netHTTP) proxyOf(u *url.URL) (*url.URL, error) {
	if t.cfg.Proxy == nil || t.cfg.UnixSocket != "" {
		return nil, nil
	}
	via, err := t.cfg.Proxy(u)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", withoutUser(err))
	}
	return via, nil
}

// withoutUser hides an error that holds a URL with its user.
func withoutUser(err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		return bad.Err
	}
	return err
}

// direct dials the socket itself.
func (t *netHTTP) direct(ctx context.Context, c *netConn, address string) error {
	network := "tcp"
	if t.cfg.UnixSocket != "" {
		network, address = "unix", t.cfg.UnixSocket
	}
	raw, err := t.dial(ctx, network, address)
	if err != nil {
		return err
	}
	c.stamps = t.stamps.wrap(raw)
	c.Conn = c.stamps
	return nil
}

// secure puts TLS over the connection.
func (c *netConn) secure(ctx context.Context, base *tls.Config, host string) error {
	cfg := &tls.Config{}
	if base != nil {
		cfg = base.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	cfg.NextProtos = []string{"http/1.1"}
	conn := tls.Client(c.Conn, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: %w", errTLS, err)
	}
	c.Conn = conn
	return nil
}

// socks asks a SOCKS5 proxy for a connection. What is kept is the socket
// itself: the proxy's wrapper only adds an address.
func (t *netHTTP) socks(ctx context.Context, c *netConn, via *url.URL, address string) error {
	var auth *proxy.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &proxy.Auth{User: via.User.Username(), Password: password}
	}
	dialer, err := proxy.SOCKS5("tcp", hostPort(via), auth, forward(func(ctx context.Context, _, address string) (net.Conn, error) {
		err := t.direct(ctx, c, address)
		return c.stamps, err
	}))
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if _, err := dialer.(proxy.ContextDialer).DialContext(ctx, "tcp", address); err != nil {
		return fmt.Errorf("proxy %s: %w", via.Host, err)
	}
	return nil
}

// forward is a dial function as package proxy wants it.
type forward func(ctx context.Context, network, address string) (net.Conn, error)

func (f forward) Dial(network, address string) (net.Conn, error) {
	return f(context.Background(), network, address)
}

func (f forward) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}

// viaHTTP dials an HTTP proxy and, for https, has it open a tunnel.
func (t *netHTTP) viaHTTP(ctx context.Context, c *netConn, via, u *url.URL) error {
	if err := t.direct(ctx, c, hostPort(via)); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if via.Scheme == "https" {
		if err := c.secure(ctx, t.cfg.TLS, via.Hostname()); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
	}
	if via.User != nil {
		password, _ := via.User.Password()
		c.proxyAuth = "Basic " + base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password))
	}
	if u.Scheme != "https" {
		c.absolute = true
		return nil
	}
	if err := c.tunnel(ctx, hostPort(u)); err != nil {
		return fmt.Errorf("proxy %s: %w", via.Host, err)
	}
	return nil
}

// tunnel sends CONNECT and waits for the answer.
func (c *netConn) tunnel(ctx context.Context, address string) error {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	r := &http.Request{Method: "CONNECT", URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if c.proxyAuth != "" {
		r.Header.Set("Proxy-Authorization", c.proxyAuth)
	}
	if err := r.Write(c.Conn); err != nil {
		return err
	}
	br := bufio.NewReader(c.Conn)
	resp, err := http.ReadResponse(br, r)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("no tunnel: %s", resp.Status)
	case br.Buffered() > 0:
		return errors.New("the proxy spoke before TLS did")
	case !stop():
		return ctx.Err()
	}
	return nil
}

// proxied makes an HTTP proxy's request of a server's: the target is the whole
// URL, and the proxy's own credentials come along.
func (c *netConn) proxied(head []byte, u *url.URL) []byte {
	if !c.absolute {
		return head
	}
	i := slices.Index(head, ' ') + 1
	head = slices.Insert(head, i, []byte(u.Scheme+"://"+hostField(u.Host))...)
	if c.proxyAuth != "" {
		head = append(head[:len(head)-2], "Proxy-Authorization: "+c.proxyAuth+"\r\n\r\n"...)
	}
	return head
}

// connectCause says why no connection came about.
func connectCause(ctx context.Context, err error) Cause {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, syscall.ETIMEDOUT) && hasDeadline(ctx) {
		<-ctx.Done() // the dialer's own timer was a moment before the context's
	}
	if ended, ok := errors.AsType[causeError](context.Cause(ctx)); ok {
		return Cause(ended)
	}
	for _, local := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, local) {
			return LocalFailure
		}
	}
	if errors.Is(err, errTLS) {
		return TLSFailed
	}
	return Refused
}

// hasDeadline tells whether ctx ends soon by a deadline of its own.
func hasDeadline(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ok && time.Until(d) < time.Second
}
