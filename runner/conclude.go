package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
	"github.com/tokamak-bench/tokamak/workload"
)

// conclude measures, judges, and writes what the run came to.
func (r *Run) conclude(rec *recorder, a *audit, o Outcome, runErr error) (*report.Summary, error) {
	rec.sums.Configure(r.measureOptions(a, o))
	res := rec.sums.Result()
	for class, text := range res.Attempts.Examples {
		res.Attempts.Examples[class] = record.Scrub(text, r.secrets)
	}
	about := r.about(rec, o)
	if text := floored(r.plan.Adapt, about.Users, res); text != "" {
		about.Notices = append(about.Notices, text)
	}
	if text := short(&r.scenario.Load, res.Requests.Due, o); text != "" {
		about.Notices = append(about.Notices, text)
	}
	sum := report.New(about, res, judge(r.scenario, rec.sums), a.client(res),
		verify.Ending{Interrupted: o.Interrupted, Aborted: o.Stopped != "", InconclusiveOK: r.scenario.InconclusiveOK})
	incomplete(sum, runErr)
	err := errors.Join(runErr, r.write(rec, sum))
	incomplete(sum, err)
	if err != nil {
		err = exit.With(exit.Invalid, fmt.Errorf("the record is incomplete: %w", err))
	}
	return sum, err
}

// short says why a load sent fewer requests than it was bounded by: the traffic
// model's time was over. It is empty where something else ended the load.
func short(l *scenario.Load, due int, o Outcome) string {
	if l.Kind != scenario.ModelTiming || int64(due) >= l.Requests || o.Interrupted || o.Stopped != "" || o.Limited != "" || o.Decided {
		return ""
	}
	hint := ""
	if l.Duration == 0 {
		hint = "; a longer duration begins its rates again"
	}
	return fmt.Sprintf("at most %s requests were asked for, and %s were due: the time of the traffic model ended first%s",
		measure.Count(l.Requests), measure.Count(int64(due)), hint)
}

// incomplete voids the verdict of a run that could not be recorded to its end:
// what is missing is the client's fault.
func incomplete(sum *report.Summary, err error) {
	if err == nil || sum.Run.Ended == report.Aborted && sum.Run.Reason != "" && sum.Verdict.Verdict == verify.Invalid {
		return
	}
	sum.Run.Ended, sum.Run.Reason = report.Aborted, oneLine(err.Error())
	sum.Verdict = report.Verdict{Verdict: verify.Invalid, Exit: int(exit.Invalid), Reason: "the record is incomplete: " + oneLine(err.Error())}
}

func (r *Run) measureOptions(a *audit, o Outcome) measure.Options {
	s := r.scenario
	opt := measure.Options{
		Start: record.Some(o.Start), Warmup: s.Load.WarmupTime, WarmupRequests: int(s.Load.WarmupRequests),
		Stages: len(r.plan.Stages), Users: closed(r.plan), Intent: intent(&s.Workload.Config), GPUs: s.Target.GPUs, Stops: a.stops(),
		Pauses: a.pauses(), Closed: closedWithoutThink(r.plan, r.scenario.Load.ReadRate), SchedLatency: a.schedLatency(),
	}
	// A load that its number of requests ends, or the end of what it sends, has no
	// moment of its end: time in which it had nothing to send is none of its own.
	if duration(r.plan) > 0 && !o.Spent || o.Interrupted {
		opt.End = record.Some(o.End)
	}
	opt.Limits = verify.Limits(s.SLO)
	return opt
}

// about says what ran.
func (r *Run) about(rec *recorder, o Outcome) report.Run {
	s := r.scenario
	run := report.Run{
		ID: r.id, Name: s.Name, Dir: r.dir, Version: r.opt.Version, API: s.Target.API, Model: r.model,
		Load: s.Load.String(), Workload: s.Workload.String(), Seed: s.Seed, Start: r.clock.Epoch().UTC(),
		Duration: measure.Some(float64(r.clock.Now()-o.Start) / 1e6), Virtual: r.real == nil, Ended: report.Done,
		Notices: append(slices.Clone(s.Notices), r.notices(rec, o)...), Adapted: r.adapted(), Users: rec.course.report(r.plan.Adapt, o.End),
		Stamps: rec.stamps.shares(), Timeouts: timeouts(s.Target.Timeouts), Tags: map[string]string{},
	}
	for _, f := range r.facts {
		run.Targets = append(run.Targets, f.Name)
	}
	for _, t := range s.Out.Tags {
		run.Tags[t.Key] = t.Value
	}
	switch {
	case o.Interrupted:
		run.Ended = report.Interrupted
	case o.Stopped != "":
		run.Ended, run.Reason = report.Aborted, o.Stopped
	}
	return run
}

// notices are sentences that the reader must see.
func (r *Run) notices(rec *recorder, o Outcome) []string {
	var n []string
	if o.Limited != "" {
		n = append(n, "ended before its time: "+o.Limited)
	}
	if o.Decided {
		n = append(n, "ended before its time: every objective on a percentile was decided")
	}
	switch {
	case o.Broken == 1:
		n = append(n, "1 conversation had turns left at the end of the load: they were not sent")
	case o.Broken > 1:
		n = append(n, measure.Count(o.Broken)+" conversations had turns left at the end of the load: they were not sent")
	}
	if o.Unready > 0 {
		n = append(n, fmt.Sprintf("%s requests left late, by up to %v, because what to send was not ready: the dataset, or writing texts, is slower than the load",
			measure.Count(o.Unready), time.Duration(o.UnreadyMost).Round(time.Millisecond)))
	}
	if text := report.QuotaNotice(rec.quota.limited, rec.quota.fields); text != "" {
		n = append(n, text)
	}
	if skipped, first := r.skippedRows(); skipped > 0 {
		rows := "rows"
		if skipped == 1 {
			rows = "row"
		}
		n = append(n, fmt.Sprintf("%s %s of the dataset could not be used; the first: %v", measure.Count(skipped), rows, first))
	}
	if w, ok := r.work.(workload.Noter); ok {
		n = append(n, w.Notes()...)
	}
	return n
}

// adapted says how requests differ from what was asked because of fields that
// the server refused.
func (r *Run) adapted() []string {
	var all []string
	for _, d := range r.drivers {
		if a, ok := d.(engine.Adapter); ok {
			all = append(all, a.Adapted()...)
		}
	}
	return all
}

// timeouts are the deadlines in ms by the error class that names them.
func timeouts(t scenario.Timeouts) map[string]float64 {
	m := map[string]float64{}
	for class, d := range map[string]int64{"timeout_connect": int64(t.Connect), "timeout_first_byte": int64(t.FirstByte),
		"timeout_first_token": int64(t.FirstToken), "timeout_stall": int64(t.Stall), "timeout_total": int64(t.Total)} {
		if d > 0 {
			m[class] = float64(d) / 1e6
		}
	}
	return m
}

// write puts the summary beside the rows and ends the run directory.
func (r *Run) write(rec *recorder, sum *report.Summary) error {
	if rec.writer == nil {
		return nil
	}
	b, err := sum.Encode()
	if err != nil {
		return err
	}
	adapted := rec.writer.UpdateManifest(func(m *record.Manifest) {
		for _, a := range sum.Run.Adapted {
			m.Adapted = append(m.Adapted, record.Adaptation{Field: a})
		}
		m.Notices = sum.Run.Notices
	})
	return errors.Join(adapted, rec.writer.Finish(), rec.writer.WriteFile(record.SummaryFile, b))
}
