package fault

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/stat"
)

// maxFaults bounds a set.
const maxFaults = 256

// unset is a moment that has not come.
const unset = math.MinInt64

// Set is the faults of one engine through all its lives. Its methods may be
// called from any goroutine, but for those of core.Disturbance, Attach and
// Reborn, which belong to the engine's loop.
type Set struct {
	// Refuse, where set before the first request, writes a refusal as the engine
	// does that is served; loading says that its model is not there yet.
	Refuse func(w http.ResponseWriter, r *http.Request, no *Refusal, loading bool)

	loop   clock.Loop
	seed   uint64
	engine atomic.Bool // has faults of the engine
	any    atomic.Bool

	mu      sync.Mutex
	active  []*active
	born    int64 // beginning of this life
	begun   int64 // arrival of the first request of all lives
	kill    func(at int64)
	revival int64 // ns after the death under way; 0: none
	next    int64 // id
	page    pages
	poison  []string // texts of an earlier answer, one a chunk
}

// active is a fault in a set.
type active struct {
	Fault
	id     int64
	base   int64 // the window counts from here; unset: the first request has not come
	life   int64 // the same in the present life, for what begins anew in each
	seen   uint64
	struck int64
	over   bool
	bucket bucket
}

// NewSet returns a set on the engine's loop. seed is of faults that have none.
func NewSet(list []Fault, loop clock.Loop, seed uint64) *Set {
	s := &Set{loop: loop, seed: seed, begun: unset}
	for _, f := range list {
		s.add(f, unset)
	}
	return s
}

func (s *Set) add(f Fault, base int64) *active {
	a := &active{Fault: f, id: s.next, base: base, life: base}
	if a.Seed == 0 {
		a.Seed = s.seed
	}
	s.next++
	s.active = append(s.active, a)
	s.note()
	return a
}

// note keeps what is asked on every step and request at hand.
func (s *Set) note() {
	engine := false
	for _, a := range s.active {
		engine = engine || a.Definition.Kind == OnEngine
	}
	s.engine.Store(engine)
	s.any.Store(len(s.active) > 0)
}

// Add puts a fault into the set; its window counts from now.
func (s *Set) Add(f Fault) error {
	now := s.loop.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.active) == maxFaults {
		return fmt.Errorf("there are %d faults already", maxFaults)
	}
	a := s.add(f, now)
	s.loop.Post(func() { s.schedule(a, now) })
	return nil
}

// Clear takes every fault out.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		a.over = true
	}
	s.active = nil
	s.note()
}

// within tells whether a moment lies in the window that counts from base.
func (a *active) within(base, at int64) bool {
	return !a.over && base != unset && at >= base+a.At && (a.For == 0 || at < base+a.At+a.For)
}

// Arrival is a request as faults see it.
type Arrival struct {
	At     int64
	Header string // of X-Sim-Fault
	Tokens int64  // about how long the prompt is, for the rate limit
}

// Hit is a fault that strikes a request.
type Hit struct {
	Fault
	Key     uint64   // random bits of this strike
	Refusal *Refusal // the request goes no further
	Fields  []string // of the answer's head: name, value, …
}

// Refusal is a request refused on purpose.
type Refusal struct {
	Status     int
	RetryAfter int64 // s; 0: not told
	Message    string
}

// Arrive counts a request and returns the faults that strike it, or an error
// about its header.
func (s *Set) Arrive(r Arrival) ([]Hit, error) {
	if r.Header == "" && !s.any.Load() {
		return nil, nil
	}
	asked, err := ParseList(r.Header)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(r.At)
	var hits []Hit
	if left := s.loading(r.At); left > 0 {
		hits = append(hits, Hit{Refusal: &Refusal{Status: 503, Message: "the model is being loaded"}})
	}
	for _, a := range s.active {
		if h, ok := a.strike(r); ok {
			hits = append(hits, h)
		}
	}
	for i := range asked {
		if asked[i].Definition.Kind != OnRequest {
			return nil, fmt.Errorf("fault %s is not one of single requests", asked[i].Definition.Name)
		}
		one := active{Fault: asked[i]}
		one.Seed += s.seed
		if h, ok := one.strike(Arrival{At: one.At, Tokens: r.Tokens}); ok {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// strike tells whether a fault of requests strikes this one.
func (a *active) strike(r Arrival) (Hit, bool) {
	if a.Definition.Kind != OnRequest || !a.within(a.base, r.At) {
		return Hit{}, false
	}
	key := stat.Key(a.Seed, stat.Stream("fault/"+a.Definition.Name), a.seen)
	a.seen++
	if a.Count > 0 && a.struck >= a.Count || float64(key>>11)/(1<<53) >= a.Share {
		return Hit{}, false
	}
	a.struck++
	h := Hit{Fault: a.Fault, Key: stat.Key(key, "fault/strike", 0)}
	switch a.Definition.Name {
	case "refuse":
		h.Refusal = &Refusal{Status: int(a.value("status")), RetryAfter: int64(math.Ceil(a.value("retry_after"))), Message: "refused on purpose by the simulated engine"}
	case "rate_limit":
		h.Refusal, h.Fields = a.limit(r)
	}
	return h, true
}

// loading returns how many ns of loading are left; 0: loaded.
func (s *Set) loading(now int64) int64 {
	left := int64(0)
	for _, a := range s.active {
		if a.Definition.Name == "loading" && !a.over {
			left = max(left, max(a.base, s.born)+a.At+a.seconds("time")-now)
		}
	}
	return left
}

// Refused returns the first refusal among hits, or nil.
func Refused(hits []Hit) *Refusal {
	for i := range hits {
		if hits[i].Refusal != nil {
			return hits[i].Refusal
		}
	}
	return nil
}

// Has returns the hit of a name, or nil.
func Has(hits []Hit, name string) *Hit {
	for i := range hits {
		if hits[i].Definition.Name == name {
			return &hits[i]
		}
	}
	return nil
}

// Value is a parameter of the fault that struck.
func (h *Hit) Value(name string) float64 { return h.value(name) }

// ArriveNow is Arrive for a request that comes now, as what has no HTTP request does.
func (s *Set) ArriveNow(header string, tokens int64) ([]Hit, error) {
	return s.Arrive(Arrival{At: s.loop.Now(), Header: header, Tokens: tokens})
}

// Loading tells whether a fault says that the model is being loaded.
func (s *Set) Loading() bool {
	if !s.any.Load() {
		return false
	}
	now := s.loop.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loading(now) > 0
}

// Leaked is the share of the KV blocks, from 0 to 1, that leaks have taken by
// a moment of this life.
func (s *Set) Leaked(at int64) float64 {
	var t core.Trouble
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		if a.Definition.Name == "leak" {
			a.trouble(at, &t)
		}
	}
	return t.Withheld
}
