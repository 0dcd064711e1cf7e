package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

// Loop sends one load to one target. Its fields are set before Run and not
// touched after.
type Loop struct {
	Clock    clock.Clock
	Load     load.Source
	Work     workload.Source
	Target   Target
	Recorder Recorder
	// Observer, where set, is told of each sending and each end.
	Observer Observer
	// Abort, where set, is asked after each end whether the run must stop.
	Abort Aborter
	// Decide, where set, is told of each request that has its last row, and
	// ends the load once it knows enough.
	Decide Decider
	Limits Limits
	// Ahead is how many requests are prepared before their moment; 0 prepares
	// each at its moment, in the loop itself, as virtual time does.
	Ahead int
	// Seed keys the trace ids and the jitter of pauses.
	Seed uint64
	// Adapt is the metric that an adaptive Load is told of; empty: none.
	Adapt string
	// ReadRate is how many tokens of an answer a user reads a second before
	// going on; 0: reading takes no time.
	ReadRate float64
	// Duration is the load's length where it has one: nothing is due at or
	// after it. 0: the load ends when its source does.
	Duration time.Duration
	// Until is after how long no turn of a conversation begins any more, where
	// that is before the load's end; 0: only the load's end counts.
	Until time.Duration
	// Prefill is how many requests are prepared before the load's first moment.
	Prefill int

	start       int64
	end         int64 // moment of the load's end as far as it is known
	stage       int
	inFlight    map[*Call]struct{}
	later       callQueue // turns and retries, by moment
	impatient   callQueue // calls to cancel, by moment
	preparing   int       // turns and retries being prepared
	ahead       *preparer
	requests    int64
	asked       int64  // tokens asked for so far
	closing     bool   // nothing more is taken from the source
	short       bool   // it was closed before the load's end
	stopReason  string // of an abort rule
	stoppedAt   int64
	limited     string // which limit closed it
	decided     bool   // Decide closed it
	closed      bool   // a limit or the workload's end closed it
	waiting     bool   // what is due is not ready
	unready     int64
	unreadyMost int64
	// interrupted says that the context ended.
	interrupted bool
	slotFreed   int64 // when the cap of requests in flight last let one go
	givenUp     int
	broken      int64 // conversations whose next turn would come after the end

	mu    sync.Mutex
	ended []*Call
	ready []*Call // turns whose preparation is done
	fault error   // of a preparation
}

// Limits bound what a loop sends.
type Limits struct {
	Drain       time.Duration // how long requests in flight may go on after the load's end
	MaxInFlight int           // 0: no cap
	MaxRequests int64         // 0: no cap
	MaxTokens   int64         // prompt and output tokens asked for, all requests together; 0: no cap
	Retries     int           // further attempts of a request that failed
	RetryOn     RetryOn       // which failures are worth one
	Backoff     load.Backoff  // the pause before each
}

// Observer is told what the loop does, for live figures. It is called from the
// loop and must return at once.
type Observer interface {
	Sent(a *record.Attempt)
	Ended(a *record.Attempt)
	Stage(stage int, at int64)
}

// Aborter decides from what has ended whether to stop.
type Aborter interface {
	// Observe takes an ended attempt and returns why to stop, or "".
	Observe(a *record.Attempt) string
}

// Decider is told of requests that will have no further attempt, in the order
// in which they end, and says when no more of them are needed.
type Decider interface {
	Settled(requestID int64) (enough bool)
}

// Outcome says how a loop came to its end.
type Outcome struct {
	Start, End  int64  // first moment of the load and the last at which something could be due
	StoppedAt   int64  // when an abort rule struck
	Stopped     string // the abort rule that ended it before its time; empty where none did
	Limited     string // the limit that ended it before its time, which the user set as a budget
	Decided     bool   // the Decider ended it: nothing more was needed
	Spent       bool   // all that was to be sent was sent, maybe before the load's time was over
	Unready     int64  // requests that left late because what to send was not ready
	UnreadyMost int64  // ns by which the latest of them did
	Broken      int64  // conversations with turns left, which the load's end came before
	Interrupted bool   // the context ended
}

