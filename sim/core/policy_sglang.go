package core

import "slices"

// The share of the tokens still allowed to running requests that admission
// keeps free: where it starts, where its decay ends and after how many decode
// steps. Most tokens that one request may ask to be kept free.
const (
	firstRatio  = 0.7
	lastRatio   = firstRatio * 0.14
	decaySteps  = 600
	clipNew     = 4096
	retractRoom = 20 // tokens of room that a retraction makes for each that stays
)

// sglang is SGLang's scheduling: a step is either a batch of prefills, as long
// as the queue's front fits, or one of decodes. Admission estimates what
// running requests will still need. Where a decode finds no room, those with
// the fewest output tokens are retracted: they lose their KV cache, keep their
// tokens and queue again at the end. With BlockSize 1 the prefix cache matches
// token by token, as the radix tree does.
type sglang struct {
	c     Config
	ratio float64
}

func (s *sglang) fill(e *Engine, p *plan) {
	s.prefill(e, p)
	if len(p.shares) == 0 {
		s.decode(e, p)
	}
}

// prefill continues the prompt that was cut by the budget, then admits.
func (s *sglang) prefill(e *Engine, p *plan) {
	for _, r := range e.running {
		if rest := r.seq.total - r.seq.computed; r.seq.chunked && p.budget > 0 {
			n := min(rest, p.budget)
			if !e.allocate(r, n, nil) {
				return
			}
			r.seq.chunked = n < rest
			p.add(r, n)
		}
	}
	room := e.pool.free - s.expected(e)
	for p.budget > 0 {
		r := e.next(p)
		if r == nil {
			return
		}
		hits, told := e.prefix(r)
		rest := r.seq.total - int64(len(hits))*e.pool.size
		need := rest + min(r.seq.limit-r.Stats.Output, clipNew) + e.idleHits(hits)*e.pool.size
		if need > room*e.pool.size && len(e.running) > 0 || e.pages(rest)+e.idleHits(hits) > e.pool.free {
			return
		}
		n := min(rest, p.budget)
		if !e.admit(p, r, n, hits, told) {
			return
		}
		r.seq.chunked = n < rest
		room -= e.pages(need)
	}
}

// expected is how many blocks the running requests are expected to need yet.
func (s *sglang) expected(e *Engine) int64 {
	sum := 0.0
	for _, r := range e.running {
		sum += s.ratio * float64(min(r.seq.limit-r.Stats.Output, clipNew))
		if r.seq.chunked {
			sum += float64(r.seq.total - r.seq.computed)
		}
	}
	return e.pages(int64(sum))
}

// decode gives every running request its next token.
func (s *sglang) decode(e *Engine, p *plan) {
	if len(e.running) == 0 {
		return
	}
	s.retract(e)
	s.ratio = max(lastRatio, s.ratio-(firstRatio-lastRatio)/decaySteps)
	for _, r := range e.running {
		if n := r.seq.total - r.seq.computed; n > 0 && !r.seq.chunked && r.seq.computed < e.cfg.MaxModelLen-1 && e.allocate(r, n, nil) {
			p.add(r, n)
		}
	}
}

// retract makes room for a decode step where there is none.
func (s *sglang) retract(e *Engine) {
	if s.need(e.running, 1, e) <= e.pool.free {
		return
	}
	order := slices.Clone(e.running)
	slices.SortStableFunc(order, func(a, b *Request) int {
		if a.Stats.Output != b.Stats.Output {
			return int(b.Stats.Output - a.Stats.Output)
		}
		return int(a.PromptTokens - b.PromptTokens)
	})
	for first := true; len(order) > 1 && (first || s.need(order, retractRoom, e) > e.pool.free); first = false {
		victim := order[len(order)-1]
		order = order[:len(order)-1]
		e.retract(victim)
	}
	if len(order) == 1 && s.need(order, 1, e) > e.pool.free {
		e.retract(order[0])
		order = nil
	}
	made, allowed := int64(0), int64(0)
	for _, r := range order {
		made += r.Stats.Output + retractRoom
		allowed += r.seq.limit
	}
	s.ratio = min(1, float64(made)/float64(allowed+1))
}

// need is how many blocks the next n tokens of each of some requests take.
func (s *sglang) need(list []*Request, n int64, e *Engine) (blocks int64) {
	for _, r := range list {
		blocks += max(e.pages(r.seq.computed+n)-int64(len(r.seq.blocks)), 0)
	}
	return blocks
}

// retract sends a running request to the end of the queue without its blocks.
func (e *Engine) retract(r *Request) {
	e.drop(r)
	e.running = slices.DeleteFunc(e.running, func(x *Request) bool { return x == r })
	r.state, r.seq.chunked = preempted, false
	r.Stats.Preempted++
	e.counts.Preemptions++
	e.waiting.push(r)
}
