package core

// tgi is the scheduling of Hugging Face's text-generation-inference: a step is a
// prefill of new requests or a decode of all. After each prefill comes a
// decode. New requests are taken when they are at least WaitingServedRatio
// times as many as those running, or after MaxWaitingTokens decode steps; their
// prompts must fit the token budget, and prompt and whole answer of all the KV
// cache, so that nothing is ever preempted.
type tgi struct {
	c      Config
	decode bool  // a prefill just was
	waited int64 // one more than decode steps since the last prefill
}

func (t *tgi) fill(e *Engine, p *plan) {
	if (!t.decode || len(e.running) == 0) && t.prefill(e, p) {
		t.decode, t.waited = true, 1
		return
	}
	t.decode = false
	t.waited++
	for _, r := range e.running {
		if r.seq.computed < r.seq.total && e.allocate(r, 1, nil) {
			p.add(r, 1)
		}
	}
}

// prefill schedules the prompts of new requests, and tells whether there are any.
func (t *tgi) prefill(e *Engine, p *plan) bool {
	least := int(float64(len(e.running)) * t.c.WaitingServedRatio)
	if t.waited >= t.c.MaxWaitingTokens {
		least = 0
	}
	if t.count(e, p) < max(least, 1) {
		return false
	}
	for r := e.next(p); r != nil; r = e.next(p) {
		hits, told := e.prefix(r)
		n := r.seq.total - int64(len(hits))*e.pool.size
		if n > p.budget && len(p.shares) > 0 || !t.room(e, r, hits) || !e.admit(p, r, n, hits, told) {
			break
		}
	}
	return len(p.shares) > 0
}

// count is how many waiting requests could be taken now, without what they may
// share.
func (t *tgi) count(e *Engine, p *plan) int {
	budget, free := p.budget, e.pool.free-t.reserved(e)
	n := 0
	for _, r := range e.waiting.list() {
		need := e.pages(r.PromptTokens + r.seq.limit)
		if r.Stats.Queued > p.step.Start || len(e.running)+n == e.cfg.MaxSeqs || r.seq.total > budget && n > 0 || need > free {
			break
		}
		budget, free, n = budget-r.seq.total, free-need, n+1
	}
	return n
}

// reserved is how many blocks the running requests may still take.
func (t *tgi) reserved(e *Engine) (blocks int64) {
	for _, r := range e.running {
		blocks += e.pages(r.PromptTokens+r.seq.limit) - int64(len(r.seq.blocks))
	}
	return blocks
}

func (t *tgi) room(e *Engine, r *Request, hits []int32) bool {
	need := e.pages(r.PromptTokens+r.seq.limit) - int64(len(hits)) + e.idleHits(hits)
	return t.reserved(e)+need <= e.pool.free
}
