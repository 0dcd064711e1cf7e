package workload

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Skipper is a source that leaves out what it cannot use.
type Skipper interface {
	// Skipped returns how many lines were left out so far, and the first few.
	Skipped() (n int64, first []*trace.LineError)
}

// recorded yields the rows of a dataset in their order. It belongs to one
// goroutine.
type recorded struct {
	Config
	seed    uint64
	class   Class // what rows leave open
	rows    *trace.Reader
	order   *ordered // of rows whose source has them out of order; nil: as they come
	session int64    // the next
	skipped int64    // of passes that ended
	ignored int64    // the same of lines that hold no request
	first   []*trace.LineError
	said    []string         // notes of the reading, of a pass that ended
	later   bool             // what rows of a session hold was asked, in one that ended
	hashes  map[uint64]int64 // blocks sent before, by id: tokens of the longest
	past    past
	odd     odd
	names   names
}

func newRecorded(c Config, seed uint64) (*recorded, error) {
	if c.Dataset.Open == nil {
		return nil, fmt.Errorf("workload: dataset %q has no content", c.Dataset.Name)
	}
	r := &recorded{Config: c, seed: seed, hashes: map[uint64]int64{}, names: names{keep: c.Dataset.KeepNames}}
	if len(c.Classes) > 0 {
		r.class = c.Classes[0]
	}
	return r, r.open()
}

func (r *recorded) open() error {
	reading := r.Dataset.Reading
	reading.Media = r.Dataset.folder()
	rows, err := trace.Open(r.Dataset.Name, r.Dataset.Open, reading)
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	r.rows, r.order = rows, nil
	if rows.Unordered() && !r.Dataset.Once {
		r.order = &ordered{rows: rows}
	}
	return nil
}

// Close ends the reading.
func (r *recorded) Close() error {
	if r.rows == nil {
		return nil
	}
	rows := r.rows
	n, first := rows.Skipped()
	r.skipped += n
	r.ignored += rows.Ignored()
	if len(r.first) == 0 {
		r.first = first
	}
	r.said = rows.Notes()
	r.later = r.later || rows.TurnsUsed()
	r.rows = nil
	return rows.Close()
}

// Skipped returns how many lines could not be used, and the first few.
func (r *recorded) Skipped() (int64, []*trace.LineError) {
	if r.rows == nil {
		return r.skipped, r.first
	}
	n, first := r.rows.Skipped()
	if len(r.first) > 0 {
		first = r.first
	}
	return r.skipped + n, first
}

// Session returns session i. Rows are read as they are needed, so i must be
// one above the last.
func (r *recorded) Session(i int64) (Session, error) {
	if i != r.session {
		return nil, fmt.Errorf("dataset %s: session %d asked for after %d: rows are read in order", r.Dataset.Name, i, r.session-1)
	}
	if r.MaxSessions > 0 && i >= r.MaxSessions {
		return nil, ErrEnd
	}
	row, err := r.row()
	if err != nil {
		return nil, err
	}
	r.session++
	return r.replay(row, uint64(i)), nil
}

// next returns the next row of this pass.
func (r *recorded) next() (*trace.Row, error) {
	if r.order != nil {
		return r.order.next()
	}
	return r.rows.Next()
}