// Run sends everything and returns when the last attempt is recorded, the
// drain is over, or ctx is done; what is then in flight is cut. An error means
// that the run could not go on; what was recorded until then stands.
func (l *Loop) Run(ctx context.Context) (Outcome, error) {
	l.inFlight = map[*Call]struct{}{}
	wake := context.AfterFunc(ctx, l.Clock.Wake)
	defer wake()
	l.ahead = newPreparer(l)
	defer l.ahead.close()
	l.ahead.await(l.Prefill)
	l.start, l.stage = l.Clock.Now(), -1
	l.end, l.slotFreed = l.start, l.start-1
	if b, ok := l.Observer.(interface{ Begun(at int64) }); ok {
		b.Begun(l.start) // what latencies and the window count from
	}
	err := l.loop(ctx)
	o := Outcome{Start: l.start, End: l.windowEnd(), Stopped: l.stopReason, StoppedAt: l.stoppedAt, Limited: l.limited, Decided: l.decided, Spent: l.closed || l.atRequestLimit(), Interrupted: l.interrupted,
		Broken: l.broken, Unready: l.unready, UnreadyMost: l.unreadyMost}
	if err != nil {
		l.cutAll()
		return o, errors.Join(err, l.awaitCut())
	}
	return o, nil
}

// loadEnd is the moment at and after which nothing is due.
func (l *Loop) loadEnd() int64 {
	if l.Duration > 0 {
		return l.start + int64(l.Duration)
	}
	return clock.Forever
}

// lastTurn is the moment at and after which no turn begins.
func (l *Loop) lastTurn() int64 {
	if l.Until > 0 {
		return min(l.loadEnd(), l.start+int64(l.Until))
	}
	return l.loadEnd()
}

// windowEnd is the end of the time in which requests were due.
func (l *Loop) windowEnd() int64 {
	if l.Duration > 0 && !l.interrupted && !l.short {
		return l.loadEnd()
	}
	return l.end
}

func (l *Loop) loop(ctx context.Context) error {
	drainEnd := clock.Forever
	for {
		if err := l.takeEnded(); err != nil {
			return err
		}
		now := l.Clock.Now()
		if ctx.Err() != nil && !l.interrupted {
			l.interrupted, drainEnd = true, now
			l.end = max(l.end, min(now, l.loadEnd()))
		}
		l.cancelImpatient(now)
		at, state := l.peek(now)
		if state == load.Finished {
			if len(l.inFlight) == 0 && l.preparing == 0 {
				return nil
			}
			drainEnd = min(drainEnd, l.drainEnd(max(now, min(l.end, l.loadEnd()))))
		}
		if l.full() && l.loadEnd() <= now {
			drainEnd = min(drainEnd, l.drainEnd(l.loadEnd()))
		}
		if now >= drainEnd {
			done, err := l.giveUp()
			if err != nil || done {
				return err
			}
			drainEnd = now + int64(time.Second) // cuts come back at once
			continue
		}
		if state == load.Ready && at <= now && !l.full() {
			sent, err := l.dispatch(at)
			if err != nil {
				return err
			}
			if sent {
				continue
			}
		}
		l.Clock.Wait(min(l.nextMoment(at, now), drainEnd, l.impatient.first()))
	}
}

// drainEnd is the drain's end for a load that ended at a moment; once the
// drain is over, only the cuts' return is awaited.
func (l *Loop) drainEnd(loadEnd int64) int64 {
	if l.givenUp > 0 {
		return clock.Forever
	}
	return loadEnd + int64(l.Limits.Drain)
}

// nextMoment is when the loop must look again by itself. What is due and not
// sent waits for a slot or its preparation, both of which wake the loop.
func (l *Loop) nextMoment(at, now int64) int64 {
	if at > now && !l.full() {
		return at
	}
	if end := l.loadEnd(); end > now {
		return end
	}
	return clock.Forever
}

func (l *Loop) full() bool {
	return l.Limits.MaxInFlight > 0 && len(l.inFlight) >= l.Limits.MaxInFlight
}

// Ended queues a call for the loop.
func (l *Loop) Ended(c *Call) {
	l.mu.Lock()
	l.ended = append(l.ended, c)
	l.mu.Unlock()
	l.Clock.Wake()
}

