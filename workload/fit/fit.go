package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Rows yields the rows of a log in its order, each valid until the next call,
// and io.EOF after the last. [trace.Reader] is one.
type Rows interface {
	Next() (*trace.Row, error)
}

// By says what a log's requests are divided by into clients.
type By string

// What divides a log into clients.
const (
	// ByAny is by tenant where the log names at least two, else by model where
	// it names at least two, else None.
	ByAny     By = ""
	ByTenant  By = "tenant"
	BySession By = "session"
	ByModel   By = "model"
	ByNone    By = "none"
)

// Options say how to fit. The zero value is the rule for everything.
type Options struct {
	By By
	// KeepNames keeps the log's names of clients; else they are client-1, ….
	KeepNames bool
	// Turns says what the prompts of a session's later requests hold: the whole
	// prompt with its history (cumulative), new text alone (delta), or a prompt of
	// its own (IndependentTurns); empty: told by lengths and blocks.
	Turns trace.Turns
	// Tokenizer counts the texts of requests whose lengths the log does not say;
	// nil: those are unknown.
	Tokenizer count.Tokenizer
	// Window of the rate curves, at least MinWindow; 0: chosen by rule.
	Window time.Duration
	// Bursts keeps the log's own bursts down to windows this short, at least
	// MinBursts and a whole part of Window (MinWindow where that is 0); 0: none.
	Bursts time.Duration
	// Parts of equal time in which lengths are looked at for drift; 0: by rule.
	Parts int
	// CacheTokens are the sizes of the prefix-hit curve, ascending; nil: eight a
	// decade from 100,000 tokens on.
	CacheTokens []int64
	// Seed of what is drawn on the way: jitter, and samples held against the log.
	Seed uint64
	// Texts, where set, is given every text of the log's prompts with whose it
	// is, "" where the log does not say; nothing else of the fit sees them.
	Texts func(owner, text string)
	// Progress is told now and then how many rows were read; nil: nobody.
	Progress func(rows int64)
}

// MinWindow is the shortest window of a rate curve: shorter ones learn the
// log's bursts by heart instead of their law.
const MinWindow = time.Minute

// leastRows is how many rows it takes to learn anything.
const leastRows = 20

// ErrFewRows says that a log is too short.
var ErrFewRows = fmt.Errorf("too few rows to learn from: expected at least %d", leastRows)

// Fit learns the model of a log. Errors are the reader's and the tokenizer's, ErrFewRows, what is
// wrong with the options, and the context's.
func Fit(ctx context.Context, rows Rows, o Options) (*traffic.Model, *Report, error) {
	if o.Window != 0 && o.Window < MinWindow {
		return nil, nil, fmt.Errorf("expected a window of %v or longer, found %v", MinWindow, o.Window)
	}
	if err := o.checkBursts(); err != nil {
		return nil, nil, err
	}
	log := newLog(o)
	if err := log.readAll(ctx, rows); err != nil {
		return nil, nil, err
	}
	if len(log.at) < leastRows {
		return nil, nil, fmt.Errorf("%w, found %d", ErrFewRows, len(log.at))
	}
	if log.absolute && log.relative {
		return nil, nil, fmt.Errorf("some rows tell the day and others only the time since a beginning of their own (%s): expected logs of one kind", strings.Join(log.formats, ", "))
	}
	if f, ok := rows.(files); ok {
		log.files = f.Opened()
	}
	if n, ok := rows.(noter); ok {
		log.findings = append(log.findings, n.Notes()...)
	}
	log.finish()
	if err := log.checkBursts(); err != nil {
		return nil, nil, err
	}
	m, r, err := log.fit(ctx)
	if s, ok := rows.(skipper); ok && err == nil {
		r.Skipped, _ = s.Skipped()
		m.Source.Skipped = r.Skipped
	}
	return m, r, err
}

// readAll reads to the end.
func (l *log) readAll(ctx context.Context, rows Rows) error {
	const often = 1 << 16
	for n := int64(1); ; n++ {
		r, err := rows.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if l.options.Texts != nil {
			l.options.texts(r)
		}
		if err := l.add(r); err != nil {
			return err
		}
		if n%often == 0 {
			if l.options.Progress != nil {
				l.options.Progress(n)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
}
