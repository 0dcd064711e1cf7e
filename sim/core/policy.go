package core

import "fmt"

// Policy names whose scheduling an engine follows.
type Policy string

// The policies.
const (
	VLLM     Policy = "vllm"         // vLLM v1; the zero value is the same
	Priority Policy = "priority"     // vLLM v1 with its priority policy
	SGLang   Policy = "sglang"       // prefill before decode, retraction
	NoEvict  Policy = "tensorrt-llm" // TensorRT-LLM's guaranteed no-evict
	Slots    Policy = "llama.cpp"    // a fixed number of slots
	TGI      Policy = "tgi"          // separate prefill and decode batches
)

// Policies returns the names of all.
func Policies() []Policy { return []Policy{VLLM, Priority, SGLang, NoEvict, Slots, TGI} }

// policy decides what a step computes: the one thing in which engines differ.
// It moves requests between the engine's waiting and running lists.
type policy interface {
	fill(e *Engine, p *plan)
}

// releaser is a policy that hears of requests which leave the running list.
type releaser interface {
	released(e *Engine, r *Request)
}

func newPolicy(c Config) (policy, error) {
	switch c.Policy {
	case "", VLLM:
		return vllm{c: c}, nil
	case Priority:
		return vllm{c: c, priority: true}, nil
	case SGLang:
		return &sglang{c: c, ratio: firstRatio}, nil
	case NoEvict:
		return noEvict{vllm{c: c}}, nil
	case Slots:
		return newSlots(c), nil
	case TGI:
		return &tgi{c: c}, nil
	}
	return nil, fmt.Errorf("unknown scheduling policy %q", c.Policy)
}

// next returns the waiting request whose turn it is, or nil where none is due
// at the beginning of the step.
func (e *Engine) next(p *plan) *Request {
	if e.waiting.len() == 0 || len(e.running) >= e.cfg.MaxSeqs || e.trouble.NoAdmission {
		return nil
	}
	if r := e.waiting.front(); r.Stats.Queued <= p.step.Start {
		return r
	}
	return nil // comes later than this step, though the loop already knows it
}

// prefix returns the cached blocks that a request may use, and how many tokens
// are told as found.
func (e *Engine) prefix(r *Request) (hits []int32, told int64) {
	hits = e.cachedPrefix(r)
	told = int64(len(hits)) * e.pool.size
	if e.trouble.ClaimHits {
		hits = nil
	}
	return hits, told
}

// admit schedules the first n tokens after hits of the request at the front of
// the queue; it tells whether there were blocks.
func (e *Engine) admit(p *plan, r *Request, n int64, hits []int32, told int64) bool {
	if !e.allocate(r, n, hits) {
		return false
	}
	e.waiting.pop()
	e.admitted(r, int64(len(hits))*e.pool.size, told, p.step.Start)
	p.add(r, n)
	return true
}

// idleHits is how many of some blocks stand in the free queue.
func (e *Engine) idleHits(hits []int32) (n int64) {
	for _, b := range hits {
		if e.pool.blocks[b].refs == 0 {
			n++
		}
	}
	return n
}

// pages is how many blocks n tokens need.
func (e *Engine) pages(n int64) int64 { return (n + e.pool.size - 1) / e.pool.size }
