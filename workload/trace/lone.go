package trace

import "cmp"

// A span names its trace always and its conversation seldom, and most traces
// hold one request. So a trace is taken for a session only where several
// requests of it follow each other closely: rows are held back until that is
// known, as many as one process's spans are apart in a log of many.

const (
	// mostHeld is how many rows are held back, mostHeldBytes how much memory
	// they may take.
	mostHeld      = 1 << 16
	mostHeldBytes = 64 << 20
)

// traces hold rows back that name a trace alone.
type traces struct {
	held  []*tracedRow // from next on
	next  int
	size  int
	first map[string]*tracedRow // of held rows, the first of each trace
	most  int                   // rows to hold; 0: mostHeld
	bytes int                   // the same of memory; 0: mostHeldBytes
	end   error                 // what the reading ended with
}

// tracedRow is a row that is held back, and where it came from.
type tracedRow struct {
	row    *Row
	unit   string
	line   int64
	shared bool // by other requests: its trace
}

// settled returns the next row of a format whose sessions may be traces.
func (r *Reader) settled() (*Row, error) {
	t := &r.traces
	most, bytes := cmp.Or(t.most, mostHeld), cmp.Or(t.bytes, mostHeldBytes)
	for t.end == nil && len(t.held)-t.next < most && t.size < bytes {
		row, err := r.raw()
		if err != nil {
			t.end = err
			break
		}
		t.hold(&tracedRow{row.Clone(), r.unit, r.line, false})
	}
	if t.next == len(t.held) {
		return nil, t.end
	}
	h := t.release()
	r.unit, r.line = h.unit, h.line
	if h.row.Traced && !h.shared {
		r.turns.alone(h.row.Session)
		h.row.Session, h.row.Traced = "", false
	}
	return h.row, nil
}

func (t *traces) hold(h *tracedRow) {
	if h.row.Traced {
		h.shared = h.row.Turn > 0
		if first := t.first[h.row.Session]; first != nil {
			first.shared = true
		} else if !h.shared {
			if t.first == nil {
				t.first = map[string]*tracedRow{}
			}
			t.first[h.row.Session] = h
		}
	}
	if t.next > len(t.held)/2 {
		n := copy(t.held, t.held[t.next:])
		clear(t.held[n:])
		t.held, t.next = t.held[:n], 0
	}
	t.held = append(t.held, h)
	t.size += h.row.Size()
}

func (t *traces) release() *tracedRow {
	h := t.held[t.next]
	t.held[t.next] = nil
	t.next++
	t.size -= h.row.Size()
	if t.first[h.row.Session] == h {
		delete(t.first, h.row.Session)
	}
	return h
}
