package portrait

import (
	texts "github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// bodied returns a row whose prompt is a request body without a length, with the
// length that the tokenizer counts of it; any other row as it is.
func (l *log) bodied(r *trace.Row) (*trace.Row, error) {
	if l.counter == nil || r.Body == nil || r.Input > 0 {
		return r, nil
	}
	n, err := texts.Body(r.Body, l.counter)
	if err != nil || n == 0 {
		return r, err
	}
	l.counted++
	row := *r
	row.Input = n
	return &row, nil
}
