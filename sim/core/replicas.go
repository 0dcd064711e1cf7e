package core

import "fmt"

// Router says which of several replicas a request goes to.
type Router string

// The routers.
const (
	RoundRobin  Router = "round_robin"  // one after the other; the zero value is the same
	LeastLoaded Router = "least_loaded" // the fewest waiting (times four) and running
	PrefixAware Router = "prefix"       // where most of the prompt is cached, if that is over half of it, else the least loaded
)

// Replicas are data-parallel engines, each with a KV cache and a queue of its
// own, behind a router. The zero value is a single engine.
type Replicas struct {
	N      int
	Router Router
}

// newReplicas gives an engine its replicas: it is their front, and schedules
// nothing itself.
func (e *Engine) newReplicas() error {
	c := e.cfg
	switch c.Replicas.Router {
	case "", RoundRobin, LeastLoaded, PrefixAware:
	default:
		return fmt.Errorf("unknown router %q", c.Replicas.Router)
	}
	c.Replicas, c.MaxRequests, c.Died = Replicas{}, 0, e.Kill // one's death is that of all
	for range e.cfg.Replicas.N {
		r, err := New(c, e.loop)
		if err != nil {
			return err
		}
		e.replicas = append(e.replicas, r)
	}
	return nil
}

// forward hands a request to the replica that the router chooses.
func (e *Engine) forward(r *Request) error {
	inside := int64(0)
	for _, x := range e.replicas {
		inside += x.inside
	}
	if e.cfg.MaxRequests > 0 && inside >= e.cfg.MaxRequests {
		return ErrOverloaded
	}
	to := e.route(r)
	r.home = to
	err := to.Submit(r)
	if err == nil {
		e.routed++
		for _, x := range e.replicas {
			x.start = to.start // faults count from the first request of all
		}
	}
	return err
}

func (e *Engine) route(r *Request) *Engine {
	switch e.cfg.Replicas.Router {
	case LeastLoaded:
		return e.leastLoaded()
	case PrefixAware:
		best, most := e.leastLoaded(), r.PromptTokens/2
		for _, x := range e.replicas {
			if n := x.match(r); n > most {
				best, most = x, n
			}
		}
		return best
	}
	return e.replicas[e.routed%uint64(len(e.replicas))]
}

func (e *Engine) leastLoaded() *Engine {
	best := e.replicas[0]
	for _, x := range e.replicas[1:] {
		if x.pressure() < best.pressure() {
			best = x
		}
	}
	return best
}

// pressure is how vLLM weighs a replica: what waits counts four times. What is
// still in the front end counts as waiting.
func (e *Engine) pressure() int64 {
	running := int64(len(e.running))
	return 4*(e.inside-running) + running
}

// match is how many tokens of a prompt are in the prefix cache.
func (e *Engine) match(r *Request) int64 {
	r.seq.total = r.PromptTokens
	return int64(len(e.cachedPrefix(r))) * e.pool.size
}

// sum is the load of all replicas; usage is their mean.
func (e *Engine) sum() (s State) {
	for _, x := range e.replicas {
		o := x.State()
		s.Running += o.Running
		s.Waiting += o.Waiting
		s.KVUsage += o.KVUsage / float64(len(e.replicas))
		s.Counts.add(&o.Counts)
	}
	return s
}

func (c *Counts) add(o *Counts) {
	c.Steps += o.Steps
	c.Preemptions += o.Preemptions
	c.PrefixQueries += o.PrefixQueries
	c.PrefixHits += o.PrefixHits
	c.PromptTokens += o.PromptTokens
	c.OutputTokens += o.OutputTokens
	c.Drafts += o.Drafts
	c.DraftTokens += o.DraftTokens
	c.Accepted += o.Accepted
}
