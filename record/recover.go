package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Recovered says what Recover found.
type Recovered struct {
	Complete bool // the run was complete already: nothing was done
	// Rebuilt are the names, comma separated, of Parquet files of a complete run
	// that could not be read, and were made again from their streams.
	Rebuilt string
	Ended   int64 // attempts whose row was there
	Cut     int64 // attempts that were in flight and are rows with outcome cut now
	Samples int64
	Torn    int64 // bytes of batches that were being written at the crash
}

// Recover makes a run directory complete whose process died. Everything that
// was written is kept; what was dispatched and has no row becomes one with
// outcome cut and error class "crash", its end the last moment that the record
// knows. The streams stay as they are. Doing it again changes nothing.
// A Parquet file that cannot be read is made again from its stream; where
// that is gone too, it is a [*Damaged] and nothing is changed.
// A run that is still being written is ErrRunning.
func Recover(dir string) (Recovered, error) {
	r, err := Open(dir)
	if err != nil {
		return Recovered{}, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return Recovered{}, fmt.Errorf("%s: %w", dir, err)
	}
	defer unlock()
	var out Recovered
	var bad []string
	if r.Complete() {
		if bad, err = damaged(dir); err != nil {
			return out, err
		}
		out.Complete, out.Rebuilt = len(bad) == 0, strings.Join(bad, ", ")
	}
	cut, err := unended(dir, &out)
	if err != nil || out.Complete {
		return out, err
	}
	return out, writeTables(dir, cut, bad)
}

// key tells attempts apart; workers are numbered as they are met.
type key struct{ request, attempt, worker int64 }

// endedTable is as much of an attempt as tells which it is and when it was.
func endedTable() table[Attempt] {
	ended := slices.DeleteFunc(laterMoments(), func(c column[Attempt]) bool { return c.name != "ended" })
	return join(identityColumns(), sendingMoments(), ended)
}

// unended returns the attempts that were dispatched and have no row.
func unended(dir string, out *Recovered) ([]Attempt, error) {
	ended := map[key]struct{}{}
	workers := map[string]int64{}
	last := int64(0)
	see := func(a *Attempt) key {
		last = max(last, a.Moments.Ended.Or(last), a.Dispatched.Or(last))
		return key{a.RequestID, a.Attempt, numbered(workers, a.Worker)}
	}
	err := salvage(filepath.Join(dir, RequestsFile), endedTable(), out, func(a *Attempt) {
		out.Ended++
		ended[see(a)] = struct{}{}
	})
	if err != nil {
		return nil, err
	}
	var cut []Attempt
	err = salvage(filepath.Join(dir, DispatchedFile), dispatchTable(), out, func(a *Attempt) {
		if _, ok := ended[see(a)]; !ok {
			cut = append(cut, *a.Clone())
		}
	})
	if err != nil {
		return nil, err
	}
	err = salvage(filepath.Join(dir, SamplesFile), sampleTable(), out, func(s *Sample) {
		out.Samples++
		last = max(last, s.At)
	})
	for i := range cut {
		cut[i].Outcome, cut[i].ErrorClass, cut[i].Moments.Ended = Cut, CrashClass, Some(last)
	}
	out.Cut = int64(len(cut))
	return cut, err
}

func numbered(known map[string]int64, s string) int64 {
	n, ok := known[s]
	if !ok {
		n = int64(len(known))
		known[strings.Clone(s)] = n
	}
	return n
}

// salvage calls see for every row of the whole batches of a stream.
func salvage[R any](path string, t table[R], out *Recovered, see func(*R)) error {
	var row R
	var bad error
	e, err := arrowBatches(path, func(b arrow.RecordBatch) bool {
		bad = eachRow(t, b, &row, func(r *R) bool { see(r); return true })
		return bad == nil
	})
	out.Torn += e.torn()
	return errors.Join(err, bad)
}

// writeTables makes the Parquet files from the streams; extra rows follow
// those of requests.arrows. With names it makes these alone.
func writeTables(dir string, extra []Attempt, names []string) error {
	in := func(name string) string { return filepath.Join(dir, name) }
	wanted := func(name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	if wanted(SamplesTable) {
		if err := convert(in(SamplesFile), in(SamplesTable), sampleTable(), nil); err != nil {
			return err
		}
	}
	if _, err := os.Stat(in(OutputsFile)); err == nil && wanted(OutputsTable) {
		if err := convert(in(OutputsFile), in(OutputsTable), outputTable(), nil); err != nil {
			return err
		}
	}
	if !wanted(RequestsTable) {
		return nil
	}
	// The last one says that the run is complete.
	return convert(in(RequestsFile), in(RequestsTable), attemptTable(), extra)
}
