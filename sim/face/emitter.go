package face

import (
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// Emitter writes the tokens of many streams with few goroutines: the engine's
// loop names streams that have news, and a writer sends each stream's news in
// one system call that never waits. What a client does not take is left to the
// goroutine of its request, so that nobody else is held up.
//
// One emitter serves all lives of an engine. A service without one, and streams
// whose connection or response writer stand in no direct line to a socket, are
// written by the goroutines of their requests.
type Emitter struct {
	clock clock.Loop
	late  lateness

	mu     sync.Mutex
	news   sync.Cond
	queue  []*Exchange // from taken on
	taken  int
	idle   int
	closed bool
	done   sync.WaitGroup
}

// NewEmitter starts an emitter with so many writers; lateness is measured with
// the engine's clock. Close ends it.
func NewEmitter(writers int, c clock.Loop) *Emitter {
	e := &Emitter{clock: c}
	e.news.L = &e.mu
	e.late.reset(time.Now())
	for range writers {
		e.done.Go(e.write)
	}
	return e
}

// Close ends the writers. No stream may be under way.
func (e *Emitter) Close() {
	e.mu.Lock()
	e.closed = true
	e.news.Broadcast()
	e.mu.Unlock()
	e.done.Wait()
}

// add says that x has news.
func (e *Emitter) add(x *Exchange) {
	e.mu.Lock()
	e.queue = append(e.queue, x)
	wake := e.idle > 0
	if wake {
		e.idle--
	}
	e.mu.Unlock()
	if wake {
		e.news.Signal()
	}
}

// share is the most streams that a writer takes at a time: few, so that writers
// end together and the last stream does not wait for a whole share.
const share = 8

// mostTaken bounds what of the queue is done with and still there.
const mostTaken = 4096

// maxBuffer bounds the memory that a writer keeps.
const maxBuffer = 64 << 10

// write is one writer.
func (e *Emitter) write() {
	var mine [share]*Exchange
	buf := make([]byte, 0, 4096)
	for {
		n := e.take(&mine)
		if n == 0 {
			return
		}
		for i, x := range mine[:n] {
			buf = x.out.emit(buf)
			mine[i] = nil
			if cap(buf) > maxBuffer {
				buf = nil // a client was behind by much
			}
		}
	}
}

// take waits for streams with news; 0: the emitter is closed.
func (e *Emitter) take(to *[share]*Exchange) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.taken == len(e.queue) {
		if e.closed {
			return 0
		}
		e.idle++
		e.news.Wait()
	}
	n := copy(to[:], e.queue[e.taken:])
	clear(e.queue[e.taken : e.taken+n])
	e.taken += n
	if e.taken == len(e.queue) || e.taken >= mostTaken { // moved down rarely, and not at each taking
		rest := copy(e.queue, e.queue[e.taken:])
		clear(e.queue[rest:])
		e.queue, e.taken = e.queue[:rest], 0
	}
	return n
}

// Lateness tells how late tokens were written, since the start or the last
// Reset. It and Reset may be called from any goroutine.
func (e *Emitter) Lateness() Lateness { return e.late.read(time.Now()) }

// Reset begins the count of lateness anew.
func (e *Emitter) Reset() { e.late.reset(time.Now()) }
