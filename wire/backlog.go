package wire

import (
	"sync"
	"sync/atomic"
)

const (
	// segmentSize is the room of a segment: some fifteen events of an LLM.
	// Four times as much saves nothing that can be measured and costs each
	// open stream 12 KiB.
	segmentSize = 4 << 10
	// segmentEvents is when a segment is full of very short events: room for
	// three times as many costs each open stream 2 KiB.
	segmentEvents = 32
	// spareSegments is how many are kept for use again.
	spareSegments = 1024
	// backlogLimit is how many segments may wait for one worker.
	backlogLimit = 1024
)

// segments keeps used segments. It is not a sync.Pool, which the garbage
// collector empties.
type segments struct {
	mu   sync.Mutex
	free []*Segment
}

func (s *segments) get() *Segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		seg := s.free[n-1]
		s.free = s.free[:n-1]
		return seg
	}
	return &Segment{Data: make([]byte, 0, segmentSize), Events: make([]Event, 0, segmentEvents)}
}

// put takes a segment back; one that grew is left to the garbage collector.
func (s *segments) put(seg *Segment) {
	if cap(seg.Data) != segmentSize || cap(seg.Events) > 2*segmentEvents {
		return
	}
	seg.Data, seg.Events = seg.Data[:0], seg.Events[:0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < spareSegments {
		s.free = append(s.free, seg)
	}
}

// work is one call or two to a sink.
type work struct {
	x       *Exchange
	segment *Segment // nil: none
	last    bool     // Ended follows
	gzipped bool     // the segment is a gzip body
}

// backlog hands segments to workers. What belongs to one lane is done in order
// by one worker.
type backlog struct {
	lanes   []lane
	spare   *segments
	maxBody int
	waiting atomic.Int64 // segments
	wg      sync.WaitGroup
}

type lane struct {
	mu     sync.Mutex
	ready  sync.Cond
	queue  []work
	undone int // work taken or queued
	closed bool
}

func newBacklog(workers, maxBody int, spare *segments) *backlog {
	b := &backlog{lanes: make([]lane, workers), spare: spare, maxBody: maxBody}
	for i := range b.lanes {
		l := &b.lanes[i]
		l.ready.L = &l.mu
		b.wg.Go(func() { b.run(l) })
	}
	return b
}

// put hands work to lane i. It refuses when too much waits there, unless the
// work is the last of its exchange. It never blocks.
func (b *backlog) put(i int64, w work) bool {
	l := &b.lanes[uint64(i)%uint64(len(b.lanes))]
	l.mu.Lock()
	if l.undone >= backlogLimit && !w.last {
		l.mu.Unlock()
		return false
	}
	l.undone++
	l.queue = append(l.queue, w)
	first := len(l.queue) == 1
	l.mu.Unlock()
	b.waiting.Add(1)
	if first {
		l.ready.Signal()
	}
	return true
}

// close ends the workers when all is done.
func (b *backlog) close() {
	for i := range b.lanes {
		l := &b.lanes[i]
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		l.ready.Signal()
	}
	b.wg.Wait()
}

func (b *backlog) run(l *lane) {
	var batch []work
	for {
		l.mu.Lock()
		l.undone -= len(batch)
		for len(l.queue) == 0 && !l.closed {
			l.ready.Wait()
		}
		clear(batch)
		batch, l.queue = l.queue, batch[:0]
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			b.do(&batch[i])
		}
	}
}

func (b *backlog) do(w *work) {
	b.waiting.Add(-1)
	if w.gzipped && w.x.Cause == Completed {
		b.unzip(w)
	}
	if w.segment != nil {
		if len(w.segment.Data) > 0 {
			w.x.Sink.Segment(w.x, w.segment)
		}
		b.spare.put(w.segment)
	}
	if w.last {
		w.x.Sink.Ended(w.x)
	}
}

// unzip replaces a gzip body by what is in it.
func (b *backlog) unzip(w *work) {
	if w.segment == nil || len(w.segment.Events) != 1 {
		return
	}
	data, err := gunzip(w.segment.Data, b.maxBody)
	if err != nil {
		w.x.Cause, w.x.Err = BadBody, err
		w.segment.Events = w.segment.Events[:0]
		return
	}
	w.segment.Data = data
	w.segment.Events[0].End = int32(len(data))
	if len(data) == 0 {
		w.segment.Events = w.segment.Events[:0]
	}
}
