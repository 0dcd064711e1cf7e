package runner

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/probe/self"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// ahead is how many requests are prepared before their moment.
const ahead = 256

// gcPercent lets the heap grow more between collections while measuring: a
// collection costs the reader its processor for a moment. What comes after the
// load has nobody to hold up.
const gcPercent = 200

// Do sends the load, and writes and returns what came of it. An error comes
// with what could still be said of the run, if anything.
func (r *Run) Do(ctx context.Context) (*report.Summary, error) {
	rec, err := r.newRecorder()
	if err != nil {
		return nil, err
	}
	usual := debug.SetGCPercent(gcPercent)
	r.warm(ctx)
	stop := r.keepHeadroom(ctx)
	audit := r.startAudit(rec)
	outcome, runErr := r.loop(ctx, rec)
	stop()
	audit.stop()
	debug.SetGCPercent(usual)
	r.tellEnd(rec, outcome, runErr)
	if runErr != nil && rec.rows == 0 {
		return nil, r.discard(rec, runErr)
	}
	return r.conclude(rec, audit, outcome, runErr)
}

// tellEnd writes into the events why the load ended before its time.
func (r *Run) tellEnd(rec *recorder, o Outcome, runErr error) {
	tell := func(at int64, kind, name, why string) {
		rec.event(record.Event{At: at, Kind: kind, Name: name, Detail: map[string]any{"reason": why}})
	}
	now := r.clock.Now()
	switch {
	case runErr != nil:
		tell(now, record.AbortEvent, "error", runErr.Error())
	case o.Interrupted:
		tell(o.End, record.AbortEvent, "interrupt", "interrupted by the user")
	case o.Stopped != "":
		tell(o.StoppedAt, record.AbortEvent, "rule", o.Stopped)
	case o.Limited != "":
		tell(now, record.NoticeEvent, "limit", o.Limited)
	case o.Decided:
		tell(now, record.NoticeEvent, "decided", "every objective on a percentile was decided")
	}
}

// discard takes back the run directory of a run that could not send anything,
// and says why.
func (r *Run) discard(rec *recorder, why error) error {
	why = exit.With(exit.Usage, why)
	if rec.writer == nil {
		return why
	}
	return errors.Join(why, rec.writer.Finish(), os.RemoveAll(r.dir))
}

// loop runs the loop on a goroutine of its own that owns its thread.
func (r *Run) loop(ctx context.Context, rec *recorder) (Outcome, error) {
	source, err := load.New(r.plan)
	if err != nil {
		return Outcome{}, err
	}
	s := r.scenario
	l := &Loop{
		Clock: r.clock, Load: source, Work: r.work, Target: r.target, Recorder: rec,
		Observer: &watch{Live: r.live, rec: rec, lags: &r.lags, adapt: r.plan.Adapt, users: firstUsers(r.plan)}, Abort: rec.abort, Decide: newDecider(s, rec.sums), Seed: s.Seed, Duration: duration(r.plan),
		Limits: Limits{Drain: s.Load.Drain, MaxInFlight: int(s.Load.MaxInFlight), MaxRequests: r.plan.MaxRequests,
			MaxTokens: s.Load.MaxTotalTokens, Retries: s.Target.Retries, RetryOn: s.Target.RetryOn, Backoff: s.Target.Backoff},
		ReadRate: s.Load.ReadRate, Until: s.Load.Duration,
	}
	if a := r.plan.Adapt; a != nil {
		l.Adapt = a.Metric
	}
	if r.real != nil {
		l.Ahead = ahead
		l.Prefill = r.prefill()
	}
	type result struct {
		o   Outcome
		err error
	}
	done := make(chan result)
	go func() {
		if r.real != nil {
			release, _ := r.real.Lead()
			defer release()
		}
		o, err := l.Run(ctx)
		done <- result{o, err}
	}()
	res := <-done
	return res.o, res.err
}

// prefill is how many requests must be ready when the load begins: one for
// each user of a closed loop, who all start at once.
func (r *Run) prefill() int {
	d := r.plan.Describe()
	return int(min(max(d.PeakUsers, 1), ahead))
}

// watch passes what the loop does to the live figures and the events.
type watch struct {
	*Live
	rec  *recorder
	lags *lags
	// adapt is the rule of an adaptive load; nil: it is none.
	adapt *load.Adapt
	users int64 // at the beginning of its first closed stage
}

// Sent counts a sending and how late it was.
func (w *watch) Sent(a *record.Attempt) {
	w.Live.Sent(a)
	w.lags.add(a)
}

// loadEvent marks the load's first moment in the events.
const loadEvent = "load"

// Begun notes the load's first moment.
func (w *watch) Begun(at int64) {
	w.rec.event(record.Event{At: at, Kind: loadEvent, Name: "begin"})
	if w.adapt != nil {
		w.Level(at, load.Level{Allowed: w.users, Of: w.users})
	}
}

// Stage notes the stage under way.
func (w *watch) Stage(stage int, at int64) {
	w.Live.Stage(stage, at)
	w.rec.event(record.Event{At: at, Kind: record.StageEvent, Name: "begin", Detail: map[string]any{"stage": stage}})
}

// manifest is run.json as far as it is known before the load.
func (r *Run) manifest() (*record.Manifest, error) {
	s := r.scenario
	resolved, err := s.Frozen()
	if err != nil {
		return nil, err
	}
	m := &record.Manifest{
		Run: r.id, Name: s.Name, Epoch: r.clock.Epoch(), Virtual: r.real == nil, Seed: s.Seed,
		Versions: map[string]string{"tokamak": r.opt.Version, "go": runtime.Version()},
		Command:  r.opt.Command, Scenario: resolved, Targets: r.facts, Notices: s.Notices,
		Client: self.Facts(self.Config{}), Clock: record.ClockFacts{Source: "real", RealTime: r.real != nil && clock.MayLead()},
		Tags: map[string]string{},
	}
	if r.real == nil {
		m.Clock.Source = "virtual"
	}
	if r.counter != nil {
		m.Versions["tokenizer"] = r.counter.Name()
	}
	for _, t := range s.Out.Tags {
		m.Tags[t.Key] = t.Value
	}
	return m, nil
}
