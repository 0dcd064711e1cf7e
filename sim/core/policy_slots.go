package core

// slots is llama.cpp's scheduling: a fixed number of slots, each with a context
// of MaxModelLen tokens of its own. A request waits for a slot; it takes the
// free one whose last sequence shares the longest prefix with it, where that is
// at least half of its prompt, else the one unused the longest, and computes
// only what the slot does not hold. Tokens that slots generate come first in a
// batch, then prompts in the order of slots.
type slots struct {
	c    Config
	list []slot
}

type slot struct {
	held *Request
	keys []uint64 // of the tokens that the slot's cache holds
	used int64    // when it was left
}

func newSlots(c Config) *slots { return &slots{c: c, list: make([]slot, c.MaxSeqs)} }

// similar is the share of a prompt that a slot must hold to be chosen for it.
const similar = 0.5

func (s *slots) fill(e *Engine, p *plan) {
	s.assign(e, p)
	for prompts := range 2 {
		for i := range s.list {
			r := s.list[i].held
			if r == nil || p.budget == 0 {
				continue
			}
			rest := r.seq.total - r.seq.computed
			if generating := r.Stats.Output > 0 && rest == 1; generating == (prompts == 1) {
				continue
			}
			if n := min(rest, p.budget); n > 0 && e.allocate(r, n, nil) {
				p.add(r, n)
			}
		}
	}
}

// assign gives free slots to waiting requests.
func (s *slots) assign(e *Engine, p *plan) {
	for r := e.next(p); r != nil; r = e.next(p) {
		best, shared := s.choose(e, r)
		if best < 0 {
			return
		}
		told := shared
		if e.trouble.ClaimHits {
			shared = 0
		}
		e.waiting.pop()
		e.admitted(r, shared, told, p.step.Start)
		s.list[best].held = r
	}
}

// choose returns the free slot for a request, −1 where there is none, and how
// many of its tokens the slot holds.
func (s *slots) choose(e *Engine, r *Request) (best int, shared int64) {
	best, oldest := -1, -1
	for i := range s.list {
		if s.list[i].held != nil {
			continue
		}
		if n := s.common(e, r, i); float64(n) >= similar*float64(r.seq.total) && n > shared {
			best, shared = i, n
		}
		if oldest < 0 || s.list[i].used < s.list[oldest].used {
			oldest = i
		}
	}
	if best < 0 && oldest >= 0 {
		return oldest, s.common(e, r, oldest)
	}
	return best, shared
}

// common is how many of a request's first tokens a slot holds, all but the last
// at most.
func (s *slots) common(e *Engine, r *Request, i int) int64 {
	if !s.c.PrefixCache {
		return 0
	}
	n := int64(0)
	for n < int64(len(s.list[i].keys)) && n < r.seq.total-1 && e.key(r, n) == s.list[i].keys[n] {
		n++
	}
	return n
}

// released leaves a request's tokens in its slot.
func (s *slots) released(e *Engine, r *Request) {
	for i := range s.list {
		if s.list[i].held == r {
			keys := s.list[i].keys[:0]
			if s.c.PrefixCache {
				for t := range min(r.seq.computed, r.PromptTokens+r.Stats.Output) {
					keys = append(keys, e.key(r, t))
				}
			}
			s.list[i] = slot{keys: keys, used: e.loop.Now()}
		}
	}
}
