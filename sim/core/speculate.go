package core

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/stat"
)

// Speculative says how tokens are drafted and checked several at a time. The
// zero value drafts none.
type Speculative struct {
	Drafts     int64   // drafted tokens of a sequence in a step
	Acceptance float64 // probability that a draft is right where those before it are
	Seed       uint64
}

func (s Speculative) check() error {
	if s.Drafts < 0 || s.Drafts > 64 || !(s.Acceptance >= 0 && s.Acceptance <= 1) {
		return fmt.Errorf("speculative decoding with %d drafts of acceptance %v: expected 0 to 64 and 0 to 1", s.Drafts, s.Acceptance)
	}
	return nil
}

// drafts is how many drafted tokens a request gets besides its next n: none
// while its prompt is computed, and no more than it may still have.
func (e *Engine) drafts(r *Request, n, budget int64) int64 {
	q := &r.seq
	if e.cfg.Speculative.Drafts == 0 || r.Stats.Output == 0 || n != 1 || q.computed+1 != q.total {
		return 0
	}
	return max(0, min(e.cfg.Speculative.Drafts, budget-n, q.limit-r.Stats.Output-1, e.cfg.MaxModelLen-1-q.computed-n))
}

// accept draws how many of some drafts are right: those before the first wrong
// one. It follows from the seed, the request's number and its progress.
func (e *Engine) accept(r *Request, drafts int64) (n int64) {
	s := &e.cfg.Speculative
	of := stat.Key(s.Seed, "speculative", r.seq.number)
	for n < drafts && float64(stat.Key(of, "draft", uint64(r.Stats.Output+n))>>11)/(1<<53) < s.Acceptance {
		n++
	}
	e.counts.Drafts++
	e.counts.DraftTokens += drafts
	e.counts.Accepted += n
	return n
}
