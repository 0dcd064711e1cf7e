package load

import (
	"container/heap"
	"time"
)

// Closed is a closed loop of one stage: users who each send the next request
// when the last has ended.
type Closed struct {
	ready userQueue
	busy  int
	index int64
	end   int64
}

// NewClosed returns users that all start at 0 and stop starting at duration.
func NewClosed(users int, duration time.Duration) *Closed {
	c := &Closed{end: int64(duration)}
	for u := range users {
		c.ready = append(c.ready, userReady{user: int64(u)})
	}
	return c
}

// Peek returns the user who is ready first.
func (c *Closed) Peek() (Due, State) {
	if len(c.ready) == 0 {
		if c.busy == 0 {
			return Due{}, Finished
		}
		return Due{}, Waiting
	}
	if c.ready[0].at >= c.end {
		return Due{}, Finished
	}
	return Due{At: c.ready[0].at, Index: c.index, User: c.ready[0].user}, Ready
}

// Pop sends the first user off.
func (c *Closed) Pop() {
	heap.Pop(&c.ready)
	c.busy++
	c.index++
}

// Ended makes a user ready again.
func (c *Closed) Ended(user, at int64) {
	c.busy--
	heap.Push(&c.ready, userReady{at: at, user: user})
}

type userReady struct{ at, user int64 }

type userQueue []userReady

func (q userQueue) Len() int { return len(q) }
func (q userQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].user < q[j].user
}
func (q userQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *userQueue) Push(x any)   { *q = append(*q, x.(userReady)) }
func (q *userQueue) Pop() any {
	n := len(*q) - 1
	u := (*q)[n]
	*q = (*q)[:n]
	return u
}
