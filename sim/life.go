package sim

import (
	"net/http"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/fault"
)

// process is a served engine that can die and live again: each life has a face
// of its own, so that its counters begin at zero.
type process struct {
	loop     clock.Loop
	faults   *fault.Set
	listener *fault.Listener
	others   []*fault.Listener // that die with it
	// open returns the service of a new life and its routes.
	open    func(died func(at int64)) (*face.Service, http.Handler, error)
	current atomic.Pointer[life]
	past    []*face.Service // the loop's, until the loop has ended
}

type life struct {
	service *face.Service
	handler http.Handler
}

// start begins the first life.
func (p *process) start() error {
	kill, err := p.live()
	if err != nil {
		return err
	}
	p.faults.Attach(kill)
	return nil
}

func (p *process) live() (kill func(at int64), err error) {
	s, h, err := p.open(p.died)
	if err != nil {
		return nil, err
	}
	p.current.Store(&life{service: s, handler: h})
	return s.Kill, nil
}

// died is called on the loop when the engine dies.
func (p *process) died(at int64) {
	p.listener.Kill()
	for _, l := range p.others {
		l.Kill()
	}
	after := p.faults.Revival()
	if after == 0 {
		return
	}
	p.loop.At(at+after, func() {
		p.past = append(p.past, p.current.Load().service)
		kill, err := p.live()
		if err != nil {
			return // the first life had the same description
		}
		p.faults.Reborn(at+after, kill)
		p.listener.Revive()
		for _, l := range p.others {
			l.Revive()
		}
	})
}

// ServeHTTP answers as the life under way.
func (p *process) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.current.Load().handler.ServeHTTP(w, r)
}

// stop waits until no life answers a request.
func (p *process) stop() {
	done := make(chan []*face.Service)
	p.loop.Post(func() { done <- p.past })
	for _, f := range append(<-done, p.current.Load().service) {
		f.Stop()
	}
}
