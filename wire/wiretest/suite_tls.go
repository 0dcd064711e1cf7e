package wiretest

import (
	"crypto/tls"
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
)

// trust checks that a certificate which is not trusted, or of another name, is
// refused.
func (s *suite) trust(t *testing.T) {
	server := s.serve(t)
	for name, cfg := range map[string]*tls.Config{
		"unknown authority": {RootCAs: NewAuthority(t).Pool},
		"another name":      {RootCAs: server.Client.RootCAs, ServerName: "other.test"},
		"insecure":          {InsecureSkipVerify: true}, //nolint:gosec // what is tested
	} {
		tr := s.open(t, wire.Config{TLS: cfg})
		rec := Start(tr, Post(server.Fault(t, "healthy").URL, wire.Limits{}))
		rec.Wait(t)
		rec.Check(t)
		want := wire.TLSFailed
		if cfg.InsecureSkipVerify {
			want = wire.Completed
		}
		if rec.X.Cause != want {
			t.Errorf("%s: %v (%v), want %v", name, rec.X.Cause, rec.X.Err, want)
		}
	}
}

// clientCertificate asks a server that wants one, with and without.
func (s *suite) clientCertificate(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		a := NewAuthority(t)
		server := newFaultServer(t, "tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{a.Issue(t, "127.0.0.1")},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.Pool, MaxVersion: version, MinVersion: tls.VersionTLS12})
		for _, test := range []struct {
			certificates []tls.Certificate
			want         wire.Cause
		}{{nil, wire.TLSFailed}, {[]tls.Certificate{a.Issue(t, "client")}, wire.Completed}} {
			tr := s.open(t, wire.Config{TLS: &tls.Config{RootCAs: a.Pool, Certificates: test.certificates}})
			rec := Start(tr, Post(server.Fault(t, "healthy").URL, wire.Limits{}))
			rec.Wait(t)
			rec.Check(t)
			if rec.X.Cause != test.want {
				t.Errorf("TLS %x with %d certificates: %v (%v), want %v", version, len(test.certificates), rec.X.Cause, rec.X.Err, test.want)
			}
		}
	}
}

// silentHandshake counts the handshake to Limits.Connect.
func (s *suite) silentHandshake(t *testing.T) {
	server := NewFaultServer(t) // waits for a request and answers no handshake
	tr := s.open(t, wire.Config{})
	rec := Start(tr, Post("https"+server.Fault(t, "healthy").URL[len("http"):], wire.Limits{Connect: soon}))
	rec.Wait(t)
	rec.Check(t)
	if c := rec.X.Cause; c != wire.TimeoutConnect && c != wire.TLSFailed {
		t.Errorf("%v (%v), want timeout_connect", c, rec.X.Err)
	}
}
