package core

import (
	"cmp"
	"slices"
)

// vllm is the scheduling of vLLM's v1 engine: running requests first, then
// waiting ones in order, prompts cut to what is left of the token budget.
type vllm struct {
	c        Config
	priority bool
}

func (v vllm) fill(e *Engine, p *plan) {
	if preempted := v.continueRunning(e, p); !preempted {
		v.admit(e, p, e.fits)
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
		drafts := e.drafts(r, n, p.budget)
		for !e.allocate(r, n+drafts, nil) {
			preempted = true
			victim := v.victim(e)
			if v.priority {
				if slices.Index(e.running, victim) < i {
					i--
				}
				p.remove(victim)
			}
			e.preempt(victim)
			if victim == r {
				return true
			}
		}
		p.addDrafts(r, n, drafts)
	}
	return preempted
}

// victim is the running request that is preempted next: the last, or the worst
// by priority and arrival.
func (v vllm) victim(e *Engine) *Request {
	worst := e.running[len(e.running)-1]
	if !v.priority {
		return worst
	}
	for _, r := range e.running {
		if before(worst, r) {
			worst = r
		}
	}
	return worst
}

// before tells whether a goes before b by priority (low first), then arrival.
func before(a, b *Request) bool {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Arrived, b.Arrived)) < 0
}

// admit takes waiting requests in order and stops at the first that does not
// fit: it never preempts and never skips ahead.
func (v vllm) admit(e *Engine, p *plan, fits func(r *Request, hits []int32) bool) {
	for p.budget > 0 {
		r := e.next(p)
		if r == nil {
			return
		}
		hits, told := e.prefix(r)
		rest := r.seq.total - int64(len(hits))*e.pool.size
		n := v.cut(rest, p.budget)
		if v.c.WholePrompts && n < rest {
			return
		}
		if v.c.PromptMustFit && !fits(r, hits) || !e.admit(p, r, n, hits, told) {
			return
		}
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
		if e.pool.blocks[b].refs > 0 {
			need--
		}
	}
	return need <= e.pool.free
}

// noEvict is TensorRT-LLM's guaranteed no-evict: a request is admitted only
// when there are blocks for all that it and the running ones may still need, so
// that nothing is ever preempted.
type noEvict struct{ vllm }

func (v noEvict) fill(e *Engine, p *plan) {
	v.continueRunning(e, p)
	v.c.PromptMustFit = true
	v.admit(e, p, func(r *Request, hits []int32) bool {
		reserved := int64(0)
		for _, x := range e.running {
			reserved += e.pages(x.PromptTokens+x.seq.limit) - int64(len(x.seq.blocks))
		}
		need := e.pages(r.PromptTokens+r.seq.limit) - int64(len(hits)) + e.idleHits(hits)
		return reserved+need <= e.pool.free
	})
}
