package wire

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// host is one server and the connections to it. poller.mu guards it.
type host struct {
	name, port string
	addrs      []unix.Sockaddr // nil: not looked up, or not found
	looking    bool
	waiting    []*conn // for the addresses
	idle       []*conn
	total      int // connections, also those that are being opened
	want       int // connections to keep
}

// host returns the host of u; p.mu is held.
func (p *poller) host(u *url.URL) (*host, error) {
	if h := p.hosts[u.Host]; h != nil {
		return h, nil
	}
	h := &host{name: u.Hostname(), port: u.Port()}
	if h.port == "" {
		h.port = "80"
	}
	if p.cfg.UnixSocket != "" {
		h.addrs = []unix.Sockaddr{&unix.SockaddrUnix{Name: p.cfg.UnixSocket}}
	} else if ip, err := netip.ParseAddr(h.name); err == nil {
		if h.addrs, err = sockaddrs([]netip.Addr{ip}, h.port); err != nil {
			return nil, err
		}
	}
	p.hosts[u.Host] = h
	return h, nil
}

func (h *host) removeIdle(c *conn) {
	last := len(h.idle) - 1
	h.idle[c.idleIndex] = h.idle[last]
	h.idle[c.idleIndex].idleIndex = c.idleIndex
	h.idle[last] = nil
	h.idle = h.idle[:last]
	c.idleIndex = -1
}

// lookUp finds the host's addresses and connects those who wait for them. A
// failure is not kept: the next dial looks again.
func (p *poller) lookUp(h *host) {
	ips, err := net.DefaultResolver.LookupNetIP(p.ctx, "ip", h.name)
	var addrs []unix.Sockaddr
	if err == nil {
		addrs, err = sockaddrs(ips, h.port)
	}
	p.mu.Lock()
	h.addrs, h.looking = addrs, false
	waiting := h.waiting
	h.waiting = nil
	p.mu.Unlock()
	for _, c := range waiting {
		c.mu.Lock()
		switch {
		case c.state != connLooking:
		case err != nil:
			c.dialFailed(Refused, fmt.Errorf("look up the server's name: %w", err))
		default:
			c.connect(addrs)
		}
		c.mu.Unlock()
	}
}

func sockaddrs(ips []netip.Addr, port string) ([]unix.Sockaddr, error) {
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil, fmt.Errorf("port: %w", err)
	}
	var all []unix.Sockaddr
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() {
			all = append(all, &unix.SockaddrInet4{Port: n, Addr: ip.As4()})
			continue
		}
		sa := &unix.SockaddrInet6{Port: n, Addr: ip.As16()}
		if ip.Zone() != "" {
			i, err := net.InterfaceByName(ip.Zone())
			if err != nil {
				return nil, fmt.Errorf("zone of the address: %w", err)
			}
			sa.ZoneId = uint32(i.Index)
		}
		all = append(all, sa)
	}
	return all, nil
}

// dialsAtOnce bounds how many connections are opened ahead at once, so that
// they fit a server's accept queue.
const dialsAtOnce = 64

// Warm keeps n connections to u's host from now on.
func (p *poller) Warm(ctx context.Context, u *url.URL, n int) error {
	if p.cfg.Reuse == Fresh {
		return nil // each request opens its own
	}
	p.mu.Lock()
	h, err := p.host(u)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	h.want = max(h.want, n)
	missing := n - h.total
	p.mu.Unlock()

	places := make(chan struct{}, dialsAtOnce)
	var mu sync.Mutex
	var first error
	opened := func(err error) {
		mu.Lock()
		if first == nil {
			first = err
		}
		mu.Unlock()
		<-places
	}
	for i := 0; i < missing+dialsAtOnce; i++ {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		mu.Lock()
		failed := first != nil
		mu.Unlock()
		if i < missing && !failed {
			p.openAhead(h, opened)
		} else if i < missing {
			<-places
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return first
}

// openAhead dials a connection for no exchange; opened hears how it went.
func (p *poller) openAhead(h *host, opened func(error)) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		opened(errClosed)
		return
	}
	c := p.newConn(h)
	p.mu.Unlock()
	c.mu.Lock()
	c.opened = opened
	c.dial()
	c.setDeadline()
	c.mu.Unlock()
}

// newConn makes a connection that is not dialled yet; p.mu is held.
func (p *poller) newConn(h *host) *conn {
	c := &conn{p: p, host: h, id: p.nextID.Add(1), fd: -1, idleIndex: -1, born: p.clock.Now()}
	c.deadline = deadline{index: -1, owner: c}
	h.total++
	p.open[c] = struct{}{}
	return c
}

// park makes c idle, if it is to be kept.
func (c *conn) park(now int64) (kept bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	h := c.host
	if p.closed || p.cfg.Reuse == Fresh && c.used || p.cfg.Reuse == Limit && len(h.idle) >= p.cfg.MaxIdle {
		return false
	}
	c.state, c.parked = connIdle, now
	if c.used {
		c.idleIndex = len(h.idle)
		h.idle = append(h.idle, c)
		return true
	}
	// Those opened ahead come last, the first opened before the others: a
	// server with a thread for each connection serves the first ones that it
	// accepted.
	h.idle = slices.Insert(h.idle, 0, c)
	for i, o := range h.idle {
		o.idleIndex = i
	}
	return true
}

// forget removes a closed connection from the books and tells whether another
// is to be opened in its place: not where it died young, lest we storm a
// server that closes what it accepts.
func (c *conn) forget() (replace bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	h := c.host
	if c.idleIndex >= 0 {
		h.removeIdle(c)
	}
	if i := slices.Index(h.waiting, c); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	}
	delete(p.open, c)
	h.total--
	lived := c.p.clock.Now() - c.born
	return !p.closed && h.total < h.want && c.ready && lived > int64(time.Second)
}
