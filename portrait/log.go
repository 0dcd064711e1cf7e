package portrait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
	texts "github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Rows is a log being read; *trace.Reader is one.
type Rows interface {
	Next() (*trace.Row, error) // io.EOF behind the last
	Format() string
	Skipped() (int64, []*trace.LineError)
	Ignored() int64
}

// Options say how a page is made.
type Options struct {
	// Name of what is shown, for its title.
	Name string
	// Tenants shows their names.
	Tenants bool
	// Tokenizer counts the texts of a log that does not give their lengths; nil:
	// they are not known.
	Tokenizer Tokenizer
	// NoLengths leaves the lengths out: a model's source did not tell them.
	NoLengths bool
}

// Tokenizer counts the tokens of texts; those of package token do.
type Tokenizer interface {
	Name() string
	Count(text string) (int, error)
}

// Log reads a log to its end and returns its figures and its page. An error is
// the reader's or the context's.
func Log(ctx context.Context, rows Rows, o Options) (*Facts, *Page, error) {
	l, err := read(ctx, rows, &log{counter: o.Tokenizer})
	if err != nil {
		return nil, nil, err
	}
	f := l.facts()
	f.Name, f.Format, f.Ignored = o.Name, rows.Format(), rows.Ignored()
	var first []*trace.LineError
	f.Skipped, first = rows.Skipped()
	for _, e := range first {
		f.Reasons = append(f.Reasons, e.Error())
	}
	f.note(l)
	if n, ok := rows.(interface{ Notes() []string }); ok {
		for _, words := range n.Notes() {
			f.Notes = append(f.Notes, capital(words)+".")
		}
	}
	return f, l.page(f, o), nil
}

