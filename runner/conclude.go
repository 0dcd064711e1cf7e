package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
)

// conclude measures, judges, and writes what the run came to.
func (r *Run) conclude(rec *recorder, audit *audit, o Outcome, runErr error) (*report.Summary, error) {
	objectives, err := r.objectives()
	if err != nil {
		return nil, errors.Join(runErr, err)
	}
	rec.sums.Configure(r.measureOptions(audit, o, objectives))
	sum := r.summary(rec, audit, o)
	sum.SLO = verify.Judge(objectives, rec.sums)
	r.verdict(sum, o)
	return sum, errors.Join(runErr, r.write(rec, sum))
}

// objectives are what the run is judged by.
func (r *Run) objectives() ([]verify.Objective, error) {
	exprs := r.scenario.SLO
	if len(exprs) == 0 {
		exprs = []string{verify.Default}
	}
	var all []verify.Objective
	for _, e := range exprs {
		o, err := verify.Parse(e)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		all = append(all, o...)
	}
	return all, nil
}

func (r *Run) measureOptions(a *audit, o Outcome, objectives []verify.Objective) measure.Options {
	s := r.scenario
	opt := measure.Options{
		Start: record.Some(o.Start), Warmup: s.Load.WarmupTime, WarmupRequests: int(s.Load.WarmupRequests),
		Stages: len(r.plan.Stages), GPUs: s.Target.GPUs, Stops: a.stops(), SchedLatency: a.schedLatency(),
	}
	// A load that only its number of requests ends has no moment of its end.
	if duration(r.plan) > 0 || o.Interrupted {
		opt.End = record.Some(o.End)
	}
	if len(s.SLO) > 0 {
		opt.Limits = verify.Limits(objectives)
	}
	return opt
}

func (r *Run) summary(rec *recorder, a *audit, o Outcome) *report.Summary {
	res := rec.sums.Result()
	s := r.scenario
	sum := &report.Summary{
		Schema: report.Schema,
		Run: report.Run{
			ID: r.id, Name: s.Name, Dir: r.dir, Version: r.opt.Version, API: s.Target.API, Model: r.model,
			Load: s.Load.String(), Workload: s.Workload.String(), Seed: s.Seed, Start: r.clock.Epoch().UTC(),
			Duration: measure.Some(float64(r.clock.Now()-o.Start) / 1e6), Virtual: r.real == nil, Ended: report.Done,
			Notices: append(append([]string(nil), s.Notices...), r.notices(rec)...), Adapted: r.adapted(),
			Stamps: rec.stamps.shares(), Timeouts: timeouts(s.Target.Timeouts), Tags: map[string]string{},
		},
		Requests: report.Requests{Requests: res.Requests, Attempts: res.Attempts},
		Metrics:  res.Metrics, Steady: res.Steady, Client: a.client(res),
	}
	for _, f := range r.facts {
		sum.Run.Targets = append(sum.Run.Targets, f.Name)
	}
	for _, t := range s.Out.Tags {
		sum.Run.Tags[t.Key] = t.Value
	}
	switch {
	case o.Interrupted:
		sum.Run.Ended = report.Interrupted
	case o.Stopped != "":
		sum.Run.Ended, sum.Run.Reason = report.Aborted, o.Stopped
	}
	return sum
}

// notices are sentences that the reader must see.
func (r *Run) notices(rec *recorder) []string {
	var n []string
	if q := &rec.quota; q.limited > 0 && 2*q.limited >= q.rejected {
		n = append(n, fmt.Sprintf("a quota, not the engine, was the limit: %d of %d refusals came with rate-limit fields (%s)",
			q.limited, q.rejected, strings.Join(q.fields, ", ")))
	}
	if skipped, first := r.skippedRows(); skipped > 0 {
		n = append(n, fmt.Sprintf("%d rows of the dataset could not be used; the first: %v", skipped, first))
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

// verdict decides the run's one answer and its exit code.
func (r *Run) verdict(sum *report.Summary, o Outcome) {
	e := verify.Ending{Interrupted: o.Interrupted, Unusable: verify.Unusable(sum.Requests.Requests),
		Verdict: verify.Overall(sum.SLO), InconclusiveOK: r.scenario.InconclusiveOK}
	sum.Verdict = report.Verdict{Verdict: e.Verdict, Exit: e.ExitCode(), Reason: verify.Reason(sum.SLO)}
	if e.Unusable {
		sum.Verdict.Reason = "the target gave not one success: " + sum.Verdict.Reason
	}
}

// write puts the summary beside the rows and ends the run directory.
func (r *Run) write(rec *recorder, sum *report.Summary) error {
	if rec.writer == nil {
		return nil
	}
	b, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		return err
	}
	adapted := rec.writer.UpdateManifest(func(m *record.Manifest) {
		for _, a := range sum.Run.Adapted {
			m.Adapted = append(m.Adapted, record.Adaptation{Field: a})
		}
		m.Notices = sum.Run.Notices
	})
	return errors.Join(adapted, rec.writer.Finish(), rec.writer.WriteFile(record.SummaryFile, append(b, '\n')))
}