// row returns the next row that can be sent, valid until the next call, or
// ErrEnd.
func (r *recorded) row() (*trace.Row, error) {
	for r.rows != nil {
		row, err := r.next()
		if err == nil {
			if !sendable(row) {
				r.odd.empty++
				continue
			}
			r.odd.sendable++
			return row, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, errors.Join(fmt.Errorf("dataset: %w", err), r.Close())
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
		if r.odd.sendable == 0 {
			return nil, fmt.Errorf("dataset %s: none of its %d rows has content or a length: there is nothing to send", r.Dataset.Name, r.odd.empty)
		}
		if r.Dataset.Repeat && !r.Dataset.Once {
			if err := r.open(); err != nil {
				return nil, err
			}
		}
	}
	return nil, ErrEnd
}

func (r *recorded) expected(n int64) (Expected, bool) {
	if r.Dataset.Once {
		return Expected{}, false
	}
	c := r.Config
	c.Dataset = &Dataset{Name: c.Dataset.Name, Open: c.Dataset.Open, Conversations: c.Dataset.Conversations, Count: c.Dataset.Count, Reading: c.Dataset.Reading,
		Dir: c.Dataset.Dir, Image: c.Dataset.Image, NoMedia: c.Dataset.NoMedia}
	again, err := newRecorded(c, r.seed)
	if err != nil {
		return Expected{}, false
	}
	defer func() { _ = again.Close() }() // only read
	var e Expected
	for i := range n {
		s, err := again.Session(i)
		if err != nil {
			n = i
			break
		}
		e.add(s, r.Dataset.Reasoning)
	}
	return e.per(n)
}

// ErrNoTiming says that a dataset has no moments of its own.
var ErrNoTiming = errors.New("the dataset has no moments: expected at, timestamp or TIMESTAMP in each row")

// Schedule returns the moments of a dataset's rows, in ns from the start, for
// [load.Plan]: at as it stands, timestamps from the first row's on. With Jitter
// they are spread and put in order again. At most limit rows are read; 0: all.
// Rows that cannot be used are left out here as in the sessions, so that
// moment i belongs to session i. A dataset that can be read only once is kept
// in memory from here on. Errors name the line; ErrNoTiming where the first
// row has no moment.
func Schedule(d *Dataset, limit int64, seed uint64) ([]int64, error) {
	if d.Once {
		if err := d.keep(); err != nil {
			return nil, err
		}
	}
	once := *d
	once.Repeat = false
	r, err := newRecorded(Config{Dataset: &once, MaxSessions: limit}, seed)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	var at []int64
	zero := int64(0)
	var late disorder
	for n := 0; limit == 0 || int64(n) < limit; n++ {
		w, err := r.row()
		if errors.Is(err, ErrEnd) || err != nil && late.rows > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case late.rows > 0: // the rest is counted alone
			late.add(w.At - zero)
			continue
		case !w.Timed && n == 0:
			return nil, fmt.Errorf("dataset %s: %w", d.Name, ErrNoTiming)
		case !w.Timed:
			return nil, fmt.Errorf("dataset %s: row %d has no moment", d.Name, n+1)
		case n == 0 && !r.rows.FromStart():
			zero = w.At
		}
		t := w.At - zero
		if n > 0 && t < at[n-1] {
			late = disorder{where: r.place(n), first: t, last: at[n-1], seen: int64(n)}
			late.add(t)
			continue
		}
		at = append(at, t)
	}
	if late.rows > 0 {
		return nil, late.err()
	}
	d.spread(at, seed)
	return at, nil
}

// place names the line of row n, from 0, which was read last, where rows come
// as they stand in the file.
func (r *recorded) place(n int) string {
	if r.order != nil {
		return fmt.Sprintf("%s: row %d", r.Dataset.Name, n+1)
	}
	return r.rows.Place()
}

// disorder counts rows behind one of a later moment.
type disorder struct {
	where string // the first of them
	first int64  // its moment
	last  int64  // the latest moment so far
	rows  int64
	seen  int64 // rows of all
}

func (o *disorder) add(t int64) {
	if o.seen++; t < o.last {
		o.rows++
	}
	o.last = max(o.last, t)
}

func (o *disorder) err() error {
	return fmt.Errorf("dataset %s: is at %v, before the row above it; %d of %d rows stand behind one of a later moment: expected rows in order of time: sort the file by its moments",
		o.where, time.Duration(o.first), o.rows, o.seen)
}

func (d *Dataset) spread(at []int64, seed uint64) {
	if d.Jitter <= 0 {
		return
	}
	for i := range at {
		at[i] += int64(stat.Random(seed, "jitter", uint64(i)).Uint64N(uint64(d.Jitter)))
	}
	slices.Sort(at)
}
