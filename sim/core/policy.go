package core

// policy decides what a step computes: the one thing in which engines differ.
// It moves requests between the engine's waiting and running lists.
type policy interface {
	fill(e *Engine, p *plan)
}

// vllm is the scheduling of vLLM's v1 engine: running requests first, then
// waiting ones in order, prompts cut to what is left of the token budget.
type vllm struct{ c Config }

func (v vllm) fill(e *Engine, p *plan) {
	if preempted := v.continueRunning(e, p); !preempted {
		v.admit(e, p)
	}
}

func (v vllm) continueRunning(e *Engine, p *plan) (preempted bool) {
	for i := 0; i < len(e.running) && p.budget > 0; i++ {
		r := e.running[i]
		n := v.cut(r.seq.total-r.seq.computed, p.budget)
		n = min(n, e.cfg.MaxModelLen-1-r.seq.computed)
		if n <= 0 {
			continue
		}
		for !e.allocate(r, n, nil) {
			preempted = true
			victim := e.running[len(e.running)-1]
			e.preempt(victim)
			if victim == r {
				return true
			}
		}
		p.add(r, n)
	}
	return preempted
}

// admit takes waiting requests in order and stops at the first that does not
// fit: it never preempts and never skips ahead.
func (v vllm) admit(e *Engine, p *plan) {
	if e.trouble.NoAdmission {
		return
	}
	for e.waiting.len() > 0 && p.budget > 0 && len(e.running) < v.c.MaxSeqs {
		r := e.waiting.front()
		if r.Stats.Queued > p.step.Start {
			return // comes later than this step, though the loop already knows it
		}
		hits := e.cachedPrefix(r)
		told := int64(len(hits)) * e.pool.size
		if e.trouble.ClaimHits {
			hits = nil
		}
		rest := r.seq.total - int64(len(hits))*e.pool.size
		n := v.cut(rest, p.budget)
		if v.c.WholePrompts && n < rest {
			return
		}
		if v.c.PromptMustFit && !e.fits(r, hits) || !e.allocate(r, n, hits) {
			return
		}
		e.waiting.pop()
		e.admitted(r, int64(len(hits))*e.pool.size, told, p.step.Start)
		p.add(r, n)
	}
}

func (v vllm) cut(n, budget int64) int64 {
	if v.c.LongPrefill > 0 && n > v.c.LongPrefill {
		n = v.c.LongPrefill
	}
	return min(n, budget)
}

// fits tells whether all that is known of a request fits into free blocks.
func (e *Engine) fits(r *Request, hits []int32) bool {
	need := (r.seq.total + e.pool.size - 1) / e.pool.size
	for _, b := range hits {
		if e.pool.refs[b] > 0 {
			need--
		}
	}
	return need <= e.pool.free
}
