package runner

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// recorder writes rows to the run directory, if there is one, and gathers
// them for measuring.
type recorder struct {
	writer *record.Writer // nil: nothing is written
	sums   *measure.Accumulator
	abort  Aborter
	quota  quota
	stamps stampCount
	course course // of an adaptive load
	rows   int64
}

// newRecorder makes the run directory.
func (r *Run) newRecorder() (*recorder, error) {
	rec := &recorder{sums: measure.New(measure.Options{})}
	rec.abort = newAbortRules(r.scenario.Load.Abort)
	if r.dir == "" {
		return rec, nil
	}
	id := r.id
	for n := 2; ; n++ {
		m, err := r.manifest()
		if err != nil {
			return nil, err
		}
		rec.writer, err = record.Create(r.dir, m, record.Options{SaveOutputs: r.scenario.Out.SaveOutputs, Secrets: r.secrets})
		switch {
		case err == nil:
			return rec, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, exit.With(exit.Usage, err)
		case r.scenario.Out.Dir != "":
			return nil, exit.Hint(exit.Usage, err, "choose another --out, or remove the directory")
		case n > sameSecond:
			return nil, exit.With(exit.Usage, err)
		}
		r.rename(id, n) // another run began in the same second
	}
}

// sameSecond is how many runs may begin in one second in one directory.
const sameSecond = 1000

// Dispatched notes a sending.
func (r *recorder) Dispatched(a *record.Attempt) error {
	if r.writer == nil {
		return nil
	}
	return r.writer.Dispatched(a)
}

// Ended takes a row.
func (r *recorder) Ended(a *record.Attempt) error {
	r.rows++
	r.sums.Add(a)
	r.quota.add(a)
	r.stamps.add(a)
	if r.writer == nil {
		return nil
	}
	return r.writer.Ended(a)
}

func (r *recorder) event(e record.Event) {
	if r.writer != nil {
		// A disk that fails shows at the next row.
		_ = r.writer.Event(e)
	}
}

func (r *recorder) sample(s record.Sample) {
	if r.writer != nil {
		_ = r.writer.Sample(s)
	}
}

// quota counts what was turned away by a limit of requests or tokens rather
// than by an engine at its end.
type quota struct {
	limited int // refused with 429 and rate-limit fields
	fields  map[string]string
}

func (q *quota) add(a *record.Attempt) {
	if a.Outcome != record.Rejected || a.HTTPStatus.Or(0) != 429 || len(a.RateLimit) == 0 {
		return
	}
	q.limited++
	if q.fields == nil {
		q.fields = map[string]string{}
	}
	for _, f := range a.RateLimit {
		name, value, _ := strings.Cut(f, "=")
		q.fields[name] = value
	}
}
