package runner

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
)

// identify gives a call its trace id: keyed by session and turn, so that it
// does not depend on the order of sending.
func identify(c *Call, seed uint64) {
	r := stat.Random(seed, "trace", uint64(c.number)<<16|uint64(c.Spec.Turn))
	var id [16]byte
	for i := range 2 {
		v := r.Uint64() | 1
		for j := range 8 {
			id[8*i+j] = byte(v >> (8 * j))
		}
	}
	c.Row.TraceID = hex.EncodeToString(id[:])
}

// number makes a call the run's next request, due at a moment.
func (l *Loop) number(c *Call, at int64) {
	s := c.Spec
	r := &c.Row
	r.Identity.RequestID, r.Identity.Attempt = l.requests, 1
	l.requests++
	l.asked += s.InputTokens + s.OutputTokens
	r.Class, r.Tenant, r.SessionID, r.SourceID, r.Turn = s.Class, s.Tenant, s.SessionID, s.SourceID, s.Turn
	if c.user != load.NoUser {
		r.User = record.Some(c.user)
	}
	if s.InputTokens > 0 {
		r.PromptAsked, r.PromptShared = record.Some(s.InputTokens), record.Some(s.SharedTokens)
	}
	if s.OutputTokens > 0 {
		r.OutputAsked = record.Some(s.OutputTokens)
	}
	a := s.Attached()
	r.Media.Images, r.Media.Sounds, r.Media.Videos = some(a.Images), some(a.Sounds), some(a.Videos)
	r.Media.Audio, r.Media.Tools = some(int64(a.Audio)), some(s.Tools.Count)
	r.Media.Asked, r.Media.Made, r.Media.Linked = some(a.Asked), some(a.Made), some(a.Linked)
	r.Intended = record.Some(at)
}

// some is a number that is absent where it is zero.
func some(n int64) record.Int {
	if n == 0 {
		return record.Int{}
	}
	return record.Some(n)
}

