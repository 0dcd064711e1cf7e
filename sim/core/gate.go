package core

import "sync/atomic"

// Share is an exact share of requests: K of each N, evenly spread in order of
// arrival. The zero value is none.
type Share struct{ K, N int64 }

// hits tells whether request i, from 0, belongs to the share.
func (s Share) hits(i int64) bool {
	if s.N <= 0 {
		return false
	}
	i %= s.N
	return (i+1)*s.K/s.N > i*s.K/s.N
}

// Gate refuses requests on purpose, before they reach the engine.
type Gate struct {
	Fail       Share
	FailStatus int // HTTP status of a failure
	Reject     Share
	RetryAfter int64 // s, in a rejection; 0: no such header
	seen       atomic.Int64
}

// Refusal is a request refused on purpose.
type Refusal struct {
	Status     int
	RetryAfter int64 // s; 0: not told
}

// Admit counts a request and returns why it is refused, or nil. It may be
// called from any goroutine.
func (g *Gate) Admit() *Refusal {
	i := g.seen.Add(1) - 1
	switch {
	case g.Fail.hits(i):
		return &Refusal{Status: g.FailStatus}
	case g.Reject.hits(i):
		return &Refusal{Status: 429, RetryAfter: g.RetryAfter}
	}
	return nil
}
