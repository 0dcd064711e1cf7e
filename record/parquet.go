package record

import (
	"errors"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
)

func convert[R any](arrows, parquet string, t table[R], extra []R) error { return nil }

func parquetBatches(path string, yield func(arrow.RecordBatch) bool) error {
	return errors.Join(os.ErrNotExist)
}
