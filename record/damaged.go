package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
)

// Damaged says that a Parquet file of a run directory cannot be read.
type Damaged struct {
	File string // with its directory
	Err  error  // of the reader
}

// Error names the file and what was expected.
func (e *Damaged) Error() string {
	return fmt.Sprintf("%s is damaged: expected a whole Parquet file (%v)", e.File, e.Err)
}

// Unwrap returns the reader's own error.
func (e *Damaged) Unwrap() error { return e.Err }

// Check looks whether the tables of a complete run open. It reads their ends
// alone; one that does not open is a [*Damaged].
func (r *Run) Check() error {
	for _, name := range []string{RequestsTable, SamplesTable, OutputsTable} {
		err := parquetOpens(filepath.Join(r.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func parquetOpens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := openParquet(f, info.Size()); err != nil {
		return &Damaged{path, err}
	}
	return nil
}

// damaged returns the names of the tables that cannot be read to their end. One whose
// stream is not there either is an error.
func damaged(dir string) ([]string, error) {
	streams := map[string]string{RequestsTable: RequestsFile, SamplesTable: SamplesFile, OutputsTable: OutputsFile}
	var names []string
	for _, name := range []string{RequestsTable, SamplesTable, OutputsTable} {
		err := parquetBatches(filepath.Join(dir, name), func(arrow.RecordBatch) bool { return true })
		var bad *Damaged
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist):
		case !errors.As(err, &bad):
			return nil, err
		default:
			stream := filepath.Join(dir, streams[name])
			if _, gone := os.Stat(stream); gone != nil {
				return nil, fmt.Errorf("%w; %s, from which it could be made again, is not there", bad, stream)
			}
			names = append(names, name)
		}
	}
	return names, nil
}
