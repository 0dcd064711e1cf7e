package wire_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// proxyServer is a proxy for CONNECT and whole URLs that wants user:secret.
func proxyServer(t *testing.T, asked *atomic.Int64) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjpzZWNyZXQ=" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		up, err := net.Dial("tcp", r.URL.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if r.Method != http.MethodConnect {
			r.Header.Del("Proxy-Authorization")
			_ = r.Write(up)
		}
		down, br, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		if r.Method == http.MethodConnect {
			_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
		}
		splice(down, br, up)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return &url.URL{Scheme: "http", Host: l.Addr().String(), User: url.UserPassword("user", "secret")}
}

// splice copies both ways until either side ends.
func splice(down net.Conn, from io.Reader, up net.Conn) {
	go func() { _, _ = io.Copy(up, from); _ = up.Close() }()
	_, _ = io.Copy(down, up)
	_ = down.Close()
}

// socksServer is a SOCKS5 proxy without authentication, for one IPv4 address a
// connection.
func socksServer(t *testing.T, asked *atomic.Int64) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			go func() {
				br := bufio.NewReader(c)
				b := make([]byte, 10)
				_, _ = io.ReadFull(br, b[:3]) // version, one method: none
				_, _ = c.Write([]byte{5, 0})
				if _, err := io.ReadFull(br, b); err != nil || b[3] != 1 {
					_ = c.Close()
					return
				}
				up, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: b[4:8], Port: int(b[8])<<8 | int(b[9])})
				if err != nil {
					_, _ = c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
					_ = c.Close()
					return
				}
				_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
				splice(c, br, up)
			}()
		}
	}()
	return &url.URL{Scheme: "socks5", Host: l.Addr().String()}
}

func TestProxy(t *testing.T) {
	plain, secure := wiretest.NewFaultServer(t), wiretest.NewTLSFaultServer(t)
	var asked atomic.Int64
	proxies := map[string]*url.URL{"http": proxyServer(t, &asked), "socks5": socksServer(t, &asked)}
	for name, via := range proxies {
		for _, server := range []*wiretest.FaultServer{plain, secure} {
			before := asked.Load()
			rec := through(t, via, server.Client, server.Fault(t, "healthy"))
			if rec.X.Cause != wire.Completed || len(rec.Events) != 12 || asked.Load() != before+1 {
				t.Errorf("%s proxy to %s: %v (%v), %d events, asked %d times", name, server.URL, rec.X.Cause, rec.X.Err, len(rec.Events), asked.Load()-before)
			}
			rec = through(t, via, server.Client, server.Fault(t, "refused"))
			if c := rec.X.Cause; c != wire.Refused && rec.X.Status != http.StatusBadGateway {
				t.Errorf("%s proxy to a refused port: %v (%v), status %d", name, c, rec.X.Err, rec.X.Status)
			}
		}
	}
}

// TestProxyRefuses shows that a wrong password ends as no connection, and that
// it is in no error.
func TestProxyRefuses(t *testing.T) {
	var asked atomic.Int64
	via := proxyServer(t, &asked)
	via.User = url.UserPassword("user", "hunter2")
	server := wiretest.NewTLSFaultServer(t)
	rec := through(t, via, server.Client, server.Fault(t, "healthy"))
	if rec.X.Cause != wire.Refused || !strings.Contains(rec.X.Err.Error(), "407") || strings.Contains(rec.X.Err.Error(), "hunter2") {
		t.Errorf("%v: %v", rec.X.Cause, rec.X.Err)
	}
}

func through(t *testing.T, via *url.URL, cfg *tls.Config, f wiretest.Fault) *wiretest.Recording {
	t.Helper()
	c := clock.NewReal()
	t.Cleanup(c.Close)
	tr := wire.NewNetHTTP(wire.Config{Clock: c, TLS: cfg, Proxy: func(*url.URL) (*url.URL, error) { return via, nil }})
	t.Cleanup(tr.Close)
	rec := wiretest.Start(tr, wiretest.Post(f.URL, wire.Limits{}))
	rec.Wait(t)
	rec.Check(t)
	return rec
}
