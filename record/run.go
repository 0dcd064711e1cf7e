package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
)

// ErrRunning says that a run directory is still being written.
var ErrRunning = errors.New("the run is still being written")

// Run is a run directory to be read: a finished one, one after a crash, or
// one that still grows.
type Run struct {
	dir      string
	manifest Manifest
}

// Open opens a run directory. One without a readable run.json is an error.
func Open(dir string) (*Run, error) {
	path := filepath.Join(dir, ManifestFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a run directory: %w", dir, err)
	}
	r := &Run{dir: dir}
	if err := Decode(path, b, &r.manifest); err != nil {
		return nil, err
	}
	if r.manifest.Schema != ManifestSchema {
		return nil, fmt.Errorf("%s: expected the schema %q, got %q", path, ManifestSchema, r.manifest.Schema)
	}
	return r, nil
}

// Dir returns the run directory.
func (r *Run) Dir() string { return r.dir }

// Manifest returns the content of run.json.
func (r *Run) Manifest() *Manifest { return &r.manifest }

// Complete tells whether the run was finished or recovered: its Parquet files
// are there and final.
func (r *Run) Complete() bool {
	_, err := os.Stat(filepath.Join(r.dir, RequestsTable))
	return err == nil
}

// Attempts returns the ended attempts in the order of their ends: all of them
// if the run is complete, else those written so far. The *Attempt is valid
// until the next one is asked for; what must stay is copied with Clone.
func (r *Run) Attempts() iter.Seq2[*Attempt, error] {
	return rows(attemptTable(), r.scan(RequestsTable, RequestsFile))
}

// Dispatched returns what is known of every attempt at its sending, in order,
// on the same terms as Attempts.
func (r *Run) Dispatched() iter.Seq2[*Attempt, error] {
	return rows(dispatchTable(), r.scan("", DispatchedFile))
}

// Samples returns the readings of probes in the order of their writing, on the
// same terms as Attempts.
func (r *Run) Samples() iter.Seq2[*Sample, error] {
	return rows(sampleTable(), r.scan(SamplesTable, SamplesFile))
}

// Outputs returns the texts of answers where they were kept: attempts with
// RequestID, Attempt and Output alone, on the same terms as Attempts.
func (r *Run) Outputs() iter.Seq2[*Attempt, error] {
	return rows(outputTable(), r.scan(OutputsTable, OutputsFile))
}

// scan reads the Parquet file if it is there, else the stream.
func (r *Run) scan(parquet, arrows string) scanner {
	return func(yield func(arrow.RecordBatch) bool) error {
		if parquet != "" {
			err := parquetBatches(filepath.Join(r.dir, parquet), yield)
			if !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		_, err := arrowBatches(filepath.Join(r.dir, arrows), yield)
		return err
	}
}

// Events returns the lines of events.jsonl. A last line without its end is
// left out.
func (r *Run) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		path := filepath.Join(r.dir, EventsFile)
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		lines := bufio.NewReader(f)
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			var e Event
			if err == nil {
				err = decode(path, n, line, &e)
			} else {
				err = fmt.Errorf("%s:%d: %w", path, n, err)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
