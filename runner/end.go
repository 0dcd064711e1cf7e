package runner

import (
	"errors"
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

// dropLater forgets turns and retries that wait for their moment.
func (l *Loop) dropLater() {
	for l.later.len() > 0 {
		l.later.pop()
	}
}

// stop ends the load early for a reason of the run's own rules: what the
// schedule still asks for will never be sent, and says so in rows of its own.
func (l *Loop) stop(reason string) error {
	if l.closing {
		return nil
	}
	l.stopReason, l.stoppedAt = reason, l.Clock.Now()
	l.dropLater()
	err := l.unsentDues(l.loadEnd() - 1)
	l.closing, l.short = true, true
	return err
}

// enough ends the load since nothing more is needed: what is in flight, or to
// be sent again, goes on to its end; what was not sent yet never will be.
func (l *Loop) enough() {
	l.decided, l.closing, l.short = true, true, true
	var again []*Call
	for l.later.len() > 0 {
		if c := l.later.pop(); c.Row.Identity.Attempt > 1 {
			again = append(again, c)
		}
	}
	for _, c := range again {
		l.later.push(c.at, c)
	}
}

// giveUp ends the drain: what was due and never sent becomes rows of its own,
// what is in flight is cut. It says true when it was called in vain before:
// the target does not give its calls back.
func (l *Loop) giveUp() (bool, error) {
	now := l.Clock.Now()
	for l.later.first() <= now {
		if c := l.later.pop(); c.Row.Identity.Attempt == 1 {
			if err := l.unsent(c); err != nil {
				return true, err
			}
		}
	}
	l.dropLater()
	if !l.closing {
		if err := l.unsentDues(min(now, l.loadEnd()-1)); err != nil {
			return true, err
		}
	}
	l.closing = true
	l.cutAll()
	l.givenUp++
	return l.givenUp > 5, nil
}

// unsentDues records the source's dues up to a moment as unsent.
func (l *Loop) unsentDues(until int64) error {
	for {
		due, state := l.Load.Peek()
		if state != load.Ready || l.start+due.At > until || due.User != load.NoUser {
			return nil
		}
		c, err := l.ahead.unprepared()
		if errors.Is(err, workload.ErrEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		if l.atRequestLimit() {
			return nil
		}
		l.Load.Pop()
		l.end = max(l.end, l.start+due.At)
		c.user = due.User
		c.Row.Stage = int64(due.Stage)
		l.number(c, l.start+due.At)
		if err := l.unsent(c); err != nil {
			return err
		}
	}
}

func (l *Loop) unsent(c *Call) error {
	c.Row.Outcome = record.Unsent
	return l.Recorder.Ended(&c.Row)
}

// awaitCut waits for the attempts that were cut, so that their rows are not
// lost; a target that does not give them back within a second is left.
func (l *Loop) awaitCut() error {
	until := l.Clock.Now() + int64(time.Second)
	for len(l.inFlight) > 0 && l.Clock.Now() < until {
		l.mu.Lock()
		ended := l.ended
		l.ended = nil
		l.mu.Unlock()
		for _, c := range ended {
			delete(l.inFlight, c)
			if err := l.Recorder.Ended(&c.Row); err != nil {
				return err
			}
		}
		if len(l.inFlight) > 0 {
			l.Clock.Wait(until)
		}
	}
	return nil
}
