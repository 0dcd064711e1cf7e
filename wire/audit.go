package wire

import (
	"sync"
	"time"
)

// Pause is a time, in ns since the run's epoch, in which nobody looked at the
// sockets although some had something to read: events whose stamps lie in it and
// which share one may have come at any moment of it.
type Pause struct{ From, To int64 }

// Auditor is what a transport satisfies that testifies against itself. It may
// be called from any goroutine at any time.
type Auditor interface {
	// Pauses returns, and forgets, the pauses of reading in which events met.
	Pauses() []Pause
	// Sockets looks at up to n open connections, taken at random.
	Sockets(n int) []Socket
}

// Socket is how a connection stands in the kernel.
type Socket struct {
	RTT         time.Duration // smoothed
	Retransmits int64         // segments sent again since it was opened
	Unread      int64         // bytes that arrived and were not read yet
}

// pauseList keeps pauses until someone asks.
type pauseList struct {
	mu  sync.Mutex
	all []Pause
}

// pausesKept is how many pauses wait at most; a further one makes the last longer.
const pausesKept = 4096

func (l *pauseList) add(p Pause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.all); n == pausesKept {
		last := &l.all[n-1]
		last.From, last.To = min(last.From, p.From), max(last.To, p.To)
		return
	}
	l.all = append(l.all, p)
}

func (l *pauseList) take() []Pause {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// Pauses asks the way that has a reader of its own; over net/http each
// connection has one.
func (s *split) Pauses() []Pause {
	if a, ok := s.plain.(Auditor); ok {
		return a.Pauses()
	}
	return nil
}

// Sockets asks the same.
func (s *split) Sockets(n int) []Socket {
	if a, ok := s.plain.(Auditor); ok {
		return a.Sockets(n)
	}
	return nil
}
