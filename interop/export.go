package interop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/verify"
)

// exporter writes a run in one format.
type exporter struct {
	name, holds string
	dialect     string // whose definitions the figures follow; empty: tokamak's
	write       func(w io.Writer, r *outRun) error
}

func exporters() []exporter {
	return []exporter{
		{"vllm", "vLLM bench's flat JSON with its arrays (--save-detailed)", "vllm", writeVLLM},
		{"aiperf", "AIPerf's records (profile_export.jsonl)", "aiperf", writeAIPerfRecords},
		{"aiperf-summary", "AIPerf's summary (profile_export_aiperf.json)", "aiperf", writeAIPerfSummary},
		{"llm-d", "llm-d Benchmark Report 0.2.1 as JSON, which is YAML too", "vllm", writeLLMD},
		{"k6", "the data that k6 hands to handleSummary", "", writeK6},
		{"junit", "JUnit XML: a case for the run and one for each objective", "", func(w io.Writer, r *outRun) error {
			return report.JUnit(w, r.sum.Suite())
		}},
	}
}

// Exports names the formats that are written, each with what it is.
func Exports() [][2]string {
	var out [][2]string
	for _, e := range exporters() {
		out = append(out, [2]string{e.name, e.holds})
	}
	return out
}

// ExportNames returns their names.
func ExportNames() []string {
	var out []string
	for _, e := range exporters() {
		out = append(out, e.name)
	}
	return out
}

// Export writes the run of a directory in the format called as and returns, in
// sentences, what of the run the format has no place for.
func Export(w io.Writer, dir, as string) (left []string, err error) {
	for _, e := range exporters() {
		if e.name != as {
			continue
		}
		r, err := openRun(dir, e.dialect)
		if err != nil {
			return nil, err
		}
		if err := e.write(w, r); err != nil {
			return nil, err
		}
		return r.left, nil
	}
	return nil, fmt.Errorf("--as %s: expected %s", as, strings.Join(ExportNames(), ", "))
}

// outRun is a run to be written in another form.
type outRun struct {
	run     *record.Run
	m       *record.Manifest
	sum     *report.Summary
	dialect dialect.Dialect
	trace   *dialect.Trace           // nil where the format has tokamak's own figures
	values  map[string]measure.Value // the dialect's figures
	unsent  int
	cut     int
	left    []string
}

func openRun(dir, name string) (*outRun, error) {
	run, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	r := &outRun{run: run, m: run.Manifest()}
	b, err := os.ReadFile(filepath.Join(dir, record.SummaryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: the run is not finished", dir, record.SummaryFile)
	}
	if err != nil {
		return nil, err
	}
	r.sum = &report.Summary{}
	if err := json.Unmarshal(b, r.sum); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, record.SummaryFile), err)
	}
	if name == "" {
		return r, nil
	}
	d, ok := dialect.Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no dialect %s", name)
	}
	r.dialect = d
	return r, r.measure()
}

// measure recomputes the run as the format's tool would have.
func (r *outRun) measure() error {
	opt := dialect.Options{}
	for e, err := range r.run.Events() {
		if err != nil {
			return err
		}
		if e.Kind == "load" && !opt.Start.Valid() {
			opt.Start = record.Some(e.At)
		}
	}
	if i := r.m.Imported; i != nil {
		opt.Start, opt.End = record.Some(i.From), record.Some(i.To)
	}
	var exprs []string
	for i := range r.sum.SLO {
		exprs = append(exprs, r.sum.SLO[i].Expr)
	}
	if objectives, err := verify.Parse(strings.Join(exprs, ",")); err == nil {
		opt.Limits = verify.Limits(objectives)
	}
	r.trace = dialect.New(opt)
	for a, err := range r.run.Attempts() {
		if err != nil {
			return err
		}
		switch a.Outcome {
		case record.Unsent:
			r.unsent++
		case record.Cut, record.Cancelled, record.Abandoned:
			r.cut++
		}
		r.trace.Add(a)
	}
	r.values = r.trace.Values(&r.dialect)
	if i := r.m.Imported; i != nil && i.From == i.To {
		for _, name := range []string{"duration", "request_rate", "output_rate", "input_rate", "total_rate", "goodput", "output_peak"} {
			delete(r.values, name) // its requests have no moments
		}
		r.leave("rates: the run was imported from a file without moments")
	}
	if r.unsent > 0 {
		r.leave("%s that were due and never sent: the tool knows only what it sends", plural(int64(r.unsent), "request"))
	}
	if r.cut > 0 {
		r.leave("that %s cut or given up by a user: they stand among the failures of the tool", plural(int64(r.cut), "request"))
	}
	return nil
}

func (r *outRun) leave(format string, args ...any) {
	r.left = append(r.left, fmt.Sprintf(format, args...))
}

// value returns a figure of the dialect.
func (r *outRun) value(metric string) (float64, bool) { return r.values[metric].Get() }

// sendings hands over every sending with what the tool would have recorded of
// it, in the order of their ends.
func (r *outRun) sendings(yield func(a *record.Attempt, l *dialect.Look) error) error {
	next, stop := iter.Pull2(r.run.Attempts())
	defer stop()
	var failed error
	r.trace.Each(&r.dialect, func(l *dialect.Look) {
		for failed == nil {
			a, err, ok := next()
			switch {
			case err != nil:
				failed = err
			case !ok:
				failed = errors.New("the run changed while it was read")
			case a.Outcome != record.Unsent:
				failed = yield(a, l)
				return
			}
		}
	})
	return failed
}

// seconds writes ns as seconds, exactly.
func secondsText(ns int64) string { return decimal(ns, 9) }

// milliseconds writes ns as ms, exactly.
func millisecondsText(ns int64) string { return decimal(ns, 6) }

// decimal writes n·10^−places in its shortest exact form.
func decimal(n int64, places int) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	if len(s) <= places {
		s = strings.Repeat("0", places-len(s)+1) + s
	}
	whole, part := s[:len(s)-places], strings.TrimRight(s[len(s)-places:], "0")
	if part == "" {
		return sign + whole
	}
	return sign + whole + "." + part
}

// between is to − from; absent where either is.
func between(from, to record.Int) (int64, bool) {
	f, ok := from.Get()
	t, also := to.Get()
	if !ok || !also {
		return 0, false
	}
	return t - f, true
}

// model is the run's model, of the first target that tells it.
func (r *outRun) model() string {
	for _, t := range r.m.Targets {
		if t.Model != "" {
			return t.Model
		}
	}
	return r.sum.Run.Model
}

// version names who measured.
func (r *outRun) version() string { return "tokamak " + r.sum.Run.Version }
