package core

import "slices"

// Step is the work of one forward pass, as far as its time depends on it.
type Step struct {
	Start, End int64
	Sequences  int64 // scheduled
	Tokens     int64 // computed: prompts' and outputs'
	Samples    int64 // sequences that get a token
	// Context is the number of KV entries read: over sequences, all tokens up
	// to the last one computed.
	Context int64
	// Attention is Σ n(p + n/2) over chunks of n > 1 tokens that start at p.
	Attention float64
}

// StepTimer tells how long a step takes, in ns. It must depend on the step alone.
type StepTimer interface{ StepTime(s *Step) int64 }

// share is what a step computes of one request.
type share struct {
	r      *Request
	n      int64
	drafts int64 // drafted tokens that are checked, besides n
}

// plan is a step being put together.
type plan struct {
	shares []share
	step   Step
	budget int64
}

func (p *plan) reset(budget int64, start int64) {
	clear(p.shares)
	p.shares, p.step, p.budget = p.shares[:0], Step{Start: start}, budget
}

// add schedules n tokens of a request that has room for them.
func (p *plan) add(r *Request, n int64) { p.addDrafts(r, n, 0) }

// addDrafts schedules n tokens of a request and a number of drafted ones.
func (p *plan) addDrafts(r *Request, n, drafts int64) {
	p.shares = append(p.shares, share{r, n, drafts})
	p.account(r, n, drafts, 1)
	r.seq.computed += n + drafts
}

// account adds what n and drafted tokens of a request cost, or takes it off.
func (p *plan) account(r *Request, n, drafts, sign int64) {
	q, s, all := &r.seq, &p.step, n+drafts
	p.budget -= sign * all
	s.Sequences += sign
	s.Tokens += sign * all
	s.Context += sign * (q.computed + all)
	if n > 1 {
		s.Attention += float64(sign) * float64(n) * (float64(q.computed) + float64(n)/2)
	}
	if q.computed+n == q.total {
		s.Samples += sign * (1 + drafts)
	}
}

// remove takes a request out of the step again.
func (p *plan) remove(r *Request) {
	i := slices.IndexFunc(p.shares, func(s share) bool { return s.r == r })
	if i < 0 {
		return
	}
	s := p.shares[i]
	p.shares = slices.Delete(p.shares, i, i+1)
	r.seq.computed -= s.n + s.drafts
	p.account(r, s.n, s.drafts, -1)
}
