package load

import (
	"container/heap"

	"github.com/tokamak-bench/tokamak/stat"
)

// closedTrack is the users of the closed stages. User u of a stage is active
// while the stage's level is above u: on a ramp users come, and go, one by one
// at even gaps. One who goes ends the session under way.
type closedTrack struct {
	spans  []span
	think  stat.Distribution
	seed   uint64
	ready  userQueue
	begun  []uint32 // sessions of each user
	busy   int
	taken  int64 // dues of the last stage
	capped int64 // most of them; 0: no limit
	last   int
	end    int64 // nothing is due from then on
	// adapt bounds busy; nil: nothing does. freed is when it last let a waiting
	// user go on.
	adapt *adaptation
	freed int64
}

func newClosedTrack(p Plan, spans []span) closedTrack {
	c := closedTrack{spans: spans, think: p.Think, seed: p.Seed, last: len(spans) - 1, adapt: newAdaptation(p.Adapt)}
	users := int64(0)
	for _, s := range spans {
		if s.Mode == ClosedLoop {
			users = max(users, int64(s.From), int64(s.To))
			c.end = s.end
		}
	}
	if s := spans[c.last]; s.Mode == ClosedLoop {
		c.capped = s.Requests
	}
	c.begun = make([]uint32, users)
	for u := range users {
		c.wait(u, 0)
	}
	return c
}

// wait puts a user into the queue for the first moment at or after at at which
// it is active, if there is one.
func (c *closedTrack) wait(user, at int64) {
	for i := range c.spans {
		s := &c.spans[i]
		if s.Mode != ClosedLoop || s.end <= at {
			continue
		}
		from, to := s.window(user)
		if t := max(from, at); t < to {
			heap.Push(&c.ready, userReady{at: t, user: user, stage: i})
			return
		}
	}
}

// window returns when a user is active in a closed stage: from the first
// moment up to, not including, the second.
func (s *span) window(user int64) (from, to int64) {
	a, b := int64(s.From), int64(s.To)
	switch {
	case user < min(a, b):
		return s.start, s.end
	case user < b: // comes on the way up
		return s.start + s.share(user-a, b-a), s.end
	case user < a: // goes on the way down
		return s.start, s.start + s.share(a-user, a-b)
	}
	return s.start, s.start
}

// share returns n/of of the stage's duration without overflow.
func (s *span) share(n, of int64) int64 {
	d := int64(s.Duration)
	return d/of*n + d%of*n/of
}

// over tells that the last stage has had its number of requests.
func (c *closedTrack) over() bool { return c.capped > 0 && c.taken >= c.capped }

func (c *closedTrack) peek() (Due, bool) {
	for len(c.ready) > 0 && !c.over() && !c.full() {
		r := c.ready[0]
		at := max(r.at, c.freed)
		if _, to := c.spans[r.stage].window(r.user); at < to {
			return Due{At: at, Stage: r.stage, User: r.user}, true
		}
		heap.Pop(&c.ready) // it waited until its stage was over
		c.wait(r.user, at)
	}
	return Due{}, false
}

// full tells whether the first user that waits is not allowed to begin. It is
// held to the level of the stage in which it came to wait: at the beginning of
// another it waits for the next end.
func (c *closedTrack) full() bool {
	if c.adapt == nil || len(c.ready) == 0 {
		return false
	}
	return int64(c.busy) >= c.adapt.allowed(c.spans[c.ready[0].stage].users())
}

// users is the number of users of a closed stage, on a ramp the larger end.
func (s *span) users() int64 { return int64(max(s.From, s.To)) }

// observe tells the rule of an attempt's end.
func (c *closedTrack) observe(at int64, latency float64) (Level, bool) {
	if c.adapt == nil {
		return Level{}, false
	}
	c.release(at)
	l := Level{Latency: c.adapt.observe(at, latency)}
	for i := range c.spans {
		if s := &c.spans[i]; s.Mode == ClosedLoop && (s.start <= at || l.Of == 0) {
			l.Of = s.users()
		}
	}
	l.Allowed = c.adapt.allowed(l.Of)
	news := l.Allowed != c.adapt.last.Allowed || l.Of != c.adapt.last.Of
	c.adapt.last = l
	return l, news
}

// release notes a moment at which users who wait may come to be allowed.
func (c *closedTrack) release(at int64) {
	if c.full() && c.ready[0].at < at {
		c.freed = max(c.freed, at)
	}
}

func (c *closedTrack) pop() {
	r := heap.Pop(&c.ready).(userReady)
	c.begun[r.user]++
	c.busy++
	if r.stage == c.last {
		c.taken++
	}
}

func (c *closedTrack) ended(user, at int64) {
	c.release(at)
	c.busy--
	if c.think != nil {
		r := stat.Random(c.seed, "think", uint64(user)<<32|uint64(c.begun[user]))
		at += nanoseconds(c.think.Sample(r))
	}
	c.wait(user, at)
}

// nanoseconds converts seconds, none below zero and none above a year.
func nanoseconds(seconds float64) int64 {
	const year = 365 * 24 * 3600
	return int64(float64(min(max(seconds, 0), year) * 1e9))
}

type userReady struct {
	at, user int64
	stage    int
}

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
