package wire

import (
	"math/bits"
	"sync/atomic"
)

// netCounters are a netHTTP's own figures under way.
type netCounters struct {
	open              atomic.Int64 // connections
	events, met, bare atomic.Int64 // events; coalesced; unstamped
	reads, held       atomic.Int64
	delay             [len(Stats{}.Delay)]atomic.Int64
}

// read counts a receive call; late is from the kernel's stamp to the read, and
// -1 without a stamp.
func (c *netCounters) read(late int64) {
	c.reads.Add(1)
	if late >= 0 {
		c.delay[min(bits.Len64(uint64(late)), len(c.delay)-1)].Add(1)
	}
}

// count adds a segment that is handed on.
func (c *netCounters) count(s *Segment) {
	if s == nil {
		return
	}
	met, bare := 0, 0
	for _, e := range s.Events {
		met += int(e.Flags & Coalesced / Coalesced)
		bare += int(e.Flags & Unstamped / Unstamped)
	}
	c.events.Add(int64(len(s.Events)))
	c.met.Add(int64(met))
	c.bare.Add(int64(bare))
}

// Stats returns the figures of this moment. Events are counted when they are
// handed to a worker; connections, reads and delays are those of HTTP/1.1.
func (t *netHTTP) Stats() Stats {
	c := &t.counters
	t.mu.Lock()
	s := Stats{InFlight: len(t.live)}
	t.mu.Unlock()
	s.Open, s.Backlog = int(c.open.Load()), int(t.work.waiting.Load())
	s.Chunks, s.Coalesced, s.Unstamped = c.events.Load(), c.met.Load(), c.bare.Load()
	s.Reads, s.Held, s.ClockSteps = c.reads.Load(), c.held.Load(), t.stamps.steps()
	for i := range s.Delay {
		s.Delay[i] = c.delay[i].Load()
	}
	return s
}

// plus adds the figures of another transport; the clock's steps are the same ones.
func (s Stats) plus(o Stats) Stats {
	s.Open += o.Open
	s.InFlight += o.InFlight
	s.Backlog += o.Backlog
	s.Chunks += o.Chunks
	s.Coalesced += o.Coalesced
	s.Unstamped += o.Unstamped
	s.Reads += o.Reads
	s.Held += o.Held
	s.Rounds += o.Rounds
	s.ClockSteps = max(s.ClockSteps, o.ClockSteps)
	for i := range s.Delay {
		s.Delay[i] += o.Delay[i]
	}
	return s
}
