package interop

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/verify"
)

// Options say how to import.
type Options struct {
	From    string             // name of a format; empty: recognised by its content
	Run     int                // which of the file's runs, from 1; 0: its only one
	Out     string             // run directory to make; empty: nothing is written
	Dir     string             // where Out is empty and Dir is not: make one in it, named for the run
	SLO     []verify.Objective // judged as those of a run are
	Version string             // of tokamak

	InconclusiveOK bool // an inconclusive verdict exits 0
}

// Import reads a result of another tool. What has data of each request becomes
// a run directory with a summary; else the summary is nil, and Source.Figures
// is all there is. Everything is read and checked before anything is written.
func Import(path string, o Options) (*Source, *report.Summary, error) {
	path, f, err := find(path, o.From)
	if err != nil {
		return nil, nil, err
	}
	in := newInput(path, o.Run)
	s := &Source{Format: f.name, File: in.name(), Timed: true, Runs: 1, Lost: []string{}}
	first := &survey{source: s, first: math.MaxInt64, last: math.MinInt64}
	if err := f.read(in, s, first); err != nil {
		return nil, nil, err
	}
	s.Rows = first.n > 0
	s.Target, s.Model = record.RedactURL(s.Target), record.Scrub(s.Model, nil)
	if !s.Rows {
		if len(s.Figures) == 0 {
			return nil, nil, fmt.Errorf("%s: expected a result of %s: there is neither a request nor a figure in it", path, f.name)
		}
		return s, nil, s.write(o.Out)
	}
	s.begin(first)
	s.lose("bytes sent and received, and whether a connection was reused: their columns hold 0 and false")
	if o.Out == "" && o.Dir != "" {
		o.Out = filepath.Join(o.Dir, s.id())
	}
	sum, err := s.make(in, f, first, o)
	return s, sum, err
}

// begin sets the civil time of the epoch.
func (s *Source) begin(v *survey) {
	if unixClock(v.first) {
		s.Start = time.Unix(0, v.first).UTC()
	}
	if s.Start.IsZero() {
		s.Start = time.Unix(0, 0).UTC()
		s.lose("when it was run: 1970 stands for it")
	}
}

// survey is the first reading of a file's rows: when they are, and whether
// they can be.
type survey struct {
	source      *Source
	n           int
	first, last int64 // moments
}

func (v *survey) row(a *record.Attempt) error {
	if v.n++; v.n > maxRequests {
		return fmt.Errorf("more than %d requests", maxRequests)
	}
	if err := settle(a, v.source); err != nil {
		return err
	}
	at, _ := begin(a)
	v.first = min(v.first, at)
	v.last = max(v.last, at, a.Moments.Ended.Or(at), a.LastToken.Or(at))
	return nil
}

// maker is the second reading: rows are moved to the epoch, measured and
// written.
type maker struct {
	source *Source
	epoch  int64
	sums   *measure.Accumulator
	writer *record.Writer // nil: nothing is written
	stamps int64
}

func (m *maker) row(a *record.Attempt) error {
	if err := settle(a, m.source); err != nil {
		return err
	}
	shift(a, m.epoch)
	m.sums.Add(a)
	m.stamps += int64(a.Chunks.Len())
	if m.writer == nil {
		return nil
	}
	return m.writer.Ended(a)
}

// make writes the run directory and measures it.
func (s *Source) make(in *input, f format, v *survey, o Options) (*report.Summary, error) {
	from, to := int64(0), v.last-v.first
	if !s.Timed {
		to = 0
	}
	m := &maker{source: s, epoch: v.first, sums: measure.New(measure.Options{Start: record.Some(from),
		End: record.Some(to), Stages: 1, Limits: verify.Limits(o.SLO)})}
	if o.Out != "" {
		w, err := record.Create(o.Out, s.manifest(o, from, to), record.Options{})
		if err != nil {
			return nil, err
		}
		m.writer = w
	}
	again := &Source{Timed: true, Lost: []string{}} // the second reading repeats what the first said
	err := f.read(in, again, m)
	sum := s.summary(m, o, to)
	if m.writer == nil {
		return sum, err
	}
	b, encodeErr := sum.Encode()
	err = errors.Join(err, encodeErr, m.writer.Finish())
	if err == nil {
		err = errors.Join(m.writer.WriteFile(record.SummaryFile, b), s.writeFile(m.writer))
	}
	return sum, err
}

// unixClock tells whether a moment is ns since 1970: what is not is counted
// from when a machine was started.
func unixClock(ns int64) bool { return ns > int64(5e17) }

func (s *Source) manifest(o Options, from, to int64) *record.Manifest {
	return &record.Manifest{
		Run: s.id(), Name: s.Tool, Epoch: s.Start, Versions: map[string]string{"tokamak": o.Version, "go": runtime.Version()},
		Targets: []record.TargetFacts{{Name: s.Target, URL: s.Target, API: s.API, Model: s.Model}},
		Client:  record.ClientFacts{}, Clock: record.ClockFacts{Source: "real", Stamps: record.SourceUser},
		Notices: s.notices(),
		Imported: &record.Imported{Tool: s.Tool, Version: s.Version, Format: s.Format, File: s.File,
			From: from, To: to, Untold: s.untold(), Lost: s.Lost},
	}
}

// target is the URL, where the file tells it.
func (s *Source) target() string {
	if s.Target == "" {
		return "target not told"
	}
	return s.Target
}

func (s *Source) id() string { return s.Start.UTC().Format("20060102-150405") + "-" + s.Format }

// summary measures and judges what was read.
func (s *Source) summary(m *maker, o Options, to int64) *report.Summary {
	res := m.sums.Result()
	untold := s.untold()
	res.Steady = measure.Steady{Rule: "none", Reason: "it is not looked for in what another tool measured",
		Requests: measure.Requests{ByOutcome: map[string]int{}}, Metrics: map[string]measure.Metric{}}
	for _, name := range untold {
		for _, n := range [...]string{name, name + measure.Adj} {
			if old, ok := res.Metrics[n]; ok {
				res.Metrics[n] = measure.Metric{Unit: old.Unit, Rate: old.Rate}
			}
		}
	}
	for name := range res.Validity {
		res.Validity[name] = measure.Validity{Trust: measure.Degraded, Reason: unwatched}
	}
	run := report.Run{ID: s.id(), Name: s.Tool, Dir: o.Out, Version: o.Version, API: s.API, Model: s.Model, Load: s.Load,
		Start: s.Start, Ended: report.Done, Notices: s.notices(), Tags: map[string]string{}, Targets: []string{s.target()}}
	if s.Timed {
		run.Duration = measure.Some(float64(to) / 1e6)
	}
	if m.stamps > 0 {
		run.Stamps = map[string]float64{string(record.SourceUser): 1}
	}
	return report.New(run, res, verify.Judge(o.SLO, m.sums), report.Client{}, verify.Ending{InconclusiveOK: o.InconclusiveOK})
}

const unwatched = "another tool's client: nothing tells how far it shaped the figures"

// untold are metrics that no other tool's file tells, or this one does not.
func (s *Source) untold() []string {
	return append([]string{"schedule_lag", "client_lag", "coalesced_share", "held"}, s.Untold...)
}

// notices are sentences that the reader of the run must see.
func (s *Source) notices() []string {
	version := s.Version
	if version == "" {
		version = "version not told"
	}
	out := []string{fmt.Sprintf("measured by %s (%s) and imported from %s: its client made the stamps", s.Tool, version, s.File)}
	if len(s.Lost) > 0 {
		out = append(out, "not told: "+strings.Join(s.Lost, "; "))
	}
	return append(out, s.Doubts...)
}
