package workload

import (
	"container/heap"
	"errors"
	"io"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

const (
	// mostHeld rows are held back to put them in order, and about mostHeldBytes.
	mostHeld      = 1 << 16
	mostHeldBytes = 256 << 20
)

// ordered puts rows in the order of their moments. Logs are written when
// requests end, so that beginnings come out of order by as much as requests
// last; so many are held back, and the earliest goes first. Rows without a
// moment, and those of a moment, keep their order.
type ordered struct {
	rows *trace.Reader
	held held
	read uint64
	size int
	end  error
}

func (o *ordered) next() (*trace.Row, error) {
	for o.end == nil && len(o.held) < mostHeld && o.size < mostHeldBytes {
		row, err := o.rows.Next()
		if err != nil {
			o.end = err
			break
		}
		h := heldRow{row.Clone(), o.read}
		o.read++
		o.size += h.row.Size()
		heap.Push(&o.held, h)
	}
	if o.end != nil && !errors.Is(o.end, io.EOF) || len(o.held) == 0 {
		return nil, o.end
	}
	h := heap.Pop(&o.held).(heldRow)
	o.size -= h.row.Size()
	return h.row, nil
}

type heldRow struct {
	row *trace.Row
	n   uint64
}

// held is a heap by moment.
type held []heldRow

func (h held) Len() int      { return len(h) }
func (h held) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h held) Less(i, j int) bool {
	if h[i].row.At != h[j].row.At {
		return h[i].row.At < h[j].row.At
	}
	return h[i].n < h[j].n
}

// Push adds a row.
func (h *held) Push(x any) { *h = append(*h, x.(heldRow)) }

// Pop takes the last row.
func (h *held) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = heldRow{}
	*h = (*h)[:last]
	return x
}
