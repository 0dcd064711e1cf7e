package core

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
	r *Request
	n int64
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
func (p *plan) add(r *Request, n int64) {
	q := &r.seq
	p.shares = append(p.shares, share{r, n})
	p.budget -= n
	s := &p.step
	s.Sequences++
	s.Tokens += n
	s.Context += q.computed + n
	if n > 1 {
		s.Attention += float64(n) * (float64(q.computed) + float64(n)/2)
	}
	q.computed += n
	if q.computed == q.total {
		s.Samples++
	}
}
