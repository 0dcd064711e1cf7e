package wire

import (
	"context"
	"net/url"

	"golang.org/x/sync/errgroup"
)

// warmers is how many connections are opened at a time.
const warmers = 32

// wanted is how many connections to a URL's host are to be there.
type wanted struct {
	url *url.URL
	n   int
}

// Warm opens connections to u's host until at least n are there, idle or in
// use, and from then on replaces those that are closed. It does nothing with
// HTTP/2, or where each request opens its own.
func (t *netHTTP) Warm(ctx context.Context, u *url.URL, n int) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return errClosed
	}
	t.wg.Add(1)
	t.mu.Unlock()
	defer t.wg.Done()
	if t.h2 != nil || t.cfg.Reuse == Fresh {
		return nil
	}
	t.pool.wish(u, n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	return t.fill(ctx, u, n)
}

// fill opens what is missing to n.
func (t *netHTTP) fill(ctx context.Context, u *url.URL, n int) error {
	var g errgroup.Group
	g.SetLimit(warmers)
	for range n - t.pool.has(connKey(u)) - t.flying(u) {
		g.Go(func() error {
			c, err := t.open(ctx, u)
			if err == nil {
				t.pool.put(c)
			}
			return err
		})
	}
	return g.Wait()
}

// flying returns how many exchanges with u's host are under way.
func (t *netHTTP) flying(u *url.URL) int {
	key, n := connKey(u), 0
	t.mu.Lock()
	defer t.mu.Unlock()
	for x := range t.live {
		if connKey(x.Request.URL) == key {
			n++
		}
	}
	return n
}

// refill opens again what has been closed of what Warm opened. One that cannot
// be opened is tried again at the next sweep.
func (t *netHTTP) refill(wishes []wanted) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.wg.Add(1)
	t.mu.Unlock()
	defer t.wg.Done()
	for _, w := range wishes {
		ctx, cancel := context.WithTimeout(t.ctx, sweepEvery)
		_ = t.fill(ctx, w.url, w.n)
		cancel()
	}
}
