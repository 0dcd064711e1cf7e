package runner

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/wire"
)

// headroom keeps more connections to a server open than requests are under way
// there, so that those of a burst do not wait for a handshake on their way out.
type headroom struct {
	spare int64 // connections beyond the requests under way
	warm  wire.Warmer
	url   *url.URL

	open atomic.Int64 // requests under way
	want atomic.Int64 // connections asked for
	ask  chan struct{}
}

// newHeadroom returns a headroom of spare connections, which the transport has
// opened already.
func newHeadroom(w wire.Warmer, u *url.URL, spare int) *headroom {
	h := &headroom{spare: int64(spare), warm: w, url: u, ask: make(chan struct{}, 1)}
	h.want.Store(h.spare)
	return h
}

// started counts a request, and asks for more connections where fewer than
// half of the spare ones are left. Only the loop calls it.
func (h *headroom) started() {
	if h == nil {
		return
	}
	n := h.open.Add(1)
	if n+h.spare/2 <= h.want.Load() {
		return
	}
	h.want.Store(n + h.spare)
	select {
	case h.ask <- struct{}{}:
	default:
	}
}

// ended counts a request that is over.
func (h *headroom) ended() {
	if h != nil {
		h.open.Add(-1)
	}
}

// keep opens what is asked for until ctx is done. What does not open is not
// tried again before more is asked for: requests find out what is wrong.
func (h *headroom) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.ask:
			_ = h.warm.Warm(ctx, h.url, int(h.want.Load()))
		}
	}
}

// keepHeadroom gives each server of an open loop its headroom until stop is
// called. A closed loop has a connection for each user.
func (r *Run) keepHeadroom(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var keepers sync.WaitGroup
	for i, h := range r.servers {
		t := r.transport[i]
		w, ok := t.Transport.(wire.Warmer)
		if !ok || t.ahead == nil || r.plan.Describe().PeakUsers > 0 {
			continue
		}
		h.room = newHeadroom(w, t.ahead, t.open)
		keepers.Go(func() { h.room.keep(ctx) })
	}
	return func() {
		cancel()
		keepers.Wait()
	}
}
