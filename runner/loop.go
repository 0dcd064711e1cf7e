package runner

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

// Loop sends one load to one target.
type Loop struct {
	Clock    clock.Clock
	Load     load.Source
	Work     workload.Source
	Target   Target
	Recorder Recorder
	// Drain is how long requests in flight may go on after the last due.
	Drain time.Duration

	start    int64
	turns    turnQueue
	inFlight map[*Call]struct{}
	next     *Call // prepared for the source's next due
	requests int64
	sessions int64
	worked   bool // the workload has ended

	mu    sync.Mutex
	ended []*Call
}

// Run sends everything and returns when the last attempt is recorded, the
// drain is over, or ctx is done (in-flight requests are then cut).
func (l *Loop) Run(ctx context.Context) error {
	l.inFlight = map[*Call]struct{}{}
	stop := context.AfterFunc(ctx, l.Clock.Wake)
	defer stop()
	l.start = l.Clock.Now()
	drainEnd := clock.Forever
	for {
		if err := l.takeEnded(); err != nil {
			return err
		}
		due, state := l.peek()
		if ctx.Err() != nil {
			due, state, drainEnd = clock.Forever, load.Finished, 0
		}
		now := l.Clock.Now()
		if state == load.Ready && due <= now {
			if err := l.dispatch(due); err != nil {
				return err
			}
			continue
		}
		if state == load.Finished {
			if len(l.inFlight) == 0 {
				return nil
			}
			drainEnd = min(drainEnd, now+int64(l.Drain))
			if now >= drainEnd {
				l.cutAll()
			}
			l.Clock.Wait(max(drainEnd, now+int64(time.Millisecond)))
			continue
		}
		if state == load.Ready {
			if err := l.prepareNext(); err != nil {
				return err
			}
			l.Clock.Wait(due)
			continue
		}
		l.Clock.Wait(clock.Forever)
	}
}

// Ended queues a call for the loop.
func (l *Loop) Ended(c *Call) {
	l.mu.Lock()
	l.ended = append(l.ended, c)
	l.mu.Unlock()
	l.Clock.Wake()
}

// peek returns the earliest moment at which something is to be sent.
func (l *Loop) peek() (int64, load.State) {
	due, state := l.Load.Peek()
	at := l.start + due.At
	if l.worked || state != load.Ready {
		at = clock.Forever
	}
	if len(l.turns) > 0 && l.turns[0].at <= at {
		return l.turns[0].at, load.Ready
	}
	if l.worked {
		if len(l.inFlight) > 0 {
			return 0, load.Waiting
		}
		return 0, load.Finished
	}
	return at, state
}

func (l *Loop) prepareNext() error {
	if l.next != nil || l.worked {
		return nil
	}
	session, err := l.Work.Session(l.sessions)
	if err == workload.ErrEnd {
		l.worked = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("session %d: %w", l.sessions, err)
	}
	l.sessions++
	spec, ok := session.Next(nil)
	if !ok {
		return fmt.Errorf("session %d is empty", l.sessions-1)
	}
	l.next = &Call{Spec: spec, session: session}
	return l.Target.Prepare(l.next)
}

func (l *Loop) dispatch(at int64) error {
	if len(l.turns) > 0 && l.turns[0].at <= at {
		return l.send(l.turns.pop(), at)
	}
	if err := l.prepareNext(); err != nil || l.worked {
		return err
	}
	due, _ := l.Load.Peek()
	l.Load.Pop()
	c := l.next
	l.next = nil
	c.user = due.User
	c.Row.Stage = int64(due.Stage)
	return l.send(c, at)
}

func (l *Loop) send(c *Call, intended int64) error {
	s := c.Spec
	c.Row.Identity.RequestID, c.Row.Identity.Attempt = l.requests, 1
	l.requests++
	c.Row.Class, c.Row.Tenant, c.Row.SessionID, c.Row.SourceID = s.Class, s.Tenant, s.SessionID, s.SourceID
	c.Row.Turn = s.Turn
	if c.user != load.NoUser {
		c.Row.User = record.Some(c.user)
	}
	if s.InputTokens > 0 {
		c.Row.PromptAsked = record.Some(s.InputTokens)
	}
	if s.OutputTokens > 0 {
		c.Row.OutputAsked = record.Some(s.OutputTokens)
	}
	c.Row.PromptShared = record.Some(s.SharedTokens)
	c.Row.Intended = record.Some(intended)
	c.Row.Dispatched = record.Some(l.Clock.Now())
	if err := l.Recorder.Dispatched(&c.Row); err != nil {
		return err
	}
	l.inFlight[c] = struct{}{}
	l.Target.Start(c, l)
	return nil
}

func (l *Loop) takeEnded() error {
	l.mu.Lock()
	ended := l.ended
	l.ended = nil
	l.mu.Unlock()
	for _, c := range ended {
		delete(l.inFlight, c)
		if err := l.Recorder.Ended(&c.Row); err != nil {
			return err
		}
		if err := l.follow(c); err != nil {
			return err
		}
	}
	return nil
}

// follow schedules what comes after an ended call: its session's next turn or
// its user's next session.
func (l *Loop) follow(c *Call) error {
	at := c.Row.Moments.Ended.Or(l.Clock.Now())
	var answer *workload.Answer
	if c.Row.Outcome == record.OK {
		answer = &c.Answer
		if spec, ok := c.session.Next(answer); ok {
			next := &Call{Spec: spec, session: c.session, user: c.user}
			next.Row.Stage = c.Row.Stage
			if err := l.Target.Prepare(next); err != nil {
				return err
			}
			l.turns.push(turn{at + int64(spec.Think), next})
			return nil
		}
	}
	if c.user != load.NoUser {
		l.Load.Ended(c.user, at-l.start)
	}
	return nil
}

func (l *Loop) cutAll() {
	for c := range l.inFlight {
		l.Target.Cancel(c, record.Cut)
	}
}
