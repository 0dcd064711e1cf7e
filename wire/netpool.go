package wire

import (
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/wire/http1"
)

const (
	// idleAge is how long a used connection may lie idle: common servers close
	// theirs after 5 s, and a request must not meet that.
	idleAge = 4 * time.Second
	// newAge is the same for one that has carried no request, which servers
	// leave open far longer.
	newAge = 30 * time.Second
	// sweepEvery is how often idle connections are looked at.
	sweepEvery = time.Second
)

// netConn is one HTTP/1.1 connection of the net/http way.
type netConn struct {
	net.Conn            // what is spoken over: TLS, or the stamping connection itself
	stamps   *stampConn // the socket below
	id       int64
	key      string // scheme and host it leads to
	absolute bool   // an HTTP proxy: requests name the whole URL
	// proxyAuth is what that proxy wants to be shown.
	proxyAuth string
	idle      int64 // since when it lies, or last lay, idle
	kept      bool  // lay idle: it was not opened for the request that uses it
	used      bool  // carried a request before
	spoilt    bool  // must carry no other
	parser    http1.Parser
	buf       []byte
}

// until is when the connection has been idle too long.
func (c *netConn) until() int64 {
	if c.used {
		return c.idle + int64(idleAge)
	}
	return c.idle + int64(newAge)
}

// good tells that a request may be sent on an idle connection: the server has
// not closed it, nor, without TLS, said anything unasked.
func (c *netConn) good(now int64) bool {
	return now < c.until() && !c.stamps.dead() && (c.Conn != net.Conn(c.stamps) || !c.stamps.waiting())
}

// cut closes the socket at once, without TLS's farewell.
func (c *netConn) cut() { _ = c.stamps.Close() }

// netPool keeps idle connections.
type netPool struct {
	clock  *clock.Real
	reuse  Reuse
	limit  int // with Limit
	mu     sync.Mutex
	idle   map[string][]*netConn // the newest last
	count  int
	sweep  *time.Timer
	wishes map[string]wanted // of Warm
	refill func([]wanted)
	closed bool
}

// take returns an idle connection to key that is still good, or nil.
func (p *netPool) take(key string) *netConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[key]
	for len(list) > 0 {
		c := list[len(list)-1]
		list = list[:len(list)-1]
		p.idle[key] = list
		p.count--
		if c.good(p.clock.Now()) {
			return c
		}
		c.cut()
	}
	return nil
}

// put keeps a connection for the next request, or closes it.
func (p *netPool) put(c *netConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.reuse == Fresh && c.used || p.reuse == Limit && p.count >= p.limit {
		c.cut()
		return
	}
	c.idle, c.kept = p.clock.Now(), true
	p.idle[c.key] = append(p.idle[c.key], c)
	p.count++
	if p.sweep == nil {
		p.sweep = time.AfterFunc(sweepEvery, p.old)
	}
}

// old closes what has been idle too long, or what the server has closed.
func (p *netPool) old() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep = nil
	if p.closed {
		return
	}
	now := p.clock.Now()
	for key, list := range p.idle {
		kept := slices.DeleteFunc(list, func(c *netConn) bool {
			if c.good(now) {
				return false
			}
			c.cut()
			p.count--
			return true
		})
		if p.idle[key] = kept; len(kept) == 0 {
			delete(p.idle, key)
		}
	}
	if len(p.wishes) > 0 {
		go p.refill(slices.Collect(maps.Values(p.wishes)))
	}
	if p.count > 0 || len(p.wishes) > 0 {
		p.sweep = time.AfterFunc(sweepEvery, p.old)
	}
}

// wish remembers how many connections Warm was asked for.
func (p *netPool) wish(u *url.URL, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := connKey(u)
	p.wishes[key] = wanted{u, max(n, p.wishes[key].n)}
	if p.sweep == nil && !p.closed {
		p.sweep = time.AfterFunc(sweepEvery, p.old)
	}
}

// has returns how many idle connections lead to key.
func (p *netPool) has(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle[key])
}

func (p *netPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.sweep != nil {
		p.sweep.Stop()
	}
	for _, list := range p.idle {
		for _, c := range list {
			c.cut()
		}
	}
	clear(p.idle)
}
