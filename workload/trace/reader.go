package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// Options say what a content is, where it does not say so itself.
type Options struct {
	// Format of the content, as [Formats] names it; empty: recognised.
	Format string
	// Mapping reads JSON lines of a form of their own; nil: none.
	Mapping *Mapping
	// BlockTokens is the length of the blocks that ids name; 0: the format's own.
	BlockTokens int64
	// Turns says what the rows of one conversation hold; empty: told apart by
	// their blocks.
	Turns Turns
	// MaxBad is the share of lines that may be unusable; 0: DefaultMaxBad;
	// negative: not one. A last line that was cut off is left out of it.
	MaxBad float64
	// Media is where the files of the content lie. Set, each image, sound and
	// video that the content holds or names is looked at, and a row whose
	// cannot be sent is a bad one; nil: they are counted.
	Media *media.Folder
}

// Turns is what rows of one conversation hold.
type Turns string

// What rows of one conversation hold.
const (
	DeltaTurns      Turns = "delta"      // each the new text alone
	CumulativeTurns Turns = "cumulative" // each the whole prompt
)

const (
	// DefaultMaxBad is the share of lines that may be unusable.
	DefaultMaxBad = 0.01
	// judgedFrom is how many lines that share is first judged after.
	judgedFrom = 1000
	// own is the format of our own rows.
	own = "tokamak"
)

// Reader reads the rows of one content in their order. It belongs to one
// goroutine.
type Reader struct {
	name    string
	options Options
	source  *source
	format  *format
	pieces  pieces
	decoder decoder
	pending []pending // read while the format was looked for
	turns   sessions
	traces  traces // of a format that is traced
	out     batch
	at      int // in out
	good    int64
	read    int64 // good, bad and ignored
	ignored int64
	bad     int64
	torn    int64 // of the bad ones, 1 where the last was cut off
	first   []*LineError
	kinds   kinds
	end     error

	unit     string // of the last piece
	line     int64
	zoneless int64 // rows with moments without a zone
}

// decoder makes rows of a piece.
type decoder interface {
	decode(piece []byte, out *batch)
}

// pending is a piece kept for later.
type pending struct {
	piece []byte
	err   error
	unit  string
	line  int64
}

