package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
)

// Recover finishes the directory of a run whose process died: it completes
// the rows, then measures and judges what there is and writes the summary. Of
// a run that is complete nothing is changed but tables that cannot be read,
// and the summary is nil.
func Recover(dir string) (*report.Summary, record.Recovered, error) {
	if err := notRun(dir); err != nil {
		return nil, record.Recovered{}, err
	}
	found, err := record.Recover(dir)
	if err != nil {
		return nil, found, exit.With(exit.Usage, err)
	}
	name := filepath.Join(dir, record.SummaryFile)
	// The rows that were made again are those that the summary was made of.
	if _, err := os.Stat(name); err == nil && (found.Complete || found.Rebuilt != "" && found.Torn == 0) {
		return nil, found, nil
	}
	sum, err := again(dir)
	if err != nil {
		return nil, found, exit.With(exit.Usage, err)
	}
	b, err := sum.Encode()
	if err != nil {
		return nil, found, err
	}
	return sum, found, replace(name, b)
}

// replace writes a file so that it is never there in part.
func replace(name string, data []byte) error {
	part := name + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}

// again measures and judges the rows of a directory.
func again(dir string) (*report.Summary, error) {
	run, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	m := run.Manifest()
	s, err := scenario.Thaw(m.Scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: the scenario in %s: %w", dir, record.ManifestFile, err)
	}
	rec, testimony, err := remeasure(run, s)
	if err != nil {
		return nil, err
	}
	res := rec.sums.Result()
	about := recovered(dir, m, s)
	about.Stamps = rec.stamps.shares()
	about.Users = rec.course.report(s.Load.Plan.Adapt, testimony.last)
	if text := floored(s.Load.Plan.Adapt, about.Users, res); text != "" {
		about.Notices = append(about.Notices, text)
	}
	about.Duration = measure.Some(float64(testimony.last-rec.sums.Options().Start.Or(0)) / 1e6)
	if text := report.QuotaNotice(rec.quota.limited, rec.quota.fields); text != "" {
		about.Notices = append(about.Notices, text)
	}
	return report.New(about, res, judge(s, rec.sums), testimony.client(res), verify.Ending{Interrupted: true}), nil
}

// told is what a finished run's client recorded of itself, and the moment
// of the last thing that happened.
type told struct {
	*audit
	last int64
}

// remeasure gathers the rows of a directory, with the options under which
// the run itself measured them as far as they are on disk.
func remeasure(run *record.Run, s *scenario.Scenario) (*recorder, *told, error) {
	rec := &recorder{sums: measure.New(measure.Options{})}
	t := &told{audit: newAudit(rec)}
	for a, err := range run.Attempts() {
		if err != nil {
			return nil, nil, err
		}
		t.last = max(t.last, a.Moments.Ended.Or(0), a.Dispatched.Or(0))
		if err := rec.Ended(a); err != nil {
			return nil, nil, err
		}
	}
	opt := measure.Options{Warmup: s.Load.WarmupTime, WarmupRequests: int(s.Load.WarmupRequests), Stages: len(s.Load.Plan.Stages),
		Users: closed(s.Load.Plan), Intent: thawedIntent(run.Manifest(), s),
		Closed: closedWithoutThink(s.Load.Plan, s.Load.ReadRate), GPUs: s.Target.GPUs, Limits: verify.Limits(s.SLO)}
	if err := t.read(run, &opt); err != nil {
		return nil, nil, err
	}
	if d := duration(s.Load.Plan); d > 0 && opt.Start.Valid() {
		opt.End = record.Some(min(opt.Start.Or(0)+int64(d), t.last))
	}
	rec.sums.Configure(opt)
	return rec, t, nil
}

// read takes what the run's client recorded of itself, and when the load began.
func (a *audit) read(run *record.Run, opt *measure.Options) error {
	for e, err := range run.Events() {
		if err != nil {
			return err
		}
		if e.Kind == loadEvent {
			opt.Start = record.Some(e.At)
		}
		a.note(e)
		a.rec.course.note(&e)
	}
	for s, err := range run.Samples() {
		if err != nil {
			return err
		}
		a.keep(s)
	}
	opt.Stops, opt.Pauses, opt.SchedLatency = a.stops(), a.pauses(), a.schedLatency()
	return nil
}

// recovered says what ran, from the manifest.
func recovered(dir string, m *record.Manifest, s *scenario.Scenario) report.Run {
	about := report.Run{ID: m.Run, Name: m.Name, Dir: dir, Version: m.Versions["tokamak"], API: s.Target.API,
		Load: s.Load.String(), Workload: s.Workload.String(), Seed: m.Seed, Start: m.Epoch.UTC(), Virtual: m.Virtual,
		Ended: report.Recovered, Notices: m.Notices, Tags: m.Tags, Timeouts: timeouts(s.Target.Timeouts)}
	for _, t := range m.Targets {
		about.Targets = append(about.Targets, t.Name)
		about.Model = t.Model
	}
	for _, a := range m.Adapted {
		about.Adapted = append(about.Adapted, a.Field)
	}
	return about
}

// thawedIntent is the intent of a scenario read back, which does not hold its
// dataset: what a dataset's texts share is not known.
func thawedIntent(m *record.Manifest, s *scenario.Scenario) measure.CacheIntent {
	var named struct{ Workload struct{ Dataset string } }
	if err := json.Unmarshal(m.Scenario, &named); err != nil || named.Workload.Dataset != "" {
		return measure.Unasked
	}
	return intent(&s.Workload.Config)
}
