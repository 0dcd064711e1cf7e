package wiretest

import (
	"bufio"
	"crypto/tls"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
)

// FaultServer serves every fault at its own path over plain HTTP/1.1.
type FaultServer struct {
	// URL is the server's root; it answers well where no fault is named.
	URL string
	// Faults are all that this machine can show, Fault.URL filled in.
	Faults []Fault
	// Client is what a client of a TLS server needs; nil without TLS.
	Client *tls.Config

	secure *tls.Config
	serve  map[string]func(*peer) bool
	done   chan struct{}
	wg     sync.WaitGroup
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	count  int // connections ever accepted
	asked  int // requests ever read
}

// NewFaultServer starts a server on the loopback that stops when the test ends.
func NewFaultServer(t testing.TB) *FaultServer {
	t.Helper()
	return NewFaultServerOn(t, "tcp4", "127.0.0.1:0")
}

// NewFaultServerOn is NewFaultServer on an address of one's own: tcp4, tcp6 or
// unix. With unix the URL's host is made up.
func NewFaultServerOn(t testing.TB, network, address string) *FaultServer {
	t.Helper()
	return newFaultServer(t, network, address, nil)
}

// NewTLSFaultServer is NewFaultServer over TLS with a certificate of its own;
// Client trusts it.
func NewTLSFaultServer(t testing.TB) *FaultServer {
	t.Helper()
	a := NewAuthority(t)
	s := newFaultServer(t, "tcp4", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{a.Issue(t, "127.0.0.1")}})
	s.Client = &tls.Config{RootCAs: a.Pool}
	return s
}

func newFaultServer(t testing.TB, network, address string, secure *tls.Config) *FaultServer {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatalf("fault server: %v", err)
	}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	s := &FaultServer{URL: scheme + l.Addr().String(), Faults: faults(), secure: secure,
		serve: map[string]func(*peer) bool{}, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	if network == "unix" {
		s.URL = "http://unix.test"
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		f.URL = s.URL + "/" + f.Name
		s.serve[f.Name] = f.serve
	}
	s.addPorts(t, scheme)
	s.wg.Add(1)
	go s.accept(l)
	t.Cleanup(func() {
		close(s.done)
		_ = l.Close()
		s.mu.Lock()
		for c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// Fault returns the named fault.
func (s *FaultServer) Fault(t testing.TB, name string) Fault {
	t.Helper()
	for _, f := range s.Faults {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("fault server: no fault %q", name)
	return Fault{}
}

// Connections returns how many connections were accepted so far.
func (s *FaultServer) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Requests returns how many requests were read so far.
func (s *FaultServer) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// addPorts adds the faults that happen before a request is read: each has a
// port of its own.
func (s *FaultServer) addPorts(t testing.TB, scheme string) {
	refused := Fault{Name: "refused", URL: scheme + deafPort(t, false), Cause: wire.Refused}
	refused.complete()
	s.Faults = append(s.Faults, refused)
	if runtime.GOOS == "linux" {
		full := Fault{Name: "never_accepted", URL: scheme + deafPort(t, true), Cause: wire.TimeoutConnect,
			Limits: wire.Limits{Connect: soon}}
		full.complete()
		s.Faults = append(s.Faults, full)
	}
}

func (s *FaultServer) accept(l net.Listener) {
	defer s.wg.Done()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.count++
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() {
			s.talk(c)
			_ = c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

// talk serves requests on c until one says that it was the last.
func (s *FaultServer) talk(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetNoDelay(true)
	}
	p := &peer{Conn: c, socket: c, done: s.done}
	if s.secure != nil {
		p.Conn = tls.Server(c, s.secure)
		defer p.Conn.Close() // says goodbye, as a good server does
	}
	p.br = bufio.NewReader(p.Conn)
	for p.read() {
		s.mu.Lock()
		s.asked++
		s.mu.Unlock()
		name, path, _ := strings.Cut(strings.TrimPrefix(p.path, "/"), "/")
		serve := s.serve[name]
		if serve == nil || strings.HasSuffix(path, "models") || strings.HasSuffix(path, "health") {
			serve = healthy
		}
		if !serve(p) || p.err != nil {
			return
		}
		p.served++
	}
}