// read keeps what is drawn of every row.
func read(ctx context.Context, rows interface{ Next() (*trace.Row, error) }, l *log) (*log, error) {
	const often = 1 << 14
	for {
		if l.rows%often == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, err := rows.Next()
		if errors.Is(err, io.EOF) || err == nil && l.full() {
			l.drain(math.MaxInt64)
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		if err := l.add(r); err != nil {
			return nil, err
		}
	}
}

// facts computes the figures.
func (l *log) facts() *Facts {
	l.sort()
	f := &Facts{Schema: Schema, Rows: l.rows, Requests: int64(len(l.input)), Arrivals: int64(len(l.at)), Planned: l.planned, FailedOf: l.told, Notes: []string{}, Pauses: []fit.Pause{}}
	if l.told > 0 {
		f.Failed = &l.failed
	}
	if n := len(l.at); n > 0 {
		if l.absolute {
			begin := time.Unix(0, l.at[0]).UTC()
			f.Begin = &begin
		}
		span := float64(l.at[n-1]-l.at[0]) / 1e9
		f.Span = measure.Some(span)
		if span > 0 {
			f.MeanRate = measure.Some(float64(n) / span)
		}
		f.Pauses = append(f.Pauses, fit.Pauses(l.at)...)
		f.PeakRate, f.PeakAt = peak(l.at, peakWindow)
		_, f.CV, f.SameMoment = gaps(l.at)
		f.Dispersion1, f.Dispersion10, f.Dispersion60 = dispersion(l.at, time.Second), dispersion(l.at, 10*time.Second), dispersion(l.at, time.Minute)
	}
	f.Input, f.Output = lengths(known(l.input)), lengths(known(l.output))
	if m := lengths(known(l.limits)); m.Count > 0 {
		f.OutputLimits = &fit.Limits{Rows: m.Count, P50: m.P50.Or(0), P90: m.P90.Or(0), Max: m.Max.Or(0)}
	}
	if l.newTold {
		f.NewInput = lengths(known(l.fresh))
	}
	points, _ := l.curve()
	if f.SharedPrefix = shared(points); f.SharedPrefix.Valid() {
		f.SharedPrefixOf = l.followed + l.aloneRequests()
	}
	if l.cached > 0 {
		f.Cached = measure.Some(float64(l.cached) / float64(l.cachedOver))
	}
	if l.reasoned > 0 {
		f.Reasoning, f.ReasoningOf = measure.Some(float64(l.reasoning)/float64(l.reasonedOver)), l.reasoned
	}
	if l.sessions.told {
		n := int64(len(l.sessions.turns))
		turns := lengths(known(l.sessions.turns))
		f.Sessions, f.MeanTurns, f.MaxTurns = &n, turns.Mean, turns.Max
	}
	if l.tenants.told() {
		ranked := l.tenants.ranked()
		n := int64(len(ranked))
		f.Tenants, f.BusiestShare = &n, measure.Some(float64(ranked[0].requests)/float64(f.Requests))
		f.TenantsOf = f.Requests - l.tenantless
	}
	return f
}

// capital begins a sentence with one.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// note writes the sentences that a reader of the figures must know.
func (f *Facts) note(l *log) {
	say := func(format string, args ...any) { f.Notes = append(f.Notes, fmt.Sprintf(format, args...)) }
	if n := len(l.at); n > 1 && l.at[0] == l.at[n-1] {
		say("All %s requests bear the very same moment, which tells nothing of when they came.", measure.Count(int64(n)))
	}
	for _, p := range f.Pauses {
		say("%s.", capital(p.Words(f.Begin, int64(len(l.at)))))
	}
	if words := l.clocks.words(f.SameMoment.Or(0)); words != "" {
		say("%s", words)
		f.coarse = "; see the note on the moments"
	}
	if l.planned > 0 {
		say("The moments of the later turns of conversations, %s, are planned ones: each comes its think time after the turn before, as if answers took no time, which a log of lengths does not tell; sent to a service they come later.",
			requestsOf(l.planned))
	}
	if n := f.Requests - f.Arrivals - l.momentless; f.Arrivals > 0 && n > 0 {
		say("%s without a moment are in no figure of arrivals.", requestsOf(n))
	}
	if l.momentless > 0 {
		say("Later turns of a conversation whose moments the log does not tell, %s, are in no figure of arrivals.", requestsOf(l.momentless))
	}
	if l.unsorted > 0 {
		say("%s behind one of a later moment, which were put in order.", rowsOf(l.unsorted))
	}
	if l.counted > 0 {
		say("The lengths of %s requests were counted from their texts with %s: the prompt is all that was said before and the answers to it.",
			measure.Count(l.counted), l.counter.Name())
	}
	if l.texts > 0 {
		say("Of %s requests the log has texts but not their lengths in tokens; they are in no figure of input lengths (--tokenizer builtin counts them).", measure.Count(l.texts))
	}
	if l.deltas > 0 {
		say("%s of the new text of a turn alone: what they share with the turns before is in no figure of shared prefix.", rowsOf(l.deltas))
	}
	if l.reuse != nil {
		if n := l.reuse.Estimated(); n > 0 {
			say("Of %s requests the texts are taken at %d bytes a token where the share of prefixes is measured, since nothing tells their lengths.", measure.Count(n), texts.EstimatedBytes)
		}
		if mixed := fit.MixedBlocks(l.reuse.BlockLengths()); mixed != "" {
			say("%s.", capital(mixed))
		}
	}
	if l.sessions.blocks {
		say("Which requests belong together was told by their blocks: a prompt that begins with all of an earlier one and its answer goes on with it.")
	}
	if l.media > 0 {
		say("%s requests carry images, audio or video, whose tokens are in the input length only as far as the log counts them.", measure.Count(l.media))
	}
	for i, r := range f.Reasons {
		if i == 3 {
			say("… and %s more lines that could not be used.", measure.Count(f.Skipped-3))
			break
		}
		say("skipped: %s", r)
	}
}

func requestsOf(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return measure.Count(n) + " requests"
}

func rowsOf(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return measure.Count(n) + " rows"
}

// page draws the plots below the figures.
func (l *log) page(f *Facts, o Options) *Page {
	p := f.page()
	p.Sections = []Section{{Figures: []chart.Figure{
		rateFigure(l.at, f), gapFigure(l.at, f),
		f.lengthFigure("Input length", "input", known(l.input), f.Input), f.lengthFigure("Output length", "output", known(l.output), f.Output),
		jointFigure(l, f), dispersionFigure(l.at, f),
		f.reuseFigure(l.curve()), turnsFigure(&l.sessions, f), tenantsFigure(&l.tenants, f, o.Tenants),
	}}}
	return p
}