// takeEnded records what has ended and schedules what follows from it.
func (l *Loop) takeEnded() error {
	l.mu.Lock()
	ended, ready, fault := l.ended, l.ready, l.fault
	l.ended, l.ready = nil, nil
	l.mu.Unlock()
	if fault != nil {
		return fault
	}
	for _, c := range ready {
		l.preparing--
		if !l.decided || c.Row.Identity.Attempt > 1 {
			l.later.push(c.at, c)
		}
	}
	if len(ended) > 0 && l.full() {
		l.slotFreed = l.Clock.Now()
	}
	for _, c := range ended {
		if err := l.takeOne(c); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) takeOne(c *Call) error {
	delete(l.inFlight, c)
	l.impatient.remove(c)
	c.prepared = nil // text and request are not needed any more
	// The row is the recorder's from Ended on: what follows uses copies.
	row := c.Row
	if l.Observer != nil {
		l.Observer.Ended(&row)
	}
	if err := l.Recorder.Ended(&c.Row); err != nil {
		return err
	}
	if l.Abort != nil {
		if reason := l.Abort.Observe(&row); reason != "" {
			if err := l.stop(reason); err != nil {
				return err
			}
		}
	}
	return l.follow(c, &row)
}

// follow schedules what comes after an ended attempt: another attempt, its
// session's next turn, or its user's next session.
func (l *Loop) follow(c *Call, row *record.Attempt) error {
	// From when the end is seen, not from its stamp: what lies between is think
	// time, not lateness of the next request.
	at := max(row.Moments.Ended.Or(0), l.Clock.Now())
	l.observe(row, at)
	if l.stopReason == "" && !l.interrupted {
		if next, again := l.retry(c, row, at); again {
			return l.prepareLater(l.again(c, row, next))
		}
		at += l.reading(c, row)
		if l.Decide != nil && !l.decided && l.Decide.Settled(row.RequestID) {
			l.enough()
		}
		if !l.decided && row.Outcome == record.OK {
			spec, ok := c.session.Next(&c.Answer)
			switch {
			case !ok || l.atRequestLimit():
			case at+int64(spec.Think) < l.lastTurn():
				return l.nextTurn(c, row, spec, at)
			default:
				l.broken++
			}
		}
	}
	if c.user != load.NoUser {
		if row.Outcome == record.TransportError {
			at += int64(unreachablePause)
		}
		l.Load.Ended(c.user, at-l.start)
	}
	return nil
}

// unreachablePause is how long a closed loop's user waits after a request that
// got not one response byte: a target that refuses connections would else be
// asked thousands of times a second, and the figures be made of that.
const unreachablePause = 100 * time.Millisecond

func (l *Loop) atRequestLimit() bool {
	return l.Limits.MaxRequests > 0 && l.requests >= l.Limits.MaxRequests
}

func (l *Loop) nextTurn(c *Call, row *record.Attempt, spec *workload.Request, at int64) error {
	next := &Call{Spec: spec, session: c.session, number: c.number, user: c.user, at: at + int64(spec.Think)}
	next.Row.Stage = row.Stage
	identify(next, l.Seed)
	l.number(next, next.at)
	return l.prepareLater(next)
}

// reading is how long a user reads the answer before going on.
func (l *Loop) reading(c *Call, row *record.Attempt) int64 {
	if l.ReadRate <= 0 || row.Outcome != record.OK {
		return 0
	}
	tokens := c.Answer.Tokens
	if tokens == 0 {
		tokens = row.OutputCounted.Or(int64(row.Chunks.Len()))
	}
	return int64(min(float64(tokens)/l.ReadRate, maxReading.Seconds()) * 1e9)
}

// maxReading bounds how long an answer is read.
const maxReading = 365 * 24 * time.Hour

// retry says whether a failed attempt is to be sent again and when.
func (l *Loop) retry(c *Call, row *record.Attempt, at int64) (next int64, again bool) {
	if c.Again {
		return at, true
	}
	if c.retries >= l.Limits.Retries || !l.Limits.RetryOn.covers(row) {
		return 0, false
	}
	hint := int64(-1)
	if wait, ok := row.RetryAfter.Get(); ok && !l.Limits.Backoff.Heedless {
		if hint = wait; wait > int64(l.Limits.Drain) {
			return 0, false // that is another run
		}
	}
	next = at + l.Limits.Backoff.Pause(l.Seed, row.RequestID, c.retries, hint)
	if c.leaves > 0 && row.Outcome != record.Abandoned && next >= c.leaves {
		return 0, false // nobody waits for it any more
	}
	return next, true
}

// again is the next attempt of the same request; intended stays that of the first.
func (l *Loop) again(c *Call, row *record.Attempt, at int64) *Call {
	next := &Call{Spec: c.Spec, session: c.session, number: c.number, user: c.user, at: at, retries: c.retries, leaves: c.leaves}
	if row.Outcome == record.Abandoned { // who comes back waits anew
		next.leaves = at + int64(c.Spec.Patience)
	}
	if !c.Again {
		next.retries++
	}
	next.Row.Identity = row.Identity
	next.Row.Identity.Attempt++
	next.Row.Identity.ConnID, next.Row.Identity.Protocol, next.Row.Identity.ServerID = record.Int{}, "", ""
	next.Row.PromptAsked, next.Row.PromptShared, next.Row.OutputAsked = row.PromptAsked, row.PromptShared, row.OutputAsked
	if row.Sent.Valid() {
		next.Row.PromptShared = row.PromptAsked // the server may know it from before
	}
	next.Row.Media = row.Media
	next.Row.Intended = row.Intended
	return next
}

// RequestID is the X-Request-Id of a call: the run's name and its number.
func RequestID(run string, row *record.Attempt) string {
	id := run + "-" + strconv.FormatInt(row.RequestID, 10)
	if row.Identity.Attempt > 1 {
		id += fmt.Sprintf(".%d", row.Identity.Attempt)
	}
	return id
}