// Open begins to read a content, of which name is the name for messages, and
// open returns the bytes. It fails where they cannot be read, or are of no
// known format or of several. The error wraps ErrServeGen where the content is
// a model of clients and has no rows.
func Open(name string, open func() (io.ReadCloser, error), o Options) (*Reader, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	r := &Reader{name: name, options: o}
	if r.source, err = unpack(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := r.recognise(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends the reading and returns what closing the content does.
func (r *Reader) Close() error {
	if r.source == nil {
		return nil
	}
	s := r.source
	r.source, r.end = nil, io.EOF
	r.at, r.out.n = 0, 0
	r.traces = traces{end: io.EOF}
	return s.Close()
}

// FromStart tells whether moments count from the start of a run, as in our own
// rows, and not from the first row's.
func (r *Reader) FromStart() bool {
	return r.format.fromStart
}

// Unordered tells whether rows may be out of the order of their moments, as in
// logs that are written when a request ends.
func (r *Reader) Unordered() bool {
	return r.format.ends
}

// Deltas tells whether rows of a session may be of its new text alone.
func (r *Reader) Deltas() bool {
	return r.format.deltas
}

// TurnsUsed tells whether any row so far was one of which Options.Turns says
// what it holds.
func (r *Reader) TurnsUsed() bool {
	d, ok := r.decoder.(*mooncake)
	return ok && d.later
}

// Format names what is read, as in [Formats].
func (r *Reader) Format() string { return r.format.name }

// Skipped returns how many lines could not be used so far, and the first few.
func (r *Reader) Skipped() (int64, []*LineError) { return r.bad, r.first }

// Ignored returns how many lines hold no request, such as other spans of a
// trace, health checks in an access log, or what a mapping filters out.
func (r *Reader) Ignored() int64 { return r.ignored }

// Next returns the next row, valid until the next call; io.EOF after the last.
// A line that cannot be used is passed over and counted. Any other error is
// the end: the content breaks off, has no row at all, or has more bad lines
// than Options.MaxBad allows (a *BadShareError).
func (r *Reader) Next() (*Row, error) {
	if r.format.traced {
		return r.settled()
	}
	return r.raw()
}

// raw returns the next row as it is read.
func (r *Reader) raw() (*Row, error) {
	for {
		if r.at < r.out.n {
			r.at++
			return &r.out.rows[r.at-1], nil
		}
		if r.end != nil {
			return nil, r.end
		}
		r.advance()
	}
}

// advance makes rows of the next piece.
func (r *Reader) advance() {
	r.at = 0
	r.out.reset()
	p := r.take()
	if p.err == nil {
		r.decoder.decode(p.piece, &r.out)
	} else if r.ended(p) {
		return
	}
	r.account(p.unit, p.line)
}

// ended tells whether an error is the end and not of one piece.
func (r *Reader) ended(p pending) bool {
	var bad *badPiece
	switch {
	case errors.As(p.err, &bad):
		r.out.fail(bad.error)
		return false
	case errors.Is(p.err, io.EOF):
		if r.end = r.judge(1); r.end == nil {
			r.end = io.EOF
		}
	default:
		r.end = &LineError{r.name, p.unit, p.line, p.err}
	}
	return true
}

// take returns the next piece.
func (r *Reader) take() (p pending) {
	if len(r.pending) > 0 {
		p, r.pending = r.pending[0], r.pending[1:]
		return p
	}
	p.piece, p.err = r.pieces.next()
	p.unit, p.line = r.pieces.place()
	return p
}

// account counts what came of a piece.
func (r *Reader) account(unit string, line int64) {
	r.find()
	r.unit, r.line = unit, line
	r.good += int64(r.out.n)
	r.ignored += r.out.ignored
	r.bad += int64(len(r.out.errs))
	r.read += int64(r.out.n) + r.out.ignored + int64(len(r.out.errs))
	for _, err := range r.out.errs {
		err = r.cutOff(line, err)
		if errors.Is(err, errTorn) || errors.Is(err, errNoRest) {
			r.torn = 1
		}
		bad := &LineError{r.name, unit, line, err}
		if r.kinds.add(bad); len(r.first) < keptErrors {
			r.first = append(r.first, bad)
		}
	}
	for i := range r.out.rows[:r.out.n] {
		row := &r.out.rows[i]
		row.Format = r.format.name
		if row.Zoneless {
			r.zoneless++
		}
		if r.format.counted && row.Session != "" {
			r.count(row)
		}
	}
	switch {
	case r.out.fatal != nil:
		r.out.n = 0
		r.end = &LineError{r.name, unit, line, r.out.fatal}
	case len(r.out.errs) > 0:
		r.end = r.judge(judgedFrom)
	}
}

// cutOff says of an error whether it is of a last line that was cut off.
func (r *Reader) cutOff(line int64, err error) error {
	l, ok := r.pieces.(interface{ unended() int64 })
	if !ok || l.unended() != line {
		return err
	}
	if errors.Is(err, errNotJSON) || errors.Is(err, errWrapping) || r.format.shape == table {
		return fmt.Errorf("%w: %w", errTorn, err)
	}
	return err
}

// count numbers the turns of a session whose source does not.
func (r *Reader) count(row *Row) {
	if before, later := r.turns.next(row); later {
		row.Turn = before.turn + 1
	}
}

// judge returns why reading ends, once so many lines were read.
func (r *Reader) judge(from int64) error {
	limit := r.options.MaxBad
	if limit == 0 {
		limit = DefaultMaxBad
	}
	if r.read < from && from > 1 {
		return nil
	}
	if from == 1 && r.good == 0 {
		return r.nothing()
	}
	if err := r.unmapped(); from == 1 && err != nil {
		return err
	}
	// What was cut off was not bad when it was written.
	if bad, read := r.bad-r.torn, r.read-r.torn; float64(bad) > max(limit, 0)*float64(read) {
		return &BadShareError{Name: r.name, Bad: bad, Read: read, Limit: max(limit, 0), First: r.first[0], Kinds: r.BadKinds()}
	}
	return nil
}

// nothing says why there is no row.
func (r *Reader) nothing() error {
	switch {
	case len(r.first) > 0:
		return fmt.Errorf("%s has no line that can be used; the first: %w", r.name, r.first[0])
	case r.ignored > 0:
		if m, ok := r.decoder.(*mapped); ok && len(m.met) > 0 {
			return fmt.Errorf("%s has no rows: of %d lines none is wanted: %s", r.name, r.ignored, m.conditions())
		}
		return fmt.Errorf("%s has no rows: %d lines hold no request as %s reads them", r.name, r.ignored, r.format.name)
	}
	return fmt.Errorf("%s has no rows", r.name)
}

// BadShareError says that too many lines could not be used, a last one that was
// cut off not counted.
type BadShareError struct {
	Name      string
	Bad, Read int64
	Limit     float64 // share
	First     *LineError
	Kinds     []BadKind // as Reader.BadKinds
}

// Error names the share, the limit, the first bad line, and where there are
// more the kinds of them.
func (e *BadShareError) Error() string {
	s := fmt.Sprintf("%s: %d of %d lines cannot be used, more than %s%% (--max-bad allows more); the first: %v",
		e.Name, e.Bad, e.Read, strconv.FormatFloat(100*e.Limit, 'g', 4, 64), e.First)
	if e.Bad > 1 {
		s = strings.Join(append([]string{s}, listed(e.Kinds)...), "\n  ")
	}
	return s
}

// Unwrap returns the first bad line.
func (e *BadShareError) Unwrap() error { return e.First }

// ParseShare reads a share such as 5% or 0.05 for [Options].MaxBad.
func ParseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(digits, 64)
	if percent {
		x /= 100
	}
	switch {
	case err != nil || !(x >= 0 && x <= 1):
		return 0, fmt.Errorf("expected a share such as 5%% or 0.05, found %.40q", text)
	case x == 0:
		return -1, nil
	}
	return x, nil
}

// batch is what came of a piece.
type batch struct {
	rows    []Row
	n       int
	ignored int64
	errs    []error
	fatal   error
}

func (b *batch) reset() {
	b.n, b.ignored, b.errs, b.fatal = 0, 0, b.errs[:0], nil
}

// row adds an empty row.
func (b *batch) row() *Row {
	if b.n == len(b.rows) {
		b.rows = append(b.rows, Row{})
	}
	r := &b.rows[b.n]
	*r = Row{Blocks: r.Blocks[:0]}
	b.n++
	return r
}

// drop takes the last row back and says why it cannot be used.
func (b *batch) drop(err error) {
	b.n--
	b.fail(err)
}

// fail says that something in the piece cannot be used.
func (b *batch) fail(err error) { b.errs = append(b.errs, err) }

// Clone returns a row that stays as it is when reading goes on.
func (r *Row) Clone() *Row {
	c := *r
	c.Blocks = append([]uint64(nil), r.Blocks...)
	c.Body = bytes.Clone(r.Body)
	return &c
}