// peek returns the earliest moment at which something is to be sent, and what
// the loop waits for where there is none.
func (l *Loop) peek(now int64) (int64, load.State) {
	at, state := clock.Forever, load.Finished
	if !l.closing && !l.interrupted {
		var due load.Due
		due, state = l.Load.Peek()
		switch {
		case state == load.Ready && l.start+due.At >= l.loadEnd():
			state = load.Finished
		case state == load.Ready:
			at = l.start + due.At
		case state == load.Waiting && now >= l.loadEnd():
			state = load.Finished
		}
	}
	if first := l.later.first(); first <= at && first != clock.Forever {
		return first, load.Ready
	}
	if state == load.Finished && l.preparing > 0 {
		state = load.Waiting
	}
	if state == load.Waiting {
		at = l.loadEnd()
	}
	return at, state
}

// dispatch sends what is due at the moment at, and returns false where its
// preparation is not done yet.
func (l *Loop) dispatch(at int64) (bool, error) {
	if l.later.first() <= at {
		c := l.later.pop()
		return true, l.send(c, c.at)
	}
	c, err := l.ahead.next()
	if errors.Is(err, workload.ErrEnd) {
		l.close("")
		return true, nil
	}
	if c == nil || err != nil {
		l.waiting = err == nil
		return false, err
	}
	if l.waiting {
		l.waiting = false
		l.unready++
		l.unreadyMost = max(l.unreadyMost, l.Clock.Now()-at)
	}
	if reason := l.beyondLimits(c); reason != "" {
		l.close(reason)
		return true, nil
	}
	due, _ := l.Load.Peek()
	l.Load.Pop()
	l.end = max(l.end, at)
	c.user = due.User
	c.Row.Stage = int64(due.Stage)
	l.enterStage(due.Stage)
	l.number(c, at)
	return true, l.send(c, at)
}

// beyondLimits says which limit forbids sending c, or "".
func (l *Loop) beyondLimits(c *Call) string {
	if l.Limits.MaxRequests > 0 && l.requests >= l.Limits.MaxRequests {
		return endOfRequests
	}
	if l.Limits.MaxTokens > 0 && l.asked+c.Spec.InputTokens+c.Spec.OutputTokens > l.Limits.MaxTokens {
		return fmt.Sprintf("the next request would go beyond %d tokens in all", l.Limits.MaxTokens)
	}
	return ""
}

// endOfRequests marks the asked number of requests as reached: an end, not an abort.
const endOfRequests = "requests"

// close takes nothing more from the source.
func (l *Loop) close(reason string) {
	if l.closing {
		return
	}
	l.closing, l.short, l.closed = true, true, true
	if reason != endOfRequests {
		l.limited = reason
	}
}

func (l *Loop) enterStage(stage int) {
	if stage != l.stage {
		l.stage = stage
		if l.Observer != nil {
			l.Observer.Stage(stage, l.Clock.Now())
		}
	}
}

func (l *Loop) send(c *Call, at int64) error {
	now := l.Clock.Now()
	if l.slotFreed > at {
		c.Row.Held = record.Some(l.slotFreed - at)
	}
	c.Row.Dispatched = record.Some(now)
	if err := l.Recorder.Dispatched(&c.Row); err != nil {
		return err
	}
	l.inFlight[c] = struct{}{}
	if c.Spec.Patience > 0 {
		if c.leaves == 0 {
			c.leaves = c.Row.Intended.Or(at) + int64(c.Spec.Patience)
		}
		l.impatient.push(c.leaves, c)
	}
	if l.Observer != nil {
		l.Observer.Sent(&c.Row)
	}
	l.Target.Start(c, l)
	return nil
}

func (l *Loop) cancelImpatient(now int64) {
	for l.impatient.first() <= now {
		c := l.impatient.pop()
		if _, ok := l.inFlight[c]; ok {
			l.Target.Cancel(c, record.Abandoned)
		}
	}
}

func (l *Loop) cutAll() {
	for c := range l.inFlight {
		l.Target.Cancel(c, record.Cut)
	}
}
