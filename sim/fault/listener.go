package fault

import (
	"errors"
	"net"
	"sync"
	"syscall"
)

// Listener is a listener whose connections can be reset all at once, as when
// the process behind them dies.
type Listener struct {
	net.Listener
	mu    sync.Mutex
	dead  bool
	conns map[*conn]struct{}
}

// NewListener returns a listener over l.
func NewListener(l net.Listener) *Listener {
	return &Listener{Listener: l, conns: map[*conn]struct{}{}}
}

type conn struct {
	net.Conn
	of *Listener
}

// Accept returns the next connection. While dead it resets whatever comes.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		if l.dead {
			l.mu.Unlock()
			reset(c)
			continue
		}
		k := &conn{Conn: c, of: l}
		l.conns[k] = struct{}{}
		l.mu.Unlock()
		return k, nil
	}
}

// Close closes the connection.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// SyscallConn returns the descriptor below, where there is one.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// Kill resets every connection, and those that come until Revive.
func (l *Listener) Kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
	for c := range l.conns {
		reset(c.Conn)
	}
}

// Revive takes connections again.
func (l *Listener) Revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = false
}

// reset closes a connection without a farewell.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
