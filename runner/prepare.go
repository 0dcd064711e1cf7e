package runner

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tokamak-bench/tokamak/workload"
)

// aheadTokens bounds the prompt tokens that wait prepared, so that long
// prompts do not pile up in memory: about 5 bytes each.
const aheadTokens = 4 << 20

// aheadBytes bounds the images, sound and videos that wait prepared.
const aheadBytes = 256 << 20

// preparer takes sessions from the workload in order and has their first
// requests ready before their moment.
type preparer struct {
	loop   *Loop
	number int64 // of the next session

	mu      sync.Mutex
	change  sync.Cond
	queue   []*Call
	bytes   int64
	tokens  int64
	err     error // of the workload or a preparation; comes after the queue
	stopped bool
	wg      sync.WaitGroup
}

func newPreparer(l *Loop) *preparer {
	p := &preparer{loop: l}
	p.change.L = &p.mu
	if l.Ahead > 0 {
		p.wg.Go(p.run)
	}
	return p
}

// next returns the next session's first request; nil where it is not prepared
// yet (the loop is woken when it is).
func (p *preparer) next() (*Call, error) {
	if p.loop.Ahead == 0 {
		c, err := p.make()
		if err != nil {
			return nil, err
		}
		return c, p.loop.Target.Prepare(c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil, p.err
	}
	c := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.tokens -= c.Spec.InputTokens
	p.bytes -= c.Row.Media.Bytes.Or(0)
	p.change.Broadcast()
	return c, nil
}

// await blocks until n requests are prepared or no more will be.
func (p *preparer) await(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.loop.Ahead > 0 && len(p.queue) < n && p.err == nil && !p.full() {
		p.change.Wait()
	}
}

func (p *preparer) full() bool {
	return len(p.queue) >= p.loop.Ahead || p.tokens > aheadTokens || p.bytes > aheadBytes
}

func (p *preparer) run() {
	for {
		c, err := p.make()
		if err == nil {
			err = p.loop.Target.Prepare(c)
		}
		p.mu.Lock()
		if err != nil {
			p.err = err
		} else {
			p.queue = append(p.queue, c)
			p.tokens += c.Spec.InputTokens
			p.bytes += c.Row.Media.Bytes.Or(0)
		}
		p.change.Broadcast()
		for p.full() && !p.stopped && p.err == nil {
			p.change.Wait()
		}
		stop := p.stopped || p.err != nil
		p.mu.Unlock()
		p.loop.Clock.Wake()
		if stop {
			return
		}
	}
}

// make takes the next session's first request.
func (p *preparer) make() (*Call, error) {
	session, err := p.loop.Work.Session(p.number)
	if err != nil {
		if errors.Is(err, workload.ErrEnd) {
			return nil, err
		}
		return nil, fmt.Errorf("session %d: %w", p.number, err)
	}
	spec, ok := session.Next(nil)
	if !ok {
		return nil, fmt.Errorf("session %d has no request", p.number)
	}
	c := &Call{Spec: spec, session: session, number: p.number}
	p.number++
	identify(c, p.loop.Seed)
	return c, nil
}

// unprepared returns the next session's first request for a row that says it
// was never sent: the preparer has stopped, and no text is written any more.
func (p *preparer) unprepared() (*Call, error) {
	p.close()
	if len(p.queue) > 0 {
		c := p.queue[0]
		p.queue = p.queue[1:]
		return c, nil
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.make()
}

func (p *preparer) close() {
	p.mu.Lock()
	p.stopped = true
	p.change.Broadcast()
	p.mu.Unlock()
	p.wg.Wait()
}

// prepareLater prepares a turn or retry off the loop and puts it where the
// loop finds it.
func (l *Loop) prepareLater(c *Call) error {
	if l.Ahead == 0 {
		if err := l.Target.Prepare(c); err != nil {
			return err
		}
		l.later.push(c.at, c)
		return nil
	}
	l.preparing++
	l.ahead.wg.Go(func() {
		err := l.Target.Prepare(c)
		l.mu.Lock()
		l.ready = append(l.ready, c)
		if err != nil && l.fault == nil {
			l.fault = err
		}
		l.mu.Unlock()
		l.Clock.Wake()
	})
	return nil
}
