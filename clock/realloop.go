package clock

import (
	"container/heap"
	"sync"
)

// RealLoop runs callbacks on one goroutine at moments of a real clock.
type RealLoop struct {
	clock *Real
	mu    sync.Mutex
	posts []func()
	stop  bool
	queue eventQueue
	order uint64
	done  chan struct{}
}

var _ Loop = (*RealLoop)(nil)

// NewRealLoop starts a loop that owns clock: nothing else may wait on it.
// Close ends it.
func NewRealLoop(clock *Real) *RealLoop {
	l := &RealLoop{clock: clock, done: make(chan struct{})}
	go l.run()
	return l
}

// Now returns the clock's time.
func (l *RealLoop) Now() int64 { return l.clock.Now() }

// At calls f at the moment t. Only callbacks of the loop may call it.
func (l *RealLoop) At(t int64, f func()) {
	l.order++
	heap.Push(&l.queue, event{at: t, order: l.order, f: f})
}

// Post calls f as soon as possible, from any goroutine.
func (l *RealLoop) Post(f func()) {
	l.mu.Lock()
	l.posts = append(l.posts, f)
	l.mu.Unlock()
	l.clock.Wake()
}

// Close stops the loop; callbacks not yet due are dropped.
func (l *RealLoop) Close() {
	l.mu.Lock()
	l.stop = true
	l.mu.Unlock()
	l.clock.Wake()
	<-l.done
}

func (l *RealLoop) run() {
	defer close(l.done)
	release := l.clock.Pin()
	defer release()
	var spare []func()
	for {
		l.mu.Lock()
		posts, stop := l.posts, l.stop
		l.posts = spare[:0]
		l.mu.Unlock()
		if stop {
			return
		}
		for _, f := range posts {
			f()
		}
		clear(posts)
		spare = posts
		until := Forever
		if l.runDue(); len(l.queue) > 0 {
			until = l.queue[0].at
		}
		l.clock.Wait(until)
	}
}

// runDue runs what is due at the moment of the call; what becomes due
// meanwhile waits for the next round, so that posts are never starved.
func (l *RealLoop) runDue() {
	now := l.clock.Now()
	for len(l.queue) > 0 && l.queue[0].at <= now {
		heap.Pop(&l.queue).(event).f()
	}
}
